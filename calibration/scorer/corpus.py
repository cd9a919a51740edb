"""The corpus of the embedded model: a release's sentences, each with its frequency."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibration.texts import Corpus
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import EmbeddedModelError
from holisticbias_eval.models.embedded.planted import Place, Plant, PlantedBiases


def make_corpus(release: Release, biases: PlantedBiases) -> Corpus:
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
        check_place(plant, release)
        np.add.at(planted, text_of_row, _planted(sentences, plant))
    weights = _unplanted(sentences, biases)[first_row] * np.exp(planted)
    return Corpus(encoded.dictionary, weights / weights.sum())


def check_place(place: Place, release: Release) -> None:
    """Raise ``EmbeddedModelError`` if a release does not contain a term or a template of a plant."""
    descriptors = release.tables["descriptors"]
    terms = descriptors["descriptor_id"].filter(pc.equal(descriptors["axis"], place.axis)).to_pylist()
    templates = release.tables["sentences"]["template_id"].unique().to_pylist()
    wanted = () if place.templates == "all" else place.templates
    for lack, missing in (
        (f"the axis {place.axis} has no term", {*place.strengths} - {*terms}),
        ("the release has no template", {*wanted} - {*templates}),
    ):
        if missing:
            raise EmbeddedModelError(f"plant {place.id}: {lack} {min(missing)}")


def _unplanted(sentences: pa.Table, biases: PlantedBiases) -> Floats:
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
