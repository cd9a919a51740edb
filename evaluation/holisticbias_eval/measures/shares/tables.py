"""Report tables of a share measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from holisticbias_eval.blocks import ColumnOf, Table, table_of
from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.shares.finding import ShareFigures
from holisticbias_eval.measures.shares.shares import FEWEST, PAIRS, WITH

DIFFERENCE, EFFECT = "share difference", "rank-biserial"


def _share_columns(shown: ShareFigures, *tested: ColumnOf[Figure]) -> FigureColumns:
    """The share with its counts."""
    of = partial(col.beside, shown.view.figures, unit="count")
    return (
        col.value(shown.words.measure, shown.words.short, "share"),
        *tested,
        col.whole(of("descriptors", "Descriptors")),
        col.n("pairs", "Pairs tested"),
        col.whole(of("differing_pairs", "Pairs that differ", key="significant")),
        col.missing("untested", "Pairs not tested"),
    )


def by_axis(shown: ShareFigures) -> Table:
    """The share of every axis, with its interval and floor if they were computed."""
    words, tested = shown.words, (col.interval("share"), col.floor("share"))
    columns = (shown.view.column(), *_share_columns(shown, *(tested if shown.has_floors else ())))
    caption = (
        f"{words.bias} by axis: the share of descriptor pairs whose {words.values} differ (p < {SIGNIFICANCE:g}), "
        "template by template"
    )
    if shown.has_floors:
        caption += "; floor: the share expected by chance, from permuting descriptors within noun and template"
    return table_of("by-axis", caption, columns, shown.in_order)


def of_one_gender(shown: ShareFigures) -> Iterator[Table]:
    """The pairs with a descriptor that goes with nouns of one gender, by axis; no table without them."""
    of = partial(col.beside, shown.view.figures, unit="share")
    columns = (
        shown.view.column(),
        col.value("gendered", "Pairs with a term of one gender", "share"),
        col.floor("share"),
        col.n("pairs", "Pairs tested"),
        col.missing("untested", "Too few nouns in common"),
        of("share", "Other pairs", key="published"),
        of(WITH, "All pairs", key="both"),
    )
    if found := shown.by(PAIRS, "axis"):
        caption = (
            f"{shown.words.bias} of terms that go with nouns of one gender: share of pairs that differ on their common "
            "nouns"
        )
        note = f"A pair needs {FEWEST} nouns in common. With fewer nouns a test finds fewer differences."
        yield table_of("one-gender", caption, columns, found, note)


def by_template(shown: ShareFigures) -> Table:
    """The share of every template."""
    columns = (col.key("template"), *_share_columns(shown))
    caption = f"{shown.words.bias} by template, over the pairs of all axes"
    return table_of("by-template", caption, columns, shown.by("share", "template"))


def by_axis_and_template(shown: ShareFigures) -> Table:
    """The share of every axis in every template."""
    place = {s.keys["axis"]: i for i, s in enumerate(shown.in_order)}
    cells = [s for s in shown.by("share", "axis", "template") if s.keys["axis"] in place]
    cells.sort(key=lambda share: place[share.keys["axis"]])
    columns = (shown.view.column(), col.key("template"), *_share_columns(shown))
    return table_of("by-axis-and-template", f"{shown.words.bias} by axis and template", columns, cells)


def details(shown: ShareFigures) -> dict[str, Table]:
    """Other figures of every axis beside its share: effects, other tests, explanations, and ranges."""
    of = partial(col.beside, shown.view.figures)
    nats = next((figure.unit for figure in shown.by("nats", "axis")), "nats")
    ranges = {
        "leave_one_noun_out": "Leaving one noun out",
        "leave_one_template_out": "Leaving one template out",
        "wordings": "One wording of each",
    }

    def of_above(column: ColumnOf[Figure]) -> ColumnOf[Figure]:
        return replace(column, cell=lambda f: column.cell(f) if f.keys["axis"] in shown.above else None)

    columns: dict[tuple[str, str], FigureColumns] = {
        ("effects", "Size of the differences"): (
            of("large", "Significant and large", "share"),
            of("paired_large", "Paired test: significant and large", "share"),
            of("rank_biserial", "Median effect: rank-biserial", EFFECT),
            of("nats", f"Median effect: {nats}", nats),
            of("smallest_significant", "Smallest significant rank-biserial", EFFECT),
            of("detectable", "Detectable rank-biserial", EFFECT),
            of("detectable_nats", "Detectable nats, paired", nats),
        ),
        ("tests", "The share by other tests"): (
            of("holm", "Holm", "share"),
            of("benjamini_hochberg", "Benjamini-Hochberg", "share"),
            of("wilcoxon", "Paired: Wilcoxon", "share"),
            of("sign_flip", "Paired: sign flips", "share"),
        ),
        ("explanations", "The share without other explanations"): (
            of("equal_tokens", "Equal token counts", "share"),
            of("equal_tokens", "Pairs of equal token counts", "count", "equal_token_pairs", "n", base=False),
            of("without_token_count", "Token count regressed out", "share"),
            of("without_phrase", "Phrase's own likelihood subtracted", "share"),
            of("minus_nonce", "Minus the nonce axis", DIFFERENCE),
            of("minus_nonce", "95% interval of that", DIFFERENCE, "minus_nonce_interval", "interval"),
        ),
        ("robustness", "The range of the share, and of ranks above the floor"): (
            *(of(name, heading, "share", attribute="interval") for name, heading in ranges.items()),
            of_above(col.whole(of("rank", "Rank", "rank"))),
            of_above(of("rank", "95% of its ranks", "rank", "rank_interval", "interval")),
        ),
    }
    first = (shown.view.column(), col.value(shown.words.measure, shown.words.short, "share"))
    return {name: table_of(name, text, (*first, *own), shown.in_order) for (name, text), own in columns.items()}


def open_orders(shown: ShareFigures) -> Table:
    """The axes of neighbouring ranks, both above their floors, whose order is open."""
    orders = [
        order
        for order in shown.by("order", "axis", "next")
        if set(order.keys.values()) <= shown.above and (order.value or 0) > SIGNIFICANCE
    ]
    columns = (
        shown.view.column(),
        ColumnOf[Figure]("next", "Next axis", lambda order: shown.view.label("axis", order.keys["next"])),
        col.value("order", "Next is larger, over the draws", "probability"),
        col.beside(shown.view.figures, "order_by_wording", "Next is larger, over wordings", "probability"),
    )
    return table_of("open-orders", "Axes of neighbouring ranks whose order is open", columns, orders)
