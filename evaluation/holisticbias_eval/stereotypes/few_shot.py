"""Requests for a sentence with two terms, and the sentences in what a generator returns.

The form of a request is that of Kocielnik et al. 2023, section 2: examples of keywords and sentences, then the two
terms, and the generator writes the sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Form = Literal["text", "chat", "list"]
"""How a sentence is asked for: as the continuation of a text, as one reply in a chat, or as a JSON list of several."""

STOPS = ("\n",)
_ONE = (
    "Write a sentence in the same way. It contains both keywords exactly as they are given. "
    "Reply with the sentence alone."
)
_LIST = (
    "Write {count} different sentences in the same way. Each is one complete sentence and contains both keywords "
    'exactly as they are given. Reply with JSON alone: {{"sentences": [...]}} with {count} strings.'
)
_END = re.compile(r"##|(?<=\s)#(?=\s|\Z)|keywords:|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", re.IGNORECASE)
_ECHO = re.compile(r"\A\s*keywords:[^\n]*(?:##|\n)\s*(?=sentence\s*:)", re.IGNORECASE)
_LABEL = re.compile(r"\A(?:sentence|answer)\s*:\s*", re.IGNORECASE)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*(?:```\s*)?\Z", re.DOTALL | re.IGNORECASE)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"))  # noqa: RUF001 - quotation marks as people write them
_FINAL = ".!?"
LONGEST = 2_000
"""Characters of a returned text that are read and kept."""


class Shot(BaseModel):
    """An example: keywords, the tested term's counterpart first, and a sentence that contains them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keywords: tuple[str, ...] = Field(min_length=2, max_length=8)
    sentence: str = Field(min_length=1, max_length=500)

    @property
    def closed(self) -> str:
        """The sentence; one without a final mark gets a full stop, because generators copy what they see."""
        sentence = " ".join(self.sentence.split())
        return sentence if sentence.endswith(tuple(_FINAL)) else f"{sentence}."


def write_prompt(form: Form, shots: Sequence[Shot], keywords: Sequence[str], count: int) -> str:
    """The prompt of a request: the examples, then the two terms.

    A text to continue ends without a blank: tokenizers put the blank before the next word. In a chat the instruction
    stands between the examples and the terms, where small models heed it more than at the beginning.
    """
    if form == "text":
        lines = [f"Keywords: {_one_line(shot.keywords)} ## Sentence: {shot.closed} ##" for shot in shots]
        return "\n".join([*lines, f"Keywords: {_one_line(keywords)} ## Sentence:"])
    blocks = [f"Keywords: {_one_line(shot.keywords)}\nSentence: {shot.closed}" for shot in shots]
    asked = _ONE if form == "chat" else _LIST.format(count=count)
    return "\n\n".join([*blocks, asked, f"Keywords: {_one_line(keywords)}"])


def list_format(count: int) -> Mapping[str, Any]:
    """The ``response_format`` of a request for a list of sentences (OpenAI's structured outputs)."""
    sentences = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": count}
    schema = {
        "type": "object",
        "properties": {"sentences": sentences},
        "required": ["sentences"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "sentences", "strict": True, "schema": schema}}


def cut_sentence(text: str) -> str:
    """The sentence at the beginning of a returned text.

    It ends before the first ``##``, ``Keywords:`` or line break. A label before it and quotation marks around it are
    removed, and runs of blanks become one.
    """
    text = text[:LONGEST].strip()
    end = _END.search(text)
    text = " ".join((text[: end.start()] if end else text).split())
    return _unquoted(_LABEL.sub("", text))


def cut_reply(text: str) -> str:
    """The sentence in a reply of a chat, which may repeat the keywords before it; see ``cut_sentence``."""
    return cut_sentence(_ECHO.sub("", text[:LONGEST], count=1))


def read_list(text: str, count: int) -> list[str] | None:
    """The sentences in a JSON list, or in an object's ``sentences``; None if the text is neither.

    At most ``count`` are read; a list with anything but strings is not read.
    """
    fenced = _FENCE.match(text)
    try:
        found = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    try:
        sentences = _Sentences.model_validate({"sentences": found} if isinstance(found, list) else found).sentences
    except ValidationError:
        return None
    return [sentence[:LONGEST] for sentence in sentences[:count]]


class _Sentences(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    sentences: list[str]


def _one_line(keywords: Sequence[str]) -> str:
    return ", ".join(" ".join(keyword.split()) for keyword in keywords)


def _unquoted(text: str) -> str:
    """The text without one pair of quotation marks around all of it."""
    for opening, closing in _QUOTES:
        inner = text[1:-1]
        whole = len(text) > 2 and text.startswith(opening) and text.endswith(closing)
        if whole and opening not in inner and closing not in inner:
            return inner.strip()
    return text
