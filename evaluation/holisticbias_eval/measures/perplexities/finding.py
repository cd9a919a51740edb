"""The finding of group_perplexity in words."""

import math
from collections.abc import Iterator
from functools import cached_property

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures.measure import MeasureFigures
from holisticbias_eval.measures.perplexities import dimensions as dim
from holisticbias_eval.measures.perplexities.dimensions import Dimension, Scale, cut
from holisticbias_eval.sections.tables import Paragraph, Role
from holisticbias_eval.units import interval_words, show


class DimensionFigures(MeasureFigures):
    """The figures of a run or a table, and its dimensions."""

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions that have figures, in the order of the table."""
        known = {figure.keys["dimension"] for figure in self.by("f", "dimension", "scale")}
        return tuple(one for one in dim.read_dimensions(self.view.answers) if one.name in known)

    def of(self, name: str, dimension: Dimension, scale: Scale, **keys: str) -> Figure | None:
        """The figure of a dimension on a scale with these further keys."""
        return self.get(name, {"dimension": dimension.name, "scale": scale, **keys})

    def value_of(self, name: str, dimension: Dimension, **keys: str) -> float | None:
        """The value of a dimension on the log scale; ``None`` if it has no such figure, or an undefined one."""
        return self.value(name, {"dimension": dimension.name, "scale": "log", **keys})

    def test(self, dimension: Dimension) -> str:
        """The t test that fits the table: paired if sentences are."""
        return "paired" if dimension.paired else "unpaired"

    def pairs(self, dimension: Dimension, scale: Scale, test: str) -> tuple[Figure, ...]:
        """The t of all pairs of a dimension."""
        return self.by("t", "first", "second", dimension=dimension.name, scale=scale, test=test)


def pair_label(figure: Figure) -> str:
    """Both groups of a pair: the sign of its figures is the first minus the second."""
    return f"{cut(figure.keys['first'])} - {cut(figure.keys['second'])}"


MOST = 8
"""Dimensions that are described in words; the table has all."""
EXPLANATION = Paragraph(
    "F compares the means of the groups with the spread of sentences within a group. Its permuted values have the "
    "groups dealt out at random within each sentence: they say what F is if groups do not differ. F within sentences "
    "takes the spread of sentences out. The t of a pair is the first group minus the second, paired by sentence unless "
    "said otherwise; p-values of pairs are corrected (Holm).",
    "note",
)
LIMITS = Paragraph(
    "A sentence contains the group's term, so a difference can come from how common or how long the term is as well as "
    "from a stereotype. Invented groups show how much.",
    "caveat",
)


def describe_finding(shown: DimensionFigures) -> Iterator[Paragraph]:
    """Warnings, then one or two sentences for each dimension on the log scale, then the limits."""
    for text in dim.describe_table(shown.dimensions, shown.figures):
        role: Role = "text" if text.startswith(dim.WARNING) else "caveat"
        yield Paragraph(f"{text}{'' if text.endswith('.') else '.'}", role)
    for dimension in shown.dimensions[:MOST]:
        yield Paragraph(" ".join((*_of_all(shown, dimension), *_of_pairs(shown, dimension))), "finding")
    if len(shown.dimensions) > MOST:
        yield Paragraph(f"Dimensions in the table alone: {len(shown.dimensions) - MOST}.")
    yield LIMITS


def _of_all(shown: DimensionFigures, dimension: Dimension) -> Iterator[str]:
    name, f = dimension.title, shown.of("f", dimension, "log")
    if f is None or f.value is None:
        yield f"{name}: F of log-perplexity is not defined."
        return
    interval = interval_words(f.interval, "F", ", {}")
    permuted = shown.value_of("f_permuted_p", dimension)
    within = shown.of("f_within", dimension, "log")
    p = permuted if permuted is not None else within.p_value if within else f.p_value
    compared = ""
    point = shown.value_of("f_null_95", dimension)
    if point is not None:
        compared = f"; 95% of permuted groups give at most {show(point, 'F')}"
    said = "is not known to differ" if p is None else "differs" if p < SIGNIFICANCE else "is not shown to differ"
    tested = "" if p is None else f", p {show(p, 'p_value')}"
    yield (
        f"{name}: log-perplexity {said} between {len(dimension.groups)} groups "
        f"(F {show(f.value, 'F')}{interval}{compared}{tested})."
    )


def _of_pairs(shown: DimensionFigures, dimension: Dimension) -> Iterator[str]:
    pairs = [f for f in shown.pairs(dimension, "log", shown.test(dimension)) if f.value is not None]
    if not pairs:
        return
    differing = [f for f in pairs if f.differs]
    most = max(differing or pairs, key=lambda f: abs(f.value or 0.0))
    means = [shown.value_of("mean", dimension, group=most.keys[side]) for side in ("first", "second")]
    ratio = ""
    if means[0] is not None and means[1] is not None:
        first, second = (show(math.exp(mean), "perplexity") for mean in means if mean is not None)
        ratio = f", geometric mean perplexities {first} and {second}"
    yield (
        f"{len(differing)} of {len(pairs)} pairs differ after correction; the largest t is {show(most.value, 't')} "
        f"({pair_label(most)}{ratio})."
    )
