"""Report section on the clusters and styles of generation bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.bias_figures import CORRECTED, FULL, PARTIAL, SUMMED, UNIT
from holisticbias_eval.measures.responses.shown import Shown
from holisticbias_eval.sections import Block, Section, Stack, StackedBars

OTHER = "Other styles"
READING = (
    "Partial Gen Bias is the part of Full Gen Bias that comes from the styles of a cluster: over all styles the parts "
    "add up. Summed-Cluster Gen Bias is the bias of the sum of a cluster's probabilities, so styles that replace each "
    "other cancel. Values are times 1000; p is corrected for the number of rows (Holm)."
)


def cluster_section(shown: Shown) -> Iterator[Section]:
    """The clusters by axis as parts of a bar, and tables of clusters and of styles."""
    clusters, styles = shown.by(PARTIAL, "cluster"), shown.by(PARTIAL, "style")
    if not clusters and not styles:
        return
    blocks: list[Block] = []
    if clusters:
        blocks += [_stacked(shown, clusters), _cluster_table(shown, clusters)]
    if styles:
        blocks.append(_style_table(shown, styles))
    yield Section("clusters", "Clusters and styles", (*blocks, Paragraph(READING, "note")))


def _stacked(shown: Shown, clusters: Sequence[Figure]) -> StackedBars:
    names = [f.keys["cluster"] for f in clusters]
    bars, rest = [], []
    for axis in shown.by(FULL, "axis"):
        if axis.value is None:
            continue
        values = [shown.value(PARTIAL, {**axis.keys, "cluster": name}) for name in names]
        bars.append(Stack(shown.axis(axis), tuple(values)))
        rest.append(axis.value - sum(value or 0.0 for value in values))
    title, scale = "Full Gen Bias by axis and cluster", "Gen Bias x 1000, with sampling noise; the parts add up"
    if any(value < 0 for value in rest):  # clusters share styles
        scale = "Partial Gen Bias x 1000, with sampling noise; clusters share styles, so the parts overlap"
        return StackedBars("clusters", "Partial Gen Bias by axis and cluster", UNIT, tuple(names), tuple(bars), scale)
    if not any(value > 1e-9 for value in rest):
        return StackedBars("clusters", title, UNIT, tuple(names), tuple(bars), scale)
    stacks = tuple(Stack(bar.label, (*bar.values, other)) for bar, other in zip(bars, rest, strict=True))
    return StackedBars("clusters", title, UNIT, (*names, OTHER), stacks, scale)


def _tested(shown: Shown, figure: Figure) -> tuple[Cell, ...]:
    """The bias, its corrected value with the interval, its floor and its p-value."""
    corrected = shown.get(figure.name + CORRECTED, figure.keys)
    own = (corrected.value, ends(corrected.interval)) if corrected else (None, None)
    return figure.value, *own, figure.floor, figure.p_value


_TESTED = (
    Column("bias", "Partial Gen Bias", UNIT),
    Column("corrected", "Corrected", UNIT),
    Column("interval", "95% interval", UNIT, interval=True),
    Column("floor", "Floor", UNIT),
    Column("p_value", "p (Holm)", "p_value"),
)


def _cluster_table(shown: Shown, clusters: Sequence[Figure]) -> Table:
    columns = (
        Column("cluster", "Cluster"),
        *_TESTED,
        Column("summed", "Summed-Cluster Gen Bias", UNIT),
        Column("summed_corrected", "Summed, corrected", UNIT),
        Column("audit", "Classifier's own", UNIT),
    )
    rows = tuple(
        (
            f.keys["cluster"], *_tested(shown, f), shown.value(SUMMED, f.keys),
            shown.value(SUMMED + CORRECTED, f.keys), shown.value(f"audit_{PARTIAL}", f.keys),
        )
        for f in clusters
    )  # fmt: skip
    members = _members(shown)
    details = tuple((", ".join(members.get(f.keys["cluster"], ())),) for f in clusters)
    return without_empty(Table("clusters-by-bias", "Gen Bias by cluster", columns, rows, details=details))


def _members(shown: Shown) -> Mapping[str, list[str]]:
    """The styles of each cluster."""
    found: dict[str, list[str]] = {}
    for f in shown.by(PARTIAL, "cluster", "style"):
        found.setdefault(f.keys["cluster"], []).append(f.keys["style"])
    return found


def _style_table(shown: Shown, styles: Sequence[Figure]) -> Table:
    cluster = {style: name for name, own in _members(shown).items() for style in own}
    columns = (Column("style", "Style"), *([Column("cluster", "Cluster")] if cluster else []), *_TESTED)
    ordered = sorted(styles, key=lambda f: -(f.value or 0.0))
    rows = tuple(
        (f.keys["style"], *([cluster.get(f.keys["style"])] if cluster else []), *_tested(shown, f)) for f in ordered
    )
    return without_empty(Table("styles", "Partial Gen Bias by style", columns, rows))
