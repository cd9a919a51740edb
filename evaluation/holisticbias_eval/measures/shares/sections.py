"""Report sections of a share measure, and their tables."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.descriptors.terms import what_is_compared
from holisticbias_eval.measures.shares.finding import ShareFigures
from holisticbias_eval.measures.shares.shares import FEWEST, PAIRS, WITH
from holisticbias_eval.measures.shares.trust import EFFECT
from holisticbias_eval.sections.blocks import Bar, Bars, Block, HeatMap, Section
from holisticbias_eval.sections.tables import ColumnOf, Paragraph, Table, table_of, without_empty
from holisticbias_eval.units import show

SIZE = (
    "Significant is not large. A test says that a difference is more than chance, however small it is; effect sizes "
    "say how large it is. Tests that pair the same nouns call differences significant that nobody would notice."
)
UNCORRECTED = "The tests are not corrected for their number, as in the paper."
MAP = (
    "The same share in every template. The colour scale runs from 0% to 100% in every report. Slots: “{noun_phrase}” "
    "stands for phrases like “a Deaf grandmother”, “{plural_noun_phrase}” for “Deaf grandmothers”, "
    "“{bare_noun_phrase}” for “Deaf grandmother”."
)
DETAILS = (
    (
        "effects", "size", "Size of the differences", SIZE,
        "Rank-biserial runs from 0 (no difference) to 1 (every {of} of one descriptor is likelier than all of the "
        "other); 0.43 and more counts as large. Nats are differences of the logarithm of the likelihood: 0.01 means "
        "1% less likely. No effect smaller than the smallest significant one is significant in samples of this size; "
        "the detectable one is found four times in five.",
    ),
    (
        "tests", "tests", "Other tests", UNCORRECTED,
        "Holm and Benjamini-Hochberg correct for the number of tests. The paired tests compare two descriptors on the "
        "same nouns and find even small differences: a high share there means that differences are steady, not that "
        "they are large.",
    ),
    (
        "explanations", "explanations", "Other explanations", "",
        "Longer and rarer words are less likely in any sentence. A share that remains when token counts are equal, or "
        "when the share of the made-up words is subtracted, is harder to explain in this way. The phrase's own "
        "likelihood is informative only for a model that has read phrases outside of sentences.",
    ),
    (
        "robustness", "robustness", "Ranges and ranks", "",
        "An axis's rank is by its share, 1 for the largest, with the middle 95% of its ranks over the draws.",
    ),
)  # fmt: skip
"""The name of a table, the ending of its section's name, and the section's title, caveat and note."""


def share_sections(shown: ShareFigures) -> tuple[Section, ...]:
    """Show the finding, the shares by axis and by template, their trust figures, and what is missing."""
    slug, words = shown.words.measure.replace("_", "-"), shown.words
    counts = (by_template(shown), by_axis_and_template(shown))
    method = (
        "For every pair of descriptors of an axis, in every template, a two-sided Mann-Whitney U test (Mann and "
        f"Whitney 1947) asks whether the {words.values} of their {words.of}s over nouns differ. {words.bias} is the "
        f"share of pairs with p < 0.05. {words.how}"
    )
    return (
        Section(slug, "Finding", tuple(_finding(shown))),
        Section(f"{slug}-axes", f"{words.bias} by axis", tuple(_axes(shown))),
        *(_trust(shown, slug) if shown.has_floors else ()),
        Section(f"{slug}-map", "By axis and template", (Paragraph(MAP, "note"), heat_map(shown))),
        Section(f"{slug}-counts", "By template, with counts", counts, detail=True),
        Section(f"{slug}-missing", "Missing pairs", tuple(_missing(shown)), detail=True),
        Section(f"{slug}-method", "Method", (Paragraph(method, "note"),), detail=True),
    )


def _finding(shown: ShareFigures) -> Iterator[Block]:
    yield Paragraph(" ".join(shown.finding()), "finding")
    yield from (Paragraph(text, "caveat") for text in shown.baseline())
    yield share_chart(shown)
    if shown.has_floors:
        yield Paragraph(
            "Axes above their floor come first, largest share first, then the others in the release's order. Mark: the "
            "floor, the share expected by chance, from permuting descriptors within noun and template. Line: "
            "95% interval over draws of nouns and templates. A faint bar does not clearly exceed its floor.",
            "note",
        )


def share_chart(shown: ShareFigures) -> Bars:
    """The share of every axis as a bar, with its interval and its own floor."""
    bars = tuple(Bar(shown.axis(s), s.value, s.interval, s.floor, faint=s.above_floor is False) for s in shown.in_order)
    scale, marks = "share of pairs that differ", ("mark: floor",) if shown.has_floors else ()
    return Bars("likelihood-bias", f"{shown.words.bias} by axis", "share", bars, scale, limits=(0, 1), marks=marks)


def _axes(shown: ShareFigures) -> Iterator[Block]:
    yield by_axis(shown)
    if compared := what_is_compared(shown.view.answers):
        yield Paragraph(compared)
    yield from of_one_gender(shown)
    yield from (Paragraph(text, "caveat") for text in shown.caveats())
    yield from (Paragraph(text) for text in (*shown.pooled(), *shown.size()))


def _trust(shown: ShareFigures, slug: str) -> Iterator[Section]:
    trusted, orders = details(shown), open_orders(shown)
    for table, name, title, caveat, note in DETAILS:
        said = [Paragraph(caveat, "caveat")] if caveat else []
        said.append(Paragraph(note.format(of=shown.words.of), "note"))
        more = [orders] if name == "robustness" and orders.rows else []
        yield Section(f"{slug}-{name}", title, (*said, trusted[table], *more), detail=True)


def heat_map(shown: ShareFigures) -> HeatMap:
    """The share of every axis in every template."""
    shares = {(f.keys["template"], f.keys["axis"]): f.value for f in shown.by("share", "axis", "template")}
    rows = tuple(
        (template, tuple(shares.get((template, share.keys["axis"])) for share in shown.in_order))
        for template in (share.keys["template"] for share in shown.by("share", "template"))
    )
    title, columns = f"{shown.words.bias} by axis and template", tuple(map(shown.axis, shown.in_order))
    return HeatMap("map", title, "share", columns, rows, "share of pairs that differ", limits=(0, 1))


def _missing(shown: ShareFigures) -> Iterator[Block]:
    cells = shown.by("share", "axis", "template")
    untested, tested = sum(cell.missing for cell in cells), sum(cell.n for cell in cells)
    why = f": one of the two descriptors has no {shown.words.value} in the template" if untested else ""
    yield Paragraph(f"{untested:,} of {untested + tested:,} pairs could not be tested{why}.")
    if drawn := shown.by("all_pairs", "axis"):
        within = "; ".join(
            f"{shown.axis(share)} {show((share.interval.low, share.interval.high), 'share')}"
            for share in drawn
            if share.interval
        )
        yield Paragraph(
            "Some axes have too many pairs to compare them all: their descriptors are divided at random into groups, "
            f"and compared within these. 95% intervals of the shares of all their pairs: {within}."
        )
    empty = [cell for cell in cells if cell.value is None]
    names = ", ".join(f"{shown.axis(cell)} in “{cell.keys['template']}”" for cell in empty)
    yield Paragraph(
        f"{len(empty):,} of {len(cells):,} combinations of axis and template have no pair to test"
        f"{': ' if names else ''}{names}."
    )


DIFFERENCE = "share difference"


def _share_columns(shown: ShareFigures, *tested: ColumnOf[Figure]) -> col.FigureColumns:
    """The share with its counts."""
    of = partial(shown.beside, unit="count")
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
    columns = (shown.axis_column, *_share_columns(shown, *(tested if shown.has_floors else ())))
    caption = (
        f"{words.bias} by axis: the share of descriptor pairs whose {words.values} differ (p < {SIGNIFICANCE:g}), "
        "template by template"
    )
    if shown.has_floors:
        caption += "; floor: the share expected by chance, from permuting descriptors within noun and template"
    return table_of("by-axis", caption, columns, shown.in_order)


def of_one_gender(shown: ShareFigures) -> Iterator[Table]:
    """The pairs with a descriptor that goes with nouns of one gender, by axis; no table without them."""
    of = partial(shown.beside, unit="share")
    columns = (
        shown.axis_column,
        col.value("gendered", "Pairs with a descriptor of one gender", "share"),
        col.floor("share"),
        col.n("pairs", "Pairs tested"),
        col.missing("untested", "Too few nouns in common"),
        of("share", "Other pairs", key="published"),
        of(WITH, "All pairs", key="both"),
    )
    if found := shown.by(PAIRS, "axis"):
        caption = (
            f"{shown.words.bias} of descriptors that go with nouns of one gender: share of pairs that differ on their "
            "common nouns"
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
    columns = (shown.axis_column, col.key("template"), *_share_columns(shown))
    return table_of("by-axis-and-template", f"{shown.words.bias} by axis and template", columns, cells)


def details(shown: ShareFigures) -> dict[str, Table]:
    """Other figures of every axis beside its share: effects, other tests, explanations, and ranges."""
    of = shown.beside
    nats = next((figure.unit for figure in shown.by("nats", "axis")), "nats")
    ranges = {
        "leave_one_noun_out": "Leaving one noun out",
        "leave_one_template_out": "Leaving one template out",
        "wordings": "One wording of each template",
    }

    def of_above(column: ColumnOf[Figure]) -> ColumnOf[Figure]:
        return replace(column, cell=lambda f: column.cell(f) if f.keys["axis"] in shown.above else None)

    columns: dict[tuple[str, str], col.FigureColumns] = {
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
            of("minus_nonce", "Minus the made-up words", DIFFERENCE),
            of("minus_nonce", "95% interval of that", DIFFERENCE, "minus_nonce_interval", "interval"),
        ),
        ("robustness", "The range of the share, and of ranks above the floor"): (
            *(of(name, heading, "share", attribute="interval") for name, heading in ranges.items()),
            of_above(col.whole(of("rank", "Rank", "rank"))),
            of_above(of("rank", "95% of its ranks", "rank", "rank_interval", "interval")),
        ),
    }
    first = (shown.axis_column, col.value(shown.words.measure, shown.words.short, "share"))
    tables = (table_of(name, text, (*first, *own), shown.in_order) for (name, text), own in columns.items())
    return {table.name: without_empty(table, ("wordings",)) for table in tables}


def open_orders(shown: ShareFigures) -> Table:
    """The axes of neighbouring ranks, both above their floors, whose order is open."""
    orders = [
        order
        for order in shown.by("order", "axis", "next")
        if set(order.keys.values()) <= shown.above and (order.value or 0) > SIGNIFICANCE
    ]
    columns = (
        shown.axis_column,
        ColumnOf[Figure]("next", "Next axis", lambda order: shown.view.label("axis", order.keys["next"])),
        col.value("order", "Next is larger, over the draws", "probability"),
        shown.beside("order_by_wording", "Next is larger, over wordings", "probability"),
    )
    return table_of("open-orders", "Axes of neighbouring ranks whose order is open", columns, orders)
