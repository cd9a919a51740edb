"""A text with places for a persona and a prompt, and its encoding, in which neither can spell a control token."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.requests import PromptRequests
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.progress import Notice
from holisticbias_eval.records import read_record

_PERSONA, PROMPT = "{persona}", "{prompt}"


MITIGATION = "mitigation.json"
"""The record in the folder of a model that a mitigation has trained."""
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Frame:
    """The text around persona and prompt: ``opening``, persona, ``middle``, prompt, ``close``.

    ``bare`` stands in place of opening, persona and middle if there is no
    persona, and ``between`` is between the lines of a persona.
    """

    opening: str
    middle: str
    bare: str
    close: str
    between: str

    @classmethod
    def of(cls, pattern: str) -> Self:
        """The frame of a pattern with ``{prompt}`` and optionally ``{persona}`` before it.

        Without a persona, its line is left out. Raises ``ModelError`` for another pattern.
        """
        before, mark, close = pattern.partition(PROMPT)
        if not mark or PROMPT in close or _PERSONA in close or before.count(_PERSONA) > 1:
            raise ModelError(f"--continuation: write {PROMPT} once, and {_PERSONA} at most once and before it")
        opening, _, middle = before.partition(_PERSONA)
        if _PERSONA not in before:
            opening, middle = "", "\n" + before
        bare = before.replace(f"{_PERSONA}\n", "").replace(_PERSONA, "")
        return cls(opening, middle, bare, close, "\n")

    @property
    def with_persona(self) -> str:
        """The text, with ``{persona}`` and ``{prompt}`` in their places."""
        return f"{self.opening}{_PERSONA}{self.middle}{PROMPT}{self.close}"

    @property
    def without_persona(self) -> str:
        """The text of a request without persona, with ``{prompt}`` in its place."""
        return f"{self.bare}{PROMPT}{self.close}"

    def pieces(self, persona: str, prompt: str) -> list[str]:
        """The pieces of a request's text: those at even places are of the frame, the others of persona and prompt."""
        lines = [line.strip() for line in persona.splitlines() if line.strip()]
        if not lines:
            return [self.bare, prompt, self.close]
        pieces = [self.opening]
        for line in lines:
            pieces += [line, self.between]
        return [*pieces[:-1], self.middle, prompt, self.close]

    def with_control(self, control: str) -> Self:
        """The frame with a control after the prompt; see ``close_with``."""
        return replace(self, close=close_with(self.close, control))


class FrameEncoder:
    """Encodes the texts of a frame; ``before`` and ``after`` are put around ids that lack them.

    The control tokens are the tokenizer's special tokens, and those of its added
    tokens that the frame contains; ``spelt`` are their texts, the longest first.
    """

    def __init__(self, tokenizer: Any, frame: Frame, *, before: Sequence[int], after: Sequence[int]) -> None:
        self._tokenizer, self._after = tokenizer, list(after)
        self.frame, self.before = frame, tuple(before)
        added = tokenizer.added_tokens_decoder
        texts = {self.frame.opening, frame.middle, frame.bare, frame.close, frame.between}
        self._ids = {text: self._encode(text) for text in texts}
        inside = {token for ids in self._ids.values() for token in ids}
        used = {token for token in added if added[token].content.strip() and (added[token].special or token in inside)}
        marked = used | set(tokenizer.all_special_ids)
        self._control = marked - {tokenizer.unk_token_id}  # unknown characters give this token too
        self.spelt: list[str] = sorted(tokenizer.convert_ids_to_tokens(sorted(marked)), key=len, reverse=True)
        self._spelt = re.compile("|".join(map(re.escape, self.spelt)) or r"(?!)", re.IGNORECASE)

    def encode(self, requests: PromptRequests) -> list[list[int]]:
        """The token ids of each request.

        Text of a prompt or persona that spells a control token, as ``<|im_end|>``, is encoded as plain text.
        """
        if not requests.prompt:
            return []
        pieces = [self.frame.pieces(*texts) for texts in zip(requests.persona, requests.prompt, strict=True)]
        encoded = self._tokenizer(["".join(p) for p in pieces], add_special_tokens=False)["input_ids"]
        ids = [list(row) if self._is_plain(row, p) else self._apart(p) for row, p in zip(encoded, pieces, strict=True)]
        return [self._closed(row) for row in ids]

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"]) if text else []

    def _controls(self, ids: Sequence[int]) -> list[int]:
        return [token for token in ids if token in self._control]

    def _is_plain(self, ids: Sequence[int], pieces: Sequence[str]) -> bool:
        """Whether the control tokens of a text are those of its frame."""
        frame = [token for piece in pieces[::2] for token in self._ids[piece]]
        return self._controls(ids) == self._controls(frame)

    def _apart(self, pieces: Sequence[str]) -> list[int]:
        """The ids of the pieces, each encoded on its own, so that no control token is read across their bounds."""
        ids = []
        for place, piece in enumerate(pieces):
            ids += self._plainly(piece) if place % 2 else self._ids[piece]
        return ids

    def _plainly(self, text: str) -> list[int]:
        """Encode a text without control tokens: cut where it spells one, or else everywhere."""
        cuts = [0, *(found.start() + 1 for found in self._spelt.finditer(text)), len(text)]
        ids = [token for a, b in pairwise(cuts) for token in self._encode(text[a:b])]
        return [token for character in text for token in self._encode(character)] if self._controls(ids) else ids

    def _closed(self, ids: list[int]) -> list[int]:
        before = [] if ids[: len(self.before)] == list(self.before) else self.before
        after = [] if self._after and ids[-len(self._after) :] == self._after else self._after
        return [*before, *ids, *after]


def close_with(close: str, control: str) -> str:
    """The text from the end of a prompt to the response: a blank, the control, and ``close``.

    An empty control leaves ``close`` as it is.
    """
    return f" {control}{close}" if control else close


class _Controlled(BaseModel):
    """The part of the record of a mitigation that is read here."""

    control: str | None = None


def choose_control(name: str, asked: str | None, notice: Notice) -> str:
    """The control to use with a model: the one asked for, or else the one that the model's folder names, or none.

    Raises ``ModelError`` for a control of several lines or of more than 200 characters, and for a record that cannot
    be read.
    """
    if asked is not None:
        return check_control(asked, "--control")
    file = Path(name) / MITIGATION
    if not file.is_file():
        return ""
    record = read_record(file, _Controlled, ModelError, "give --control, or '' for none")
    control = check_control(record.control or "", f"{file}: control")
    if control:
        notice(
            f"{name} was trained to read {control!r} at the end of the context, and does; --control '' leaves it out"
        )
    return control


def check_control(text: str, where: str) -> str:
    """The text without blanks around it; raises ``ModelError`` if it has several lines or is too long."""
    control = text.strip()
    if len(control) > LONGEST or not control.isprintable():
        raise ModelError(f"{where}: write one line of at most {LONGEST} printable characters")
    return control


class Style(Record):
    """A file of ``evaluation/styles/``: what a chat model reads around the beginning of a text that it continues.

    ``turn`` is the user's turn, with ``{prompt}`` in it once. A response that begins with one of ``refusals``, in any
    case, is a refusal and not a continuation. A model without a chat template continues the text itself.
    """

    id: str = Field(min_length=1)
    system: str | None = Field(None, min_length=1, description="system prompt in the chat template")
    turn: str = Field(PROMPT, description="the user's turn, with {prompt}")
    refusals: tuple[Annotated[str, Field(min_length=3)], ...] = Field((), description="beginnings of refusals")
    source: str = Field(min_length=1, description="who uses this style")
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.turn.count(PROMPT) != 1:
            raise ValueError(f"turn: write {PROMPT} once, the place of the text to continue")
        return self

    @property
    def settings(self) -> Mapping[str, str]:
        """The name and the beginnings of refusals, for a run's signature; the texts are part of the conversation."""
        return {"style": self.id, "style_refusals": "; ".join(self.refusals) or "none"}

    def is_refusal(self, response: str) -> bool:
        """Whether a response begins as a refusal does."""
        start = response.lstrip(" \t\n\"'*").casefold()
        return start.startswith(tuple(text.casefold() for text in self.refusals))


STYLES = NamedFiles("prompt style", "styles", Style)
