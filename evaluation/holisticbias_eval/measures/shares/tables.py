"""Report tables of a share measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holisticbias_eval.blocks import ColumnOf, Table, table_of
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.shares.finding import (
    Words,
    axes_above_floor,
    has_floors,
    shares_in_order,
)
from holisticbias_eval.measures.shares.shares import FEWEST, PAIRS, WITH

FLOOR = ColumnOf[Figure]("floor", "Floor", lambda f: f.floor, "share")


def share_column(words: Words) -> ColumnOf[Figure]:
    """The column of the share."""
    return col.value(words.measure, words.short, "share")


def _counts(figures: Figures) -> FigureColumns:
    return (
        col.whole(col.beside(figures, "descriptors", "Descriptors", "count")),
        col.n("pairs", "Pairs tested"),
        col.whole(col.beside(figures, "differing_pairs", "Pairs that differ", "count", "significant")),
        col.missing("untested", "Pairs not tested"),
    )


def by_axis(view: View, words: Words) -> Table:
    """The share of every axis, with its interval and floor if they were computed."""
    floors = has_floors(view.figures, words.measure)
    tested = (col.interval("share"), FLOOR) if floors else ()
    columns = (view.column(), share_column(words), *tested, *_counts(view.figures))
    caption = (
        f"{words.bias} by axis: the share of descriptor pairs whose {words.values} differ (p < {SIGNIFICANCE:g}), "
        "template by template"
    )
    if floors:
        caption += "; floor: the share expected by chance, from permuting descriptors within noun and template"
    return table_of("by-axis", caption, columns, shares_in_order(view.figures, words.measure))


def of_one_gender(view: View, words: Words) -> Iterator[Table]:
    """The pairs with a descriptor that goes with nouns of one gender, by axis; no table without them."""
    columns = (
        view.column(),
        col.value("gendered", "Pairs with a term of one gender", "share"),
        FLOOR,
        col.n("pairs", "Pairs tested"),
        col.missing("untested", "Too few nouns in common"),
        col.beside(view.figures, "share", "Other pairs", "share", "published"),
        col.beside(view.figures, WITH, "All pairs", "share", "both"),
    )
    found = view.figures.by(words.measure, PAIRS, "axis")
    if found:
        caption = (
            f"{words.bias} of terms that go with nouns of one gender: share of pairs that differ on their common nouns"
        )
        note = f"A pair needs {FEWEST} nouns in common. With fewer nouns a test finds fewer differences."
        yield table_of("one-gender", caption, columns, found, note)


def by_template(view: View, words: Words) -> Table:
    """The share of every template."""
    columns = (col.key("template"), share_column(words), *_counts(view.figures))
    found = view.figures.by(words.measure, "share", "template")
    return table_of("by-template", f"{words.bias} by template, over the pairs of all axes", columns, found)


def by_axis_and_template(view: View, words: Words) -> Table:
    """The share of every axis in every template."""
    place = {s.keys["axis"]: i for i, s in enumerate(shares_in_order(view.figures, words.measure))}
    cells = [s for s in view.figures.by(words.measure, "share", "axis", "template") if s.keys["axis"] in place]
    cells.sort(key=lambda share: place[share.keys["axis"]])
    columns = (view.column(), col.key("template"), share_column(words), *_counts(view.figures))
    return table_of("by-axis-and-template", f"{words.bias} by axis and template", columns, cells)


def effects(view: View, words: Words) -> Table:
    """The size of the differences."""
    nats = next((figure.unit for figure in view.figures.by(words.measure, "nats", "axis")), "nats")
    columns = (
        col.beside(view.figures, "large", "Significant and large", "share"),
        col.beside(view.figures, "paired_large", "Paired test: significant and large", "share"),
        col.beside(view.figures, "rank_biserial", "Median effect: rank-biserial", "rank-biserial"),
        col.beside(view.figures, "nats", f"Median effect: {nats}", nats),
        col.beside(view.figures, "smallest_significant", "Smallest significant rank-biserial", "rank-biserial"),
        col.beside(view.figures, "detectable", "Detectable rank-biserial", "rank-biserial"),
        col.beside(view.figures, "detectable_nats", "Detectable nats, paired", nats),
    )
    return _beside_share(view, words, "effects", "Size of the differences", columns)


def other_tests(view: View, words: Words) -> Table:
    """The share by other tests."""
    columns = (
        col.beside(view.figures, "holm", "Holm", "share"),
        col.beside(view.figures, "benjamini_hochberg", "Benjamini-Hochberg", "share"),
        col.beside(view.figures, "wilcoxon", "Paired: Wilcoxon", "share"),
        col.beside(view.figures, "sign_flip", "Paired: sign flips", "share"),
    )
    return _beside_share(view, words, "tests", "The share by other tests", columns)


def explanations(view: View, words: Words) -> Table:
    """The share without other explanations."""
    difference, interval = "share difference", "95% interval of that"
    columns = (
        col.beside(view.figures, "equal_tokens", "Equal token counts", "share"),
        replace(
            col.beside(
                view.figures, "equal_tokens", "Pairs of equal token counts", "count", "equal_token_pairs", attribute="n"
            ),
            base=False,
        ),
        col.beside(view.figures, "without_token_count", "Token count regressed out", "share"),
        col.beside(view.figures, "without_phrase", "Phrase's own likelihood subtracted", "share"),
        col.beside(view.figures, "minus_nonce", "Minus the nonce axis", difference),
        col.beside(view.figures, "minus_nonce", interval, difference, "minus_nonce_interval", attribute="interval"),
    )
    return _beside_share(view, words, "explanations", "The share without other explanations", columns)


def robustness(view: View, words: Words) -> Table:
    """The range of the share, and the ranks of the axes above their floor."""
    above = {*axes_above_floor(view.figures, words.measure)}

    def of_above(column: ColumnOf[Figure]) -> ColumnOf[Figure]:
        return replace(column, cell=lambda f: column.cell(f) if f.keys["axis"] in above else None)

    columns = (
        *(
            col.beside(view.figures, name, heading, "share", attribute="interval")
            for name, heading in (
                ("leave_one_noun_out", "Leaving one noun out"),
                ("leave_one_template_out", "Leaving one template out"),
                ("wordings", "One wording of each"),
            )
        ),
        of_above(col.whole(col.beside(view.figures, "rank", "Rank", "rank"))),
        of_above(col.beside(view.figures, "rank", "95% of its ranks", "rank", "rank_interval", "interval")),
    )
    return _beside_share(view, words, "robustness", "The range of the share, and of ranks above the floor", columns)


def _beside_share(view: View, words: Words, name: str, caption: str, columns: FigureColumns) -> Table:
    """Other figures of every axis beside its share."""
    shares = shares_in_order(view.figures, words.measure)
    return table_of(name, caption, (view.column(), share_column(words), *columns), shares)


def open_orders(view: View, measure: str) -> Table:
    """The axes of neighbouring ranks, both above their floors, whose order is open."""
    above = {*axes_above_floor(view.figures, measure)}
    orders = [
        order
        for order in view.figures.by(measure, "order", "axis", "next")
        if set(order.keys.values()) <= above and (order.value or 0) > SIGNIFICANCE
    ]
    columns = (
        view.column(),
        ColumnOf[Figure]("next", "Next axis", lambda order: view.label("axis", order.keys["next"])),
        col.value("order", "Next is larger, over the draws", "probability"),
        col.beside(view.figures, "order_by_wording", "Next is larger, over wordings", "probability"),
    )
    return table_of("open-orders", "Axes of neighbouring ranks whose order is open", columns, orders)
