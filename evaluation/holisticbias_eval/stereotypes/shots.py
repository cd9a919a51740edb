"""Example sentences of requests: named files of ``evaluation/shots/``, and the choice of the nearest ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.stereotypes.few_shot import Shot

NEAREST = 5
"""Number of examples that are chosen by similarity (Kocielnik et al. 2023, section 2)."""

Vectors = Callable[[Sequence[str]], Floats | None]
"""Gives each text a vector, shape ``[texts, size]``; NaN for a text without one."""


class ShotFile(BaseModel):
    """A file of ``evaluation/shots/``: example sentences with their keywords.

    In a file whose examples are chosen by similarity, the first keyword is the counterpart of the group's term and
    the second that of the attribute.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
        shots = self.file.shots
        similar = (
            _cosines(self.vectors, [term for term, _ in pairs], [shot.keywords[0] for shot in shots])
            + _cosines(self.vectors, [attribute for _, attribute in pairs], [shot.keywords[1] for shot in shots])
        ) / 2
        return [self._nearest(pair, row) for pair, row in zip(pairs, np.nan_to_num(similar, nan=-2.0), strict=True)]

    def _nearest(self, pair: tuple[str, str], similar: Floats) -> tuple[Shot, ...]:
        own = {word.casefold() for word in pair}
        ranked = (self.file.shots[i] for i in np.argsort(-similar, kind="stable"))
        others = [shot for shot in ranked if not own <= {word.casefold() for word in shot.keywords}]
        return tuple(others[: self.nearest])


def read_vectors(path: Path) -> Vectors:
    """Read a text file of word vectors, a word and its numbers in each line, as GloVe's.

    A text of several words has the mean of their vectors. Raises ``EvaluationError`` for another file.
    """
    words = _read_words(path)

    def vectors(texts: Sequence[str]) -> Floats:
        size = len(next(iter(words.values())))
        missing = np.full(size, np.nan)
        parts = [[words[part] for part in text.casefold().replace("-", " ").split() if part in words] for text in texts]
        return np.array([np.mean(found, axis=0) if found else missing for found in parts]).reshape(-1, size)

    return vectors


def _read_words(path: Path) -> dict[str, Floats]:
    words: dict[str, Floats] = {}
    size = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                word, *values = line.split()
                if number == 1 and len(values) == 1:  # the header of word2vec's text form: words and size
                    continue
                vector = np.array(values, np.float64)
                size = size or len(vector)
                if len(vector) != size or not size or not np.isfinite(vector).all():
                    raise ValueError(f"line {number} does not have {size or 'any'} numbers")
                words.setdefault(word.casefold(), vector)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)[:150]
        raise EvaluationError(f"{path} cannot be read as word vectors: {reason}") from error
    if not words:
        raise EvaluationError(f"{path} has no word vectors: write a word and its numbers in each line")
    return words


def _cosines(vectors: Vectors, some: Sequence[str], others: Sequence[str]) -> Floats:
    """The cosine of each text with each other text: shape ``[some, others]``."""
    distinct = list(dict.fromkeys([*some, *others]))
    found = vectors(distinct)
    if found is None:
        return np.full((len(some), len(others)), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    place = {text: i for i, text in enumerate(distinct)}
    left, right = (unit[[place[text] for text in texts]] for texts in (some, others))
    cosines: Floats = left @ right.T
    return cosines
