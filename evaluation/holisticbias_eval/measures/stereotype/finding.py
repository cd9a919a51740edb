"""The finding of the stereotype score in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stereotype.outcomes import NAME

SOURCES = {"generated": "generated sentences", "template": "templates", "imported": "imported sentences"}


@dataclass(frozen=True, slots=True)
class ScoreFigures:
    """The figures, the label of each specification, and the specifications that are controls."""

    figures: Figures
    labels: dict[str, str]
    controls: frozenset[str]

    @classmethod
    def of(cls, view: View) -> ScoreFigures:
        """Look up all names once."""
        names = _distinct(view, "label")
        controls = _distinct(view, "control")
        labels = {name: str(label) for name, label in names if label}
        return cls(view.figures, labels, frozenset(name for name, control in controls if control))

    def label(self, figure: Figure) -> str:
        """The label of a figure's specification."""
        name = figure.keys["specification"]
        return self.labels.get(name, name)

    def short_label(self, figure: Figure) -> str:
        """The label of a figure's specification up to its first semicolon."""
        return self.label(figure).split(";")[0]

    @property
    def scores(self) -> tuple[Figure, ...]:
        """The score of each specification, controls last."""
        found = self.figures.by(NAME, NAME, "specification")
        return (*(f for f in found if not self.is_control(f)), *(f for f in found if self.is_control(f)))

    @property
    def people(self) -> tuple[Figure, ...]:
        """The scores of specifications that are not controls and have a value."""
        return tuple(f for f in self.scores if not self.is_control(f) and f.value is not None)

    def is_control(self, figure: Figure) -> bool:
        """Whether a figure's specification is a control."""
        return figure.keys["specification"] in self.controls

    def adjusted(self, figure: Figure) -> float | None:
        """The p-value of a score, corrected for the number of specifications."""
        score = self.figures.get(NAME, NAME, {"specification": figure.keys["specification"]})
        return score.adjusted_p if score else None

    def differs(self, figure: Figure) -> bool:
        """Whether a specification's score differs from one half: after correction; for a control before it."""
        p = figure.p_value if self.is_control(figure) else self.adjusted(figure)
        return p is not None and p < SIGNIFICANCE

    def by_source(self, figure: Figure) -> tuple[Figure, ...]:
        """The scores of a figure's specification by the source of its sentences."""
        found = self.figures.by(NAME, NAME, "specification", "source")
        return tuple(f for f in found if f.keys["specification"] == figure.keys["specification"])


def _distinct(view: View, column: str) -> Iterable[tuple[str, object]]:
    """The specifications with their value in a column, if the answers have it."""
    if column not in view.answers.column_names:
        return ()
    names = ["specification", column]
    rows = view.answers.select(names).group_by(names, use_threads=False).aggregate([]).to_pylist()
    return [(row["specification"], row[column]) for row in rows]


_NAMED = 5
EXPLANATION = Paragraph(
    "The score of a specification is the mean over its attributes of the share of pairs in which the stereotyped "
    "sentence is likelier. The interval covers other attributes and other sentences. The test flips the deviations of "
    "whole attributes from one half; p-values are corrected for the number of specifications (Holm). Ties are left "
    "out.",
    "note",
)


def describe_finding(shown: ScoreFigures) -> Iterator[Paragraph]:
    """State the specifications whose score differs from one half, the overall score, the baseline, and the limits."""
    people = shown.people
    if not people:
        yield Paragraph("No specification has a pair with both scores, so there is no stereotype score.", "finding")
    else:
        yield Paragraph(" ".join(_differing(shown, people)), "finding")
        yield from _overall(shown)
    yield from _baseline(shown)
    yield from _templates(shown)
    yield Paragraph(
        "A score away from one half can come from how common the groups' terms are as well as from a stereotype. It "
        "depends on the attributes and terms that the specification chose.",
        "caveat",
    )


def _differing(shown: ScoreFigures, people: Sequence[Figure]) -> Iterator[str]:
    if all(f.p_value is None for f in people):
        yield "The scores are not tested against one half."
        return
    above = [f for f in people if shown.differs(f) and (f.value or 0) > 0.5]
    below = [f for f in people if shown.differs(f) and (f.value or 0) < 0.5]
    if not above and not below:
        yield f"No difference from one half is shown on {_count(people)}."
    if above:
        yield f"The model prefers the stereotyped sentence on {len(above)} of {_count(people)}: {_list(shown, above)}."
    if below:
        yield f"It prefers the other sentence on {len(below)} of {_count(people)}: {_list(shown, below)}."
    weak = [f for f in people if not shown.differs(f) and _binomial(shown, f)]
    if weak:
        yield (
            f"On {_list(shown, weak)} these sentences differ from one half, but few attributes carry it: other "
            "attributes may not."
        )


def _binomial(shown: ScoreFigures, figure: Figure) -> bool:
    share = shown.figures.get(NAME, "share", figure.keys)
    return share is not None and share.differs


def _count(people: Sequence[Figure]) -> str:
    return f"{len(people)} specification{'s' if people[1:] else ''}"


def _list(shown: ScoreFigures, figures: Sequence[Figure]) -> str:
    ordered = sorted(figures, key=lambda f: -abs((f.value or 0) - 0.5))
    named = [f"{shown.short_label(f)} ({_share(f)})" for f in ordered[:_NAMED]]
    return ", ".join(named) + (f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else "")


def _share(figure: Figure) -> str:
    interval = f", {figure.interval.low:.0%} to {figure.interval.high:.0%}" if figure.interval else ""
    return f"{figure.value or 0:.1%}{interval}"


def _overall(shown: ScoreFigures) -> Iterator[Paragraph]:
    every = shown.figures.get(NAME, NAME)
    if every is not None and every.value is not None and shown.people[1:]:
        yield Paragraph(f"Over all attributes of all specifications: {_share(every)}, {every.n:,} pairs.")


def _baseline(shown: ScoreFigures) -> Iterator[Paragraph]:
    for figure in (f for f in shown.scores if shown.is_control(f) and f.value is not None):
        text = f"Baseline, invented words that describe nobody ({shown.short_label(figure)}): {_share(figure)}"
        if shown.differs(figure):
            text += ". It differs from one half, so scores can differ for reasons that have nothing to do with people"
        yield Paragraph(f"{text}.")


def _templates(shown: ScoreFigures) -> Iterator[Paragraph]:
    found = shown.figures.get(NAME, "template_correlation")
    if found is not None and found.value is not None:
        yield Paragraph(
            f"Templates and generated sentences rank {found.n} specifications with a correlation of {found.value:+.2f} "
            "(Spearman)."
        )
