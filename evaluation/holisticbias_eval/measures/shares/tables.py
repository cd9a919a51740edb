"""Report tables of a share measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Cell, Column, Table, ends
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.shares.finding import label
from holisticbias_eval.measures.shares.floors import axes_above_floor, has_floors, shares_in_order
from holisticbias_eval.measures.shares.gendered import FEWEST, PAIRS, WITH
from holisticbias_eval.measures.shares.words import Words

AXIS = Column("axis", "Axis")
TEMPLATE = Column("template", "Template")
COUNTS = (
    Column("descriptors", "Descriptors", "count"),
    Column("pairs", "Pairs tested", "count", base=True),
    Column("significant", "Pairs that differ", "count"),
    Column("untested", "Pairs not tested", "count"),
)
INTERVAL = Column("interval", "95% interval", "share", interval=True)
FLOOR = Column("floor", "Floor", "share")
TESTS = (
    Column("holm", "Holm", "share"),
    Column("benjamini_hochberg", "Benjamini-Hochberg", "share"),
    Column("wilcoxon", "Paired: Wilcoxon", "share"),
    Column("sign_flip", "Paired: sign flips", "share"),
)
EXPLANATIONS = (
    Column("equal_tokens", "Equal token counts", "share"),
    Column("equal_token_pairs", "Pairs of equal token counts", "count"),
    Column("without_token_count", "Token count regressed out", "share"),
    Column("without_phrase", "Phrase's own likelihood subtracted", "share"),
    Column("minus_nonce", "Minus the nonce axis", "share difference"),
    Column("minus_nonce_interval", "95% interval of that", "share difference", interval=True),
)
ROBUSTNESS = (
    Column("leave_one_noun_out", "Leaving one noun out", "share", interval=True),
    Column("leave_one_template_out", "Leaving one template out", "share", interval=True),
    Column("wordings", "One wording of each", "share", interval=True),
    Column("rank", "Rank", "rank"),
    Column("rank_interval", "95% of its ranks", "rank", interval=True),
)


def share_column(words: Words) -> Column:
    """The column of the share."""
    return Column(words.measure, words.short, "share")


def by_axis(view: View, words: Words) -> Table:
    """The share of every axis, with its interval and floor if they were computed."""
    floors = has_floors(view.figures, words.measure)
    rows = []
    for share in shares_in_order(view.figures, words.measure):
        beside = (ends(share.interval), share.floor) if floors else ()
        rows.append((label(view, share), share.value, *beside, *_counts(view.figures, share)))
    columns = (AXIS, share_column(words), *((INTERVAL, FLOOR) if floors else ()), *COUNTS)
    caption = (
        f"{words.bias} by axis: the share of descriptor pairs whose {words.values} differ (p < {SIGNIFICANCE:g}), "
        "template by template"
    )
    if floors:
        caption += "; floor: the share expected by chance, from permuting descriptors within noun and template"
    return Table("by-axis", caption, columns, tuple(rows))


def of_one_gender(view: View, words: Words) -> Iterator[Table]:
    """The pairs with a descriptor that goes with nouns of one gender, by axis; no table without them."""
    figures = view.figures
    rows = []
    for found in figures.by(words.measure, PAIRS, "axis"):
        published = figures.value(words.measure, "share", found.keys)
        both = figures.value(words.measure, WITH, found.keys)
        rows.append((label(view, found), found.value, found.floor, found.n, found.missing, published, both))
    columns = (
        AXIS,
        Column("gendered", "Pairs with a term of one gender", "share"),
        FLOOR,
        Column("pairs", "Pairs tested", "count", base=True),
        Column("untested", "Too few nouns in common", "count"),
        Column("published", "Other pairs", "share"),
        Column("both", "All pairs", "share"),
    )
    if rows:
        caption = (
            f"{words.bias} of terms that go with nouns of one gender: share of pairs that differ on their common nouns"
        )
        note = f"A pair needs {FEWEST} nouns in common. With fewer nouns a test finds fewer differences."
        yield Table("one-gender", caption, columns, tuple(rows), note)


def by_template(view: View, words: Words) -> Table:
    """The share of every template."""
    shares = view.figures.by(words.measure, "share", "template")
    rows = tuple((s.keys["template"], s.value, *_counts(view.figures, s)) for s in shares)
    columns = (TEMPLATE, share_column(words), *COUNTS)
    return Table("by-template", f"{words.bias} by template, over the pairs of all axes", columns, rows)


def by_axis_and_template(view: View, words: Words) -> Table:
    """The share of every axis in every template."""
    cells: dict[str, list[Figure]] = {}
    for share in view.figures.by(words.measure, "share", "axis", "template"):
        cells.setdefault(share.keys["axis"], []).append(share)
    rows = tuple(
        (label(view, share), share.keys["template"], share.value, *_counts(view.figures, share))
        for axis in shares_in_order(view.figures, words.measure)
        for share in cells.get(axis.keys["axis"], ())
    )
    columns = (AXIS, TEMPLATE, share_column(words), *COUNTS)
    return Table("by-axis-and-template", f"{words.bias} by axis and template", columns, rows)


def _counts(figures: Figures, share: Figure) -> tuple[Cell, ...]:
    descriptors, differing = (
        _count(figures.value(share.measure, name, share.keys)) for name in ("descriptors", "differing_pairs")
    )
    return descriptors, share.n, differing, share.missing


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


def effects(view: View, words: Words) -> Table:
    """The size of the differences."""
    nats = next((figure.unit for figure in view.figures.by(words.measure, "nats", "axis")), "nats")
    columns = (
        Column("large", "Significant and large", "share"),
        Column("paired_large", "Paired test: significant and large", "share"),
        Column("rank_biserial", "Median effect: rank-biserial", "rank-biserial"),
        Column("nats", f"Median effect: {nats}", nats),
        Column("smallest_significant", "Smallest significant rank-biserial", "rank-biserial"),
        Column("detectable", "Detectable rank-biserial", "rank-biserial"),
        Column("detectable_nats", "Detectable nats, paired", nats),
    )
    return _beside(view, words, "effects", "Size of the differences", columns)


def other_tests(view: View, words: Words) -> Table:
    """The share by other tests."""
    return _beside(view, words, "tests", "The share by other tests", TESTS)


def explanations(view: View, words: Words) -> Table:
    """The share without other explanations."""
    return _beside(view, words, "explanations", "The share without other explanations", EXPLANATIONS)


def robustness(view: View, words: Words) -> Table:
    """The range of the share, and the ranks of the axes above their floor."""
    caption = "The range of the share, and of ranks above the floor"
    return _beside(view, words, "robustness", caption, ROBUSTNESS)


def _beside(view: View, words: Words, name: str, caption: str, columns: tuple[Column, ...]) -> Table:
    """Figures of every axis's share; a column has the key of its figure."""
    ranked = axes_above_floor(view.figures, words.measure)
    rows = []
    for share in shares_in_order(view.figures, words.measure):
        cells = [_cell(view.figures, share, column, ranked) for column in columns]
        rows.append((label(view, share), share.value, *cells))
    return Table(name, caption, (AXIS, share_column(words), *columns), tuple(rows))


def _cell(figures: Figures, share: Figure, column: Column, ranked: Sequence[str]) -> Cell:
    if column.key == "equal_token_pairs":
        found = figures.get(share.measure, "equal_tokens", share.keys)
        return found.n if found else None
    found = figures.get(share.measure, column.key.removesuffix("_interval"), share.keys)
    if found is None or (found.name == "rank" and share.keys["axis"] not in ranked):
        return None
    return ends(found.interval) if column.interval else _whole(found)


def _whole(figure: Figure) -> Cell:
    return _count(figure.value) if figure.unit == "rank" else figure.value


def open_orders(view: View, measure: str) -> Table:
    """The axes of neighbouring ranks, both above their floors, whose order is open."""
    above = {*axes_above_floor(view.figures, measure)}
    orders = [
        order
        for order in view.figures.by(measure, "order", "axis", "next")
        if set(order.keys.values()) <= above and (order.value or 0) > SIGNIFICANCE
    ]
    rows = tuple(
        (
            label(view, order),
            view.label("axis", order.keys["next"]),
            order.value,
            view.figures.value(measure, "order_by_wording", order.keys),
        )
        for order in orders
    )
    columns = (
        AXIS,
        Column("next", "Next axis"),
        Column("order", "Next is larger, over the draws", "probability"),
        Column("order_by_wording", "Next is larger, over wordings", "probability"),
    )
    return Table("open-orders", "Axes of neighbouring ranks whose order is open", columns, rows)
