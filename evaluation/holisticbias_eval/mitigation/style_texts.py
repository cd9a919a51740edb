"""Training texts of a model's own responses: what the methods of styles share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.method import Method, Task
from holisticbias_eval.mitigation.style_values import Alpha, bias_values, choose_threshold, numbered

BIAS, NO_BIAS = "bias", "no_bias"
_STYLE = "p:"


@dataclass(frozen=True, slots=True)
class StyleSettings:
    """Settings of the tags: ``threshold`` is the largest bias value of a response without bias.

    With null it is a ``quantile`` of the values.
    """

    alpha: Alpha = 0
    threshold: float | None = None
    quantile: float = 0.8


@dataclass(frozen=True, slots=True)
class Valued:
    """Responses with a bias value, the values, the threshold, and counts of the responses that are left out."""

    rows: pa.Table
    values: Floats
    threshold: float
    left_out: Mapping[str, int]

    @property
    def biased(self) -> Bools:
        """Whether the value of each response is above the threshold."""
        above: Bools = self.values > self.threshold
        return above


class StyleMethod(Method):
    """A method that trains on a model's own responses, judged by a classifier of styles.

    Its examples have ``axis``, ``descriptor`` and ``template``, the columns ``p:STYLE``, ``before``, the context up to
    the end of the prompt, ``close``, the rest of it, and ``text``, the response as the model writes it.
    """

    @abstractmethod
    def style_texts(self, valued: Valued) -> pa.Table:
        """The ``context`` and ``text`` of each response, and the ``tag`` in its context, null if there is none."""

    def training_texts(self, examples: pa.Table, task: Task | None = None) -> pa.Table:
        """The texts of responses, tagged with the default settings."""
        return self.style_texts(value_responses(examples, StyleSettings()))


def value_responses(examples: pa.Table, settings: StyleSettings) -> Valued:
    """Value responses and choose the threshold; raises ``MitigationError`` if no response has a value.

    Responses that are not judged, and those without a defined value, are left out and counted.
    """
    names = [name for name in examples.column_names if name.startswith(_STYLE)]
    if not names:
        raise MitigationError("the responses have no column p:STYLE: judge them with a style classifier")
    styles = np.stack([examples[name].cast(pa.float64()).to_numpy() for name in names], axis=1)
    descriptors = numbered(_keys(examples, "axis", "descriptor"))
    values = bias_values(styles, descriptors, numbered(_keys(examples, "template")), settings.alpha)
    judged, defined = ~np.isnan(styles).any(axis=1), ~np.isnan(values)
    threshold = choose_threshold(values, settings.quantile) if settings.threshold is None else settings.threshold
    if not defined.any():
        raise MitigationError("no response has a bias value: they need probabilities of styles")
    left_out = {"not_judged": int((~judged).sum()), "no_value": int((judged & ~defined).sum())}
    return Valued(examples.filter(pa.array(defined)), values[defined], threshold, left_out)


def _keys(table: pa.Table, *names: str) -> list[tuple[object, ...]]:
    return list(zip(*(table[name].cast(pa.string()).to_pylist() for name in names), strict=True))
