"""The true stance contrast of the calibration model, from the biases that are planted in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stance.finding import NAME, PLANTED, PLANTED_SPREAD
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.embedded.planted import PlantedBiases, read_biases
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.statistics.cells import encode

_NAMES = {"shared_contrast": PLANTED, "wording_spread": PLANTED_SPREAD}


def planted_figures(signature: Signature, answers: pa.Table) -> Iterator[Figure]:
    """The figures that a model without error would have, for the axes and the pairs of templates.

    None are given for other models, and for releases with words that the model has not learned.
    """
    biases = (
        read_biases() if signature.model.note == SHIPPED[EMBEDDED_MODEL].note and NAME in signature.measures else None
    )
    if biases is None or signature.release.version != biases.release:
        return
    place = answers.column_names.index("nll")
    true = answers.set_column(place, "nll", pa.array(-planted_strengths(answers, biases)))
    for figure in StanceContrast().figures(true, None).figures:
        if figure.name in _NAMES:
            named = {"name": _NAMES[figure.name], "of": figure.name, "interval": None}
            yield figure.model_copy(update=named)


def planted_strengths(answers: pa.Table, biases: PlantedBiases) -> Floats:
    """The sum of what is planted on the term of each row in its template, in nats: shape ``[rows]``."""
    descriptors, descriptor = encode(answers["descriptor_id"])
    templates, template = encode(answers["template_id"])
    strength = np.zeros((len(descriptors), len(templates)))
    for plant in biases.plants:
        for t, name in enumerate(templates):
            if plant.holds_in(name):
                strength[:, t] += [plant.strengths.get(d, 0.0) for d in descriptors]
    found: Floats = strength[descriptor, template]
    return found
