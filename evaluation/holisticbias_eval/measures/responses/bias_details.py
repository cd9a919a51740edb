"""Report sections of generation bias on clusters and styles, descriptors that lead in a style, and a corpus."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from holisticbias.terminal import counted
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.measures.responses.bias_figures import CORRECTED, FULL, NAME, PARTIAL, SUMMED, UNIT
from holisticbias_eval.measures.responses.examples import Examples
from holisticbias_eval.readers.classifier import PREFIX
from holisticbias_eval.sections.blocks import Block, HeatMap, Scatter, ScatterPoint, Section, StackedBars
from holisticbias_eval.sections.tables import ColumnOf, Marked, Paragraph, Table, table_of
from holisticbias_eval.statistics.tests import holm, rank_correlation

OTHER = "Other styles"
READING_OF_CLUSTERS = (
    "Partial Gen Bias is the part of Full Gen Bias that comes from the styles of a cluster: over all styles the parts "
    "add up. Summed-Cluster Gen Bias is the bias of the sum of a cluster's probabilities, so styles that replace each "
    "other cancel. Values are times 1000; p is corrected for the number of rows (Holm)."
)


def tested_columns(shown: MeasureFigures, name: str, heading: str) -> col.FigureColumns:
    """The bias, its corrected value with the interval, its floor and its p-value."""
    corrected = name + CORRECTED
    return (
        col.value("bias", heading, UNIT),
        shown.beside(corrected, "Corrected", UNIT, "corrected"),
        shown.beside(corrected, "95% interval", UNIT, "interval", attribute="interval"),
        col.floor(UNIT),
        col.p("p (Holm)"),
    )


def _size(figure: Figure) -> float:
    """The value, 0 if it is not defined."""
    return figure.value or 0.0


def cluster_section(shown: MeasureFigures) -> Iterator[Section]:
    """The clusters by axis as parts of a bar, and tables of clusters and of styles."""
    clusters, styles = shown.by(PARTIAL, "cluster"), shown.by(PARTIAL, "style")
    members: dict[str, list[str]] = defaultdict(list)
    for f in shown.by(PARTIAL, "cluster", "style"):
        members[f.keys["cluster"]].append(f.keys["style"])
    blocks: list[Block] = []
    if clusters:
        columns: col.FigureColumns = (
            col.key("cluster"),
            *tested_columns(shown, PARTIAL, "Partial Gen Bias"),
            shown.beside(SUMMED, "Summed-Cluster Gen Bias", UNIT, "summed"),
            shown.beside(SUMMED + CORRECTED, "Summed, corrected", UNIT, "summed_corrected"),
            shown.beside(f"audit_{PARTIAL}", "Classifier's own", UNIT, "audit"),
        )
        table = table_of(
            "clusters-by-bias", "Gen Bias by cluster", columns, clusters, drop_empty=True,
            details=lambda f: (", ".join(members[f.keys["cluster"]]),),
        )  # fmt: skip
        blocks += [_stacked(shown, clusters), table]
    if styles:
        cluster = {style: name for name, own in members.items() for style in own}
        columns = (
            col.key("style"),
            ColumnOf("cluster", "Cluster", lambda f: cluster.get(f.keys["style"])),
            *tested_columns(shown, PARTIAL, "Partial Gen Bias"),
        )
        ordered = sorted(styles, key=_size, reverse=True)
        blocks.append(table_of("styles", "Partial Gen Bias by style", columns, ordered, drop_empty=True))
    if blocks:
        yield Section("clusters", "Clusters and styles", (*blocks, Paragraph(READING_OF_CLUSTERS, "note")))


def _stacked(shown: MeasureFigures, clusters: Sequence[Figure]) -> StackedBars:
    names = tuple(f.keys["cluster"] for f in clusters)
    axes = [f for f in shown.by(FULL, "axis") if f.value is not None]
    bars = [(shown.axis(f), tuple(shown.value(PARTIAL, {**f.keys, "cluster": c}) for c in names)) for f in axes]
    rest = [_size(f) - sum(value or 0.0 for value in values) for f, (_, values) in zip(axes, bars, strict=True)]
    title, scale = "Full Gen Bias by axis and cluster", "Gen Bias x 1000, with sampling noise; the parts add up"
    if any(value < 0 for value in rest):  # clusters share styles
        title = "Partial Gen Bias by axis and cluster"
        scale = "Partial Gen Bias x 1000, with sampling noise; clusters share styles, so the parts overlap"
    elif any(value > 1e-9 for value in rest):
        bars = [(label, (*values, other)) for (label, values), other in zip(bars, rest, strict=True)]
        names = (*names, OTHER)
    return StackedBars("clusters", title, UNIT, names, tuple(bars), scale)


_STYLES, _EACH, _EXAMPLES = 12, 5, 3
_MAPPED = 40
READING_OF_LEADERS = (
    "Only descriptors are named whose mean probability of a style differs from that of all descriptors in the same "
    "templates (p < 0.05, corrected by Benjamini and Hochberg over all descriptors and styles): of each style the five "
    "that are farthest above and below. On the page a row opens to the responses with the highest probability of the "
    "style. Marked words were replaced before judging, because they mention the descriptor."
)
DIFFERENCE = "probability difference"


def leaders_section(shown: MeasureFigures, examples: Examples) -> Iterator[Section]:
    """The descriptors with most and least of each style, and of each cluster as a map."""
    tested = shown.by("style_difference", "axis", "descriptor", "style")
    found = [f for f in tested if f.differs]
    if found:
        descriptors = len({(f.keys["axis"], f.keys["descriptor"]) for f in found})
        differ = f"{counted(descriptors, 'descriptors')} differ{'s' if descriptors == 1 else ''}"
        said = (
            f"{differ} from the others in a style: {len(found):,} of {len(tested):,} pairs of a descriptor and a style."
        )
        table = _leaders_table(shown, examples, found)
        blocks: tuple[Block, ...] = (Paragraph(said), table, *_map(shown), Paragraph(READING_OF_LEADERS, "note"))
        yield Section("leaders", "Descriptors and styles", blocks)
    elif tested:
        said = f"No descriptor differs from the others in a style, after correction for {len(tested):,} tests."
        yield Section("leaders", "Descriptors and styles", (Paragraph(said),))


def _leaders_table(shown: MeasureFigures, examples: Examples, found: Sequence[Figure]) -> Table:
    columns: col.FigureColumns = (
        *shown.names,
        col.key("style"),
        shown.beside("style_mean", "Mean probability", "probability", "mean"),
        col.value("difference", "Difference", DIFFERENCE),
        col.adjusted_p("p (Benjamini-Hochberg)"),
        shown.beside("style_mean", "Responses", "count", "responses", attribute="n", base=False),
    )

    def lines(f: Figure) -> tuple[str | Marked, ...]:
        """Examples of a descriptor that has more of a style than others do."""
        return examples.highest(f, PREFIX + f.keys["style"], _EXAMPLES) if _size(f) > 0 else ()

    caption = "Descriptors that differ in a style"
    return table_of("leaders", caption, columns, _leading(shown, found), details=lines, search=True)


def _leading(shown: MeasureFigures, found: Sequence[Figure]) -> Iterator[Figure]:
    """The farthest above of each style, styles of the largest bias first, then the farthest below."""
    styles = sorted(shown.by(PARTIAL, "style"), key=_size, reverse=True)
    by_style: dict[str, list[Figure]] = {f.keys["style"]: [] for f in styles}
    for f in sorted(found, key=_size, reverse=True):
        by_style.setdefault(f.keys["style"], []).append(f)
    kept = [own for own in by_style.values() if own][:_STYLES]
    for own in kept:
        yield from [f for f in own if _size(f) > 0][:_EACH]
    for own in kept:
        yield from [f for f in own if _size(f) <= 0][-_EACH:]


def _map(shown: MeasureFigures) -> Iterator[HeatMap]:
    """Differences by cluster of the descriptors that differ most in one of them."""
    clusters = tuple(f.keys["cluster"] for f in shown.by(PARTIAL, "cluster"))
    found = [f for f in shown.by("style_difference", "axis", "descriptor", "cluster") if f.differs]
    if not clusters or not found:
        return
    found.sort(key=lambda f: -abs(_size(f)))
    farthest = {(f.keys["axis"], f.keys["descriptor"]): f"{shown.descriptor(f)} ({shown.axis(f)})" for f in found}
    rows = []
    for (axis, descriptor), name in list(farthest.items())[:_MAPPED]:
        keys = {"axis": axis, "descriptor": descriptor}
        rows.append((name, tuple(shown.value("style_difference", {**keys, "cluster": c}) for c in clusters)))
    more = f", the {_MAPPED} that differ most of {len(farthest):,}" if len(farthest) > _MAPPED else ""
    title = f"Descriptors that differ in a cluster{more}"
    yield HeatMap("descriptors-by-cluster", title, DIFFERENCE, clusters, tuple(rows), "points of mean probability")


FEW_RESPONSES = (
    "A descriptor has fewer than three responses in a template on average: intervals are too narrow, and far too "
    "narrow if the responses of some descriptors vary much more than those of others."
)


def few_responses(shown: MeasureFigures) -> Iterator[Paragraph]:
    """A note if the cells with intervals have few responses; see the simulations in the docs."""
    cells, responses = (f and f.n for f in (shown.get(FULL), shown.get("responses")))
    if cells and responses and responses < 3 * cells:
        yield Paragraph(FEW_RESPONSES, "caveat")


COUNT, CORRELATION = "corpus_count", "corpus_correlation"
_SCATTERS, _LABELLED = 4, 12
READING_OF_CORPUS = (
    "Every dot is a descriptor: how often the corpus has it as whole words, and the mean probability of the style in "
    "its responses. Descriptors that differ in the style after correction are named, as far as there is room. "
    "Descriptors that the corpus does not have are not drawn, but are part of the rank correlation (Spearman); p is "
    "corrected for the number of rows (Holm)."
)


def corpus_figures(view: View, texts: Mapping[str, int]) -> tuple[Figure, ...]:
    """The count of each descriptor, and its rank correlation with the mean probability of each style and cluster.

    ``texts`` has the count of each descriptor's text. A correlation is null with fewer than three descriptors or if
    all have the same value.
    """
    shown, counts = MeasureFigures(view, NAME), {}
    for f in shown.by("style_mean", "axis", "descriptor", "style"):
        counts[f.keys["axis"], f.keys["descriptor"]] = texts.get(shown.descriptor(f), 0)
    found = [
        make_figure(NAME, COUNT, {"axis": a, "descriptor": d}, count, "count", 1) for (a, d), count in counts.items()
    ]
    for key in ("cluster", "style"):
        pairs: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for f in shown.by("style_mean", "axis", "descriptor", key):
            count = counts.get((f.keys["axis"], f.keys["descriptor"]))
            if count is not None and f.value is not None:
                pairs[f.keys[key]].append((count, f.value))
        values, p = np.array([rank_correlation(np.array(own, float)) for own in pairs.values()]).reshape(-1, 2).T
        for (name, own), value, adjusted in zip(pairs.items(), values, holm(p), strict=True):
            found.append(
                make_figure(
                    NAME, CORRELATION, {key: name}, value, "rank correlation", len(own), p_value=adjusted,
                    of="style_mean",
                )
            )  # fmt: skip
    return tuple(found)


def corpus_section(shown: MeasureFigures) -> Iterator[Section]:
    """Scatter plots of the clusters or styles of the largest bias, and all correlations; none without a corpus."""
    counts = {(f.keys["axis"], f.keys["descriptor"]): _size(f) for f in shown.by(COUNT, "axis", "descriptor")}
    if not counts:
        return
    key = "cluster" if shown.by(PARTIAL, "cluster") else "style"
    largest = sorted(shown.by(PARTIAL, key), key=_size, reverse=True)[:_SCATTERS]
    blocks: list[Block] = [_scatter(shown, counts, key, f.keys[key], i) for i, f in enumerate(largest, 1)]
    columns: col.FigureColumns = (
        ColumnOf("name", "Name", lambda f: next(iter(f.keys.values()))),
        ColumnOf("kind", "Kind", lambda f: next(iter(f.keys))),
        col.value("correlation", "Rank correlation", "rank correlation difference"),
        col.p("p (Holm)"),
        col.n("descriptors", "Descriptors", base=False),
    )
    rows = (*shown.by(CORRELATION, "cluster"), *shown.by(CORRELATION, "style"))
    table = table_of("corpus-correlation", "Frequency in the corpus and mean style probability", columns, rows)
    absent = sum(not count for count in counts.values())
    if absent:
        blocks.append(Paragraph(f"The corpus does not have {absent:,} of {len(counts):,} descriptors."))
    yield Section("corpus", "Frequency in a corpus", (*blocks, Paragraph(READING_OF_CORPUS, "note")))
    yield Section("corpus-correlation", "Frequency in a corpus and styles", (table,))


def _scatter(
    shown: MeasureFigures, counts: Mapping[tuple[str, str], float], key: str, name: str, number: int
) -> Scatter:
    means = shown.by("style_mean", "axis", "descriptor", **{key: name})
    means = tuple(f for f in means if f.value is not None and (f.keys["axis"], f.keys["descriptor"]) in counts)
    differ = [d for f in means if (d := shown.get("style_difference", f.keys)) and d.differs]
    differ.sort(key=lambda f: -abs(_size(f)))
    named = [f.keys for f in differ[:_LABELLED]]
    points = tuple(
        ScatterPoint(counts[f.keys["axis"], f.keys["descriptor"]], _size(f), shown.descriptor(f), f.keys in named)
        for f in means
    )
    title = f"Frequency of descriptors and probability of {name}"
    across, up = "occurrences in the corpus (log scale)", f"mean probability of {name}"
    return Scatter(f"corpus-{number}", title, across, up, "count", "probability", points, log_x=True)
