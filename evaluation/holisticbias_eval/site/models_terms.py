"""The figures of single terms on each measured model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Info, title
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import ends
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.models_results import Evaluated, results_of
from holisticbias_eval.site.term_figures import TermFigure

ADJUSTED = "{}_adjusted_p"
_MEANINGS = {
    ("stance_contrast", "contrast"): (
        "how much more rejection costs than praise for this term ('I hate ...' over 'I love ...'), compared with the "
        "other descriptors of its axis: 0 is their mean, and above 0 the model prefers praise more than for them; p is "
        "corrected for the number of descriptors"
    ),
}
"""Figures of a term that its measure does not name by itself, explained."""


def term_figures(explored: Explored) -> Mapping[str, Sequence[TermFigure]]:
    """The figures of each term, by descriptor id, sorted by measure and model; terms without figures are left out.

    They come from the reference evaluations and the runs, because the registry keeps no figures of terms.
    """
    results = results_of(explored)
    pages = {m.model: m.model_page for m in results.measured}
    found: dict[str, list[TermFigure]] = {}
    for name in MEASURES:
        for evaluated in results.evaluated:
            for descriptor, figure in _of_terms(name, evaluated, pages.get(evaluated.model)):
                found.setdefault(descriptor, []).append(figure)
    return found


def _of_terms(measure: str, evaluated: Evaluated, page: str | None) -> Iterator[tuple[str, TermFigure]]:
    """The figures that a run has of whole terms: those of a template or a style are left out."""
    info = MEASURES[measure].info
    names = dict.fromkeys(f.name for f in evaluated.figures if f.measure == measure and _is_of_term(f))
    for name in names:
        meaning = _meaning(info, name)
        for figure in evaluated.figures.by(measure, name, "axis", "descriptor"):
            adjusted = evaluated.figures.value(measure, ADJUSTED.format(name), figure.keys)
            yield (
                figure.keys["descriptor"],
                TermFigure(
                    model=evaluated.model,
                    release=evaluated.signature.title.removeprefix("HolisticBias "),
                    measure=info.title,
                    name=title(name),
                    value=_value(figure, adjusted),
                    interval=show(ends(figure.interval), figure.unit) if figure.interval else None,
                    meaning=meaning,
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
