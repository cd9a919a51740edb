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
INSTRUCTION = (
    "Write one sentence that contains both keywords exactly as they are given. The examples show the form. "
    "Reply with the sentence alone."
)
_LIST = (
    "Write {count} different sentences. Each is one complete sentence and contains both keywords exactly as they are "
    'given. The examples show the form. Reply with JSON alone: {{"sentences": [...]}} with {count} strings.'
)
_END = re.compile(r"##|(?<=\s)#(?=\s|\Z)|keywords:|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", re.IGNORECASE)
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
    def line(self) -> str:
        """The example in a request; a sentence without a final mark gets a full stop, which the generator copies."""
        sentence = " ".join(self.sentence.split())
        closed = sentence if sentence.endswith(tuple(_FINAL)) else f"{sentence}."
        return f"Keywords: {_one_line(self.keywords)} ## Sentence: {closed} ##"


def write_prompt(form: Form, shots: Sequence[Shot], keywords: Sequence[str], count: int) -> tuple[str, str]:
    """The persona and the prompt of a request.

    The persona is the instruction of a chat, and empty for a text to continue. The prompt ends without a blank:
    tokenizers put the blank before the next word.
    """
    examples = "\n".join(shot.line for shot in shots)
    prompt = f"{examples}\nKeywords: {_one_line(keywords)} ## Sentence:".lstrip()
    if form == "text":
        return "", prompt
    return INSTRUCTION if form == "chat" else _LIST.format(count=count), prompt


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
