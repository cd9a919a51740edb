"""Read results and registry entries of the first form, in which Likelihood Bias was the only measure."""

from __future__ import annotations

import re
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator

from holisticbias_eval.figures import Interval, Part
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.shares.figures import Share, share_figures
from holisticbias_eval.measures.shares.records import Trust
from holisticbias_eval.results.signature import Signature

_FIRST_FORM = re.compile(rb'\s*\{\s*"schema_version"\s*:\s*1\b')
BESIDE = ("medians", "love_hate")
"""The measures besides Likelihood Bias that reports of that form computed from the scores."""


def _of_one_measure(signature: Signature) -> Signature:
    if len(signature.measures) != 1 or signature.measures[0] not in MEASURES:
        raise ValueError(f"measures: needs one of {', '.join(MEASURES)}")
    return signature


_Signature = Annotated[Signature, AfterValidator(_of_one_measure)]


class _Shares(Part):
    by_axis: tuple[Share, ...]
    by_template: tuple[Share, ...]
    by_axis_and_template: tuple[Share, ...]


class _Result(Part):
    """``result.json`` of the first form."""

    schema_version: int
    signature: _Signature
    likelihood_bias: _Shares
    trust: Trust | None = None
    masked_inputs: dict[str, int] | None = None


class _AxisFigure(Share):
    template: str | None = None
    label: str
    interval: Interval | None
    floor: float | None


class _Entry(Part):
    """A registry entry of the first form."""

    schema_version: int
    contributor: str
    date: str
    note: str | None = None
    signature: _Signature
    by_axis: tuple[_AxisFigure, ...]


def is_first_form(content: bytes) -> bool:
    """Whether the JSON of a result or an entry is of the first form."""
    return _FIRST_FORM.match(content) is not None


def read_earlier_result(content: bytes, scores: pa.Table) -> dict[str, Any]:
    """Convert a result of the first form; ``scores`` are those of its run.

    The recorded figures stay as they are. Medians and love-hate differences,
    which reports computed at that time, are measured. Raises ``ValidationError``.
    """
    old = _Result.model_validate_json(content)
    (measure,) = old.signature.measures
    bias = old.likelihood_bias
    figures = share_figures(measure, bias.by_axis, bias.by_template, bias.by_axis_and_template, old.trust)
    beside = [name for name in BESIDE if MEASURES[name].prompts is MEASURES[measure].prompts]
    recorded = {figure.name for figure in figures}
    found = [figure for name in (measure, *beside) for figure in MEASURES[name].figures(scores, None).figures]
    figures += tuple(figure for figure in found if figure.name not in recorded)
    signature = old.signature.model_copy(update={"measures": (measure, *beside)})
    return {"signature": signature, "figures": figures, "masked_inputs": old.masked_inputs}


def read_earlier_entry(content: bytes) -> dict[str, Any]:
    """Convert a registry entry of the first form. Raises ``ValidationError``."""
    old = _Entry.model_validate_json(content)
    (measure,) = old.signature.measures
    beside = {found.axis: {"interval": found.interval, "floor": found.floor} for found in old.by_axis}
    figures = tuple(
        figure.model_copy(update=beside[figure.keys["axis"]]) if figure.name == "share" else figure
        for figure in share_figures(measure, old.by_axis, (), (), None)
    )
    labels = {found.axis or "": found.label for found in old.by_axis}
    return {**old.model_dump(include={"contributor", "date", "note"}), "signature": old.signature,
            "measure": measure, "labels": labels, "figures": figures}  # fmt: skip


def perplexity_per_token(scores: pa.Table) -> pa.Table:
    """Make ``perplexity`` per token in runs of phrases too, where it was exp of the whole phrase's nats."""
    nll, tokens = scores["nll"].to_numpy(), scores["tokens"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.where(tokens > 0, np.exp(nll / tokens), np.nan)
    place = scores.column_names.index("perplexity")
    return scores.set_column(place, "perplexity", pa.array(values, from_pandas=True))
