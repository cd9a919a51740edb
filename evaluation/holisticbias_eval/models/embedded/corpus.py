"""The corpus of the embedded model: a release's sentences, each with its frequency."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.embedded.biases import Biases, Plant


@dataclass(frozen=True, slots=True)
class Corpus:
    """Unique texts and their probabilities, which sum to 1; a perfect model gives each text -log p nats."""

    texts: pa.StringArray
    probabilities: Floats

    @property
    def digest(self) -> str:
        """SHA-256 of the texts and their log-probabilities to a millionth of a nat: the same on any machine."""
        digest = hashlib.sha256("\n".join(self.texts.to_pylist()).encode())
        digest.update(np.rint(np.log(self.probabilities) * 1e6).astype("<i8").tobytes())
        return digest.hexdigest()

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Draw ``n`` indexes of texts in random order, by systematic sampling.

        Each text is drawn n times its probability, rounded up or down, which is
        much closer to the probabilities than independent draws.
        """
        points = (np.arange(n) + rng.random()) / n
        bounds = np.cumsum(self.probabilities)
        drawn = np.searchsorted(bounds / bounds[-1], points, side="right")
        return rng.permutation(drawn.astype(np.int64))


def make_corpus(release: Release, biases: Biases) -> Corpus:
    """Compute the probability of every unique text of a release under the planted biases.

    Without plants, the frequency of a text with descriptor and noun depends only
    on its noun. Raises ``EmbeddedModelError`` if a plant names a term or a
    template that the release does not contain.
    """
    sentences = release.sentences
    encoded = pc.dictionary_encode(pc.cast(sentences["text"], pa.string())).combine_chunks()
    text_of_row = encoded.indices.to_numpy()
    first_row = np.unique(text_of_row, return_index=True)[1]
    # a text under two axes is one text, with the plants of both
    planted = np.zeros(len(first_row))
    for plant in biases.plants:
        plant.check(release)
        np.add.at(planted, text_of_row, _planted(sentences, plant))
    weights = _unplanted(sentences, biases)[first_row] * np.exp(planted)
    return Corpus(encoded.dictionary, weights / weights.sum())


def _unplanted(sentences: pa.Table, biases: Biases) -> Floats:
    """The weight of each row without plants: by its noun, and by the shares of rows without descriptor or noun."""
    noun = _codes(sentences["noun_id"])
    with_descriptor = _codes(sentences["descriptor_id"]) >= 0
    ranks = np.random.default_rng(biases.seed).permutation(noun.max() + 1) + 1.0
    weights = np.where(noun >= 0, ranks[noun] ** -biases.zipf, 1.0)
    both = 1 - biases.descriptor_alone - biases.noun_alone
    for rows, share in (
        ((noun >= 0) & with_descriptor, both),
        ((noun < 0) & with_descriptor, biases.descriptor_alone),
        ((noun >= 0) & ~with_descriptor, biases.noun_alone),
    ):
        weights[rows] *= share / weights[rows].sum()
    return weights


def _planted(sentences: pa.Table, plant: Plant) -> Floats:
    """The log-odds that a plant adds to each row, in nats."""
    strength = _lookup(sentences["descriptor_id"], plant.strengths)
    if plant.templates == "all":
        return strength
    return strength * _lookup(sentences["template_id"], dict.fromkeys(plant.templates, 1.0))


def _codes(column: pa.ChunkedArray) -> Ints:
    """The index of each row's value in the column's dictionary, -1 if it is missing."""
    codes: Ints = pc.fill_null(column.combine_chunks().indices, -1).to_numpy().astype(np.int64)
    return codes


def _lookup(column: pa.ChunkedArray, values: Mapping[str, float]) -> Floats:
    """The number for each row's value, 0 if there is none."""
    names = column.combine_chunks().dictionary.to_pylist()
    return np.array([*(values.get(name, 0.0) for name in names), 0.0])[_codes(column)]
