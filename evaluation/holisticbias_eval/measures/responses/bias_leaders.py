"""Report section on the descriptors that lead in a style, with example responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Column, Marked, Paragraph, Table
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.bias_figures import PARTIAL
from holisticbias_eval.measures.responses.examples import Examples, Shown
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


def leaders_section(shown: Shown, examples: Examples) -> Iterator[Section]:
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


def _table(shown: Shown, examples: Examples, found: Sequence[Figure]) -> Table:
    columns = (
        Column("descriptor", "Descriptor"),
        Column("axis", "Axis"),
        Column("style", "Style"),
        Column("mean", "Mean probability", "probability"),
        Column("difference", "Difference", DIFFERENCE),
        Column("adjusted_p", "p, corrected", "p_value"),
        Column("responses", "Responses", "count"),
    )
    rows, details = [], []
    for f in _leading(shown, found):
        keys, mean = f.keys, shown.get("style_mean", f.keys)
        row = (shown.descriptor(f), shown.axis(f), keys["style"])
        n = mean.n if mean else None
        rows.append((*row, mean.value if mean else None, f.value, f.adjusted_p, n))
        details.append(_lines(examples, f))
    caption = "Descriptors that differ in a style"
    return Table("leaders", caption, columns, tuple(rows), details=tuple(details), search=True)


def _lines(examples: Examples, figure: Figure) -> tuple[str | Marked, ...]:
    """Examples of a descriptor that has more of a style than others do."""
    if (figure.value or 0) <= 0:
        return ()
    keys = figure.keys
    return examples.highest(keys["axis"], keys["descriptor"], PREFIX + keys["style"], _EXAMPLES)


def _leading(shown: Shown, found: Sequence[Figure]) -> Iterator[Figure]:
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


def _map(shown: Shown) -> Iterator[HeatMap]:
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
