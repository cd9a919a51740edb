"""Report section on the descriptors that lead in a style, with example responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Marked, Paragraph, Table, table_of
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.responses.bias_figures import PARTIAL
from holisticbias_eval.measures.responses.examples import Examples, ResponseFigures
from holisticbias_eval.measures.responses.styles import PREFIX
from holisticbias_eval.sections import Block, HeatMap, Section

_STYLES, _EACH, _EXAMPLES = 12, 5, 3
_MAPPED = 40
READING = (
    "Only descriptors are named whose mean probability of a style differs from that of all descriptors in the same "
    "templates (p < 0.05, corrected by Benjamini and Hochberg over all descriptors and styles): of each style the five "
    "that are farthest above and below. On the page a row opens to the responses with the highest probability of the "
    "style. Marked words were replaced before judging, because they mention the descriptor."
)
DIFFERENCE = "probability difference"


def leaders_section(shown: ResponseFigures, examples: Examples) -> Iterator[Section]:
    """The descriptors with most and least of each style, and of each cluster as a map."""
    tested = shown.by("style_difference", "axis", "descriptor", "style")
    if not tested:
        return
    found = [f for f in tested if f.differs]
    if not found:
        said = f"No descriptor differs from the others in a style, after correction for {len(tested):,} tests."
        yield Section("leaders", "Descriptors and styles", (Paragraph(said),))
        return
    descriptors = len({(f.keys["axis"], f.keys["descriptor"]) for f in found})
    said = (
        f"{descriptors:,} descriptors differ from the others in a style: {len(found):,} of {len(tested):,} pairs of a "
        "descriptor and a style."
    )
    blocks: list[Block] = [Paragraph(said), _table(shown, examples, found), *_map(shown), Paragraph(READING, "note")]
    yield Section("leaders", "Descriptors and styles", tuple(blocks))


def _table(shown: ResponseFigures, examples: Examples, found: Sequence[Figure]) -> Table:
    columns: FigureColumns = (
        *shown.names,
        col.key("style"),
        shown.beside("style_mean", "Mean probability", "probability", key="mean"),
        col.value("difference", "Difference", DIFFERENCE),
        col.adjusted_p("p, corrected"),
        shown.beside("style_mean", "Responses", "count", key="responses", attribute="n", base=False),
    )

    def lines(f: Figure) -> tuple[str | Marked, ...]:
        """Examples of a descriptor that has more of a style than others do."""
        return examples.highest(f, PREFIX + f.keys["style"], _EXAMPLES) if (f.value or 0) > 0 else ()

    caption = "Descriptors that differ in a style"
    return table_of("leaders", caption, columns, _leading(shown, found), details=lines, search=True)


def _leading(shown: ResponseFigures, found: Sequence[Figure]) -> Iterator[Figure]:
    """The farthest above of each style, styles of the largest bias first, then the farthest below."""
    styles = sorted(shown.by(PARTIAL, "style"), key=lambda f: -(f.value or 0.0))
    by_style: dict[str, list[Figure]] = {f.keys["style"]: [] for f in styles}
    for f in found:
        by_style.setdefault(f.keys["style"], []).append(f)
    kept = [sorted(own, key=lambda f: -(f.value or 0.0)) for own in by_style.values() if own][:_STYLES]
    for own in kept:
        yield from [f for f in own if (f.value or 0.0) > 0][:_EACH]
    for own in kept:
        yield from [f for f in own if (f.value or 0.0) <= 0][-_EACH:]


def _map(shown: ResponseFigures) -> Iterator[HeatMap]:
    """Differences by cluster of the descriptors that differ most in one of them."""
    clusters = [f.keys["cluster"] for f in shown.by(PARTIAL, "cluster")]
    found = [f for f in shown.by("style_difference", "axis", "descriptor", "cluster") if f.differs]
    if not clusters or not found:
        return
    farthest = dict.fromkeys(
        (f.keys["axis"], f.keys["descriptor"], shown.descriptor(f))
        for f in sorted(found, key=lambda f: -abs(f.value or 0.0))
    )
    rows = tuple(
        (
            f"{name} ({shown.view.label('axis', axis)})",
            tuple(
                shown.value("style_difference", {"axis": axis, "descriptor": descriptor, "cluster": cluster})
                for cluster in clusters
            ),
        )
        for axis, descriptor, name in list(farthest)[:_MAPPED]
    )
    more = f", the {_MAPPED} that differ most of {len(farthest)}" if len(farthest) > _MAPPED else ""
    title = f"Descriptors that differ in a cluster{more}"
    yield HeatMap("descriptors-by-cluster", title, DIFFERENCE, tuple(clusters), rows, "points of mean probability")
