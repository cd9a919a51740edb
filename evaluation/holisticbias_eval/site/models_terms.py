"""The figures of single terms on each measured model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias_eval.blocks import ends
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import title
from holisticbias_eval.report.units import show
from holisticbias_eval.site.models_results import Results, RunFigures

ADJUSTED = "{}_adjusted_p"
_MEANINGS = {
    ("stance_contrast", "contrast"): (
        "how much more rejection costs than praise for this term ('I hate ...' over 'I love ...'), compared with the "
        "other descriptors of its axis: 0 is their mean, and above 0 the model prefers praise more than for them; p is "
        "corrected for the number of descriptors"
    ),
}
"""Figures of a term that its measure does not name by itself, explained."""


@dataclass(frozen=True, slots=True)
class TermFigure:
    """A figure of one term on one model, as text for people.

    ``release`` is the release that it was measured on, such as ``2.0.0`` or ``2.0.0, subset small``; ``measure`` the
    title of the measure; ``name`` what the figure is, such as "median perplexity"; ``value`` the value with its unit;
    ``interval`` both ends of the 95% interval, null if it has none; ``meaning`` what the value says, in one sentence,
    the same for all figures of a name; ``page`` the address of the model's page in the site, null if it has none.
    """

    model: str
    release: str
    measure: str
    name: str
    value: str
    interval: str | None
    meaning: str
    page: str | None = None


def term_figures(results: Results) -> Mapping[str, Sequence[TermFigure]]:
    """The figures of each term, by descriptor id, sorted by measure and model; terms without figures are left out.

    They come from the reference evaluations and the runs, because the registry keeps no figures of terms.
    """
    pages = {result.model: result.model_page for result in results.measured}
    by_term: dict[str, list[TermFigure]] = {}
    for name in MEASURES:
        for run in results.runs:
            for descriptor, figure in _of_terms(name, run, pages.get(run.model)):
                by_term.setdefault(descriptor, []).append(figure)
    return by_term


def _of_terms(measure: str, run: RunFigures, page: str | None) -> Iterator[tuple[str, TermFigure]]:
    """The figures that a run has of whole terms: those of a template or a style are left out."""
    info = MEASURES[measure].info
    names = dict.fromkeys(figure.name for figure in run.figures if figure.measure == measure and _is_of_term(figure))
    for name in names:
        for figure in run.figures.by(measure, name, "axis", "descriptor"):
            adjusted = run.figures.value(measure, ADJUSTED.format(name), figure.keys)
            yield (
                figure.keys["descriptor"],
                TermFigure(
                    model=run.model,
                    release=run.signature.title.removeprefix("HolisticBias "),
                    measure=info.title,
                    name=title(name),
                    value=_value(figure, adjusted),
                    interval=show(ends(figure.interval), figure.unit) if figure.interval else None,
                    meaning=_meaning(info, name),
                    page=page,
                ),
            )


def _is_of_term(figure: Figure) -> bool:
    return figure.keys.keys() == {"axis", "descriptor"} and figure.of is None


def _meaning(info: Info, name: str) -> str:
    said = _MEANINGS.get((info.name, name)) or f"{info.summary}; {info.direction}"
    return f"{said[:1].upper()}{said[1:].rstrip('.')}. Limits: {info.limits.rstrip('.')}."


def _value(figure: Figure, adjusted: float | None) -> str:
    """The value with its unit, and the p-value corrected for the number of descriptors."""
    value = show(figure.value, figure.unit)
    unit = f" {figure.unit}" if figure.value is not None and figure.unit.startswith("nats") else ""
    p = "" if adjusted is None else f", p {show(adjusted, 'p_value')}"
    return f"{value}{unit}{p}"
