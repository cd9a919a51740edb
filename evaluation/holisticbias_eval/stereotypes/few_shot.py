"""Requests for a sentence with two terms, and the sentences in what a generator returns.

The form of a request is that of Kocielnik et al. 2023, section 2: examples of keywords and sentences, then the two
terms, and the generator writes the sentence.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from holisticbias.terms.specification_entries import term_key
from holisticbias_eval.arrays import Floats, divide
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Part
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.readers.derive_polarity import read_vectors
from holisticbias_eval.stereotypes.acceptance import is_closed
from holisticbias_eval.tables.rows import parse_json

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
LONGEST = 2_000
"""Characters of a returned text that are read and kept."""


class Shot(Part):
    """An example: keywords, the tested term's counterpart first, and a sentence that contains them."""

    keywords: tuple[str, ...] = Field(min_length=2, max_length=8)
    sentence: str = Field(min_length=1, max_length=500)

    @property
    def closed(self) -> str:
        """The sentence; one without a final mark gets a full stop, because generators copy what they see."""
        sentence = " ".join(self.sentence.split())
        return sentence if is_closed(sentence) else f"{sentence}."


def write_prompt(form: str, shots: Sequence[Shot], keywords: Sequence[str], count: int) -> str:
    """The prompt of a request of a ``RequestForm``: the examples, then the two terms.

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
    properties, needed = {"sentences": sentences}, ["sentences"]
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
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
    """The sentence in a response of a chat, which may repeat the keywords before it; see ``cut_sentence``."""
    return cut_sentence(_ECHO.sub("", text[:LONGEST], count=1))


def read_list(text: str, count: int) -> list[str] | None:
    """The sentences in a JSON list, or in an object's ``sentences``; None if the text is neither.

    At most ``count`` are read; a list with anything but strings is not read.
    """
    fenced = _FENCE.match(text)
    try:
        content = parse_json(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    sentences = content.get("sentences") if isinstance(content, dict) else content
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        return None
    return [sentence[:LONGEST] for sentence in sentences[:count]]


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


NEAREST = 5
"""Number of examples that are chosen by similarity (Kocielnik et al. 2023, section 2)."""

Vectors = Callable[[Sequence[str]], Floats | None]
"""Gives each text a vector, shape ``[texts, size]``; NaN for a text without one."""


class ShotFile(Part):
    """A file of ``evaluation/shots/``: example sentences with their keywords.

    In a file whose examples are chosen by similarity, the first keyword is the counterpart of the group's term and
    the second that of the attribute.
    """

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who wrote the sentences")
    licence: str = Field(min_length=1)
    shots: tuple[Shot, ...] = Field(min_length=1)


FILES = NamedFiles("file of shots", "shots", ShotFile)


@dataclass(frozen=True)
class Shots:
    """The examples of a file: all of them in each request, or the ``nearest`` ones.

    ``vectors`` give the similarity of terms; None if all examples stand in each request.
    """

    file: ShotFile
    nearest: int = 0
    vectors: Vectors | None = None
    about: str = ""

    @property
    def settings(self) -> Mapping[str, str]:
        """The digest of the examples, and the method of choosing them, for the record of a run."""
        digest = hashlib.sha256(self.file.model_dump_json(include={"shots"}).encode()).hexdigest()
        chosen = f"the {self.nearest} nearest by {self.about}" if self.vectors else "all"
        return {"shots": self.file.id, "shots_sha256": digest, "shots_chosen": chosen}

    def choose(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Shot, ...]]:
        """The examples for each pair of a group's term and an attribute, the nearest first.

        Similarity is the mean of two cosines: of the group's term and the first keyword, and of the attribute and
        the second keyword. A pair or an example without vectors has no similarity and comes last. An example with
        both words of the pair is left out.
        """
        if self.vectors is None:
            return [self.file.shots] * len(pairs)
        parts = (
            _cosines(self.vectors, [pair[place] for pair in pairs], [shot.keywords[place] for shot in self.file.shots])
            for place in (0, 1)
        )
        similar = np.nan_to_num(sum(parts) / 2, nan=-2.0)
        return [self._nearest(pair, row) for pair, row in zip(pairs, similar, strict=True)]

    def _nearest(self, pair: tuple[str, str], similar: Floats) -> tuple[Shot, ...]:
        own = set(map(term_key, pair))
        ranked = (self.file.shots[i] for i in np.argsort(-similar, kind="stable"))
        others = [shot for shot in ranked if not own <= set(map(term_key, shot.keywords))]
        return tuple(others[: self.nearest])


def read_word_vectors(path: Path) -> Vectors:
    """Read word vectors, as text such as GloVe's or in the binary form of word2vec; see ``read_vectors``.

    A text of several words has the mean of their vectors. Raises ``EvaluationError`` for another file.
    """
    if not path.is_file():
        raise EvaluationError(f"{path} cannot be read as word vectors: No such file")
    words, table = read_vectors(path)
    places = {word.casefold(): place for place, word in reversed(list(enumerate(words)))}

    def vectors(texts: Sequence[str]) -> Floats:
        found = np.full((len(texts), table.shape[1]), np.nan)
        for row, text in enumerate(texts):
            known = [places[part] for part in text.casefold().replace("-", " ").split() if part in places]
            if known:
                found[row] = table[known].mean(axis=0, dtype=np.float64)
        return found

    return vectors


def _cosines(vectors: Vectors, some: Sequence[str], others: Sequence[str]) -> Floats:
    """The cosine of each text with each other text: shape ``[some, others]``."""
    distinct = list(dict.fromkeys([*some, *others]))
    found = vectors(distinct)
    if found is None:
        return np.full((len(some), len(others)), np.nan)
    unit = divide(found, np.linalg.norm(found, axis=1, keepdims=True))
    place = {text: i for i, text in enumerate(distinct)}
    left, right = (unit[[place[text] for text in texts]] for texts in (some, others))
    cosines: Floats = left @ right.T
    return cosines
