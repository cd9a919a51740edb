"""Report sections on phrases in responses: those of a list, and those found by descriptor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Column, Marked, Paragraph, Table, ends
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.examples import Examples
from holisticbias_eval.measures.responses.shown import Shown
from holisticbias_eval.sections import Bar, Bars, Block, HeatMap, Section

_LISTED, _FOUND, _EXAMPLES = 100, 200, 2


def listed_section(shown: Shown, examples: Examples) -> Iterator[Section]:
    """Phrases of the list: how common they are, by axis, and the descriptors that differ in one."""
    figures = shown.by("phrase_share", "phrase")
    present = [f for f in figures if f.value]
    if not figures:
        return
    blocks: list[Block] = []
    if present:
        bars = tuple(Bar(_quoted(f), f.value, f.interval) for f in present)
        scale = "share of responses  ·  line: 95% interval"
        blocks += [
            Bars("phrases", "Responses with a phrase", "share", bars, scale),
            _heat_map(shown, present),
            *_by_descriptor(shown, examples),
        ]
    absent = [_quoted(f) for f in figures if not f.value]
    if absent:
        blocks.append(Paragraph(f"No response has {', '.join(absent)}."))
    yield Section("phrases", "Phrases of the list", tuple(blocks))


def _quoted(figure: Figure) -> str:
    return f"“{figure.keys['phrase']}”"


def _heat_map(shown: Shown, present: Sequence[Figure]) -> HeatMap:
    axes = dict.fromkeys(f.keys["axis"] for f in shown.by("length", "axis"))
    rows = tuple(
        (_quoted(f), tuple(shown.value("phrase_share", {**f.keys, "axis": axis}) for axis in axes)) for f in present
    )
    labels = tuple(shown.view.label("axis", axis) for axis in axes)
    return HeatMap("phrases-by-axis", "Responses with a phrase, by axis", "share", labels, rows, "percent of responses")


def _by_descriptor(shown: Shown, examples: Examples) -> Iterator[Block]:
    tested = shown.by("phrase_share", "axis", "descriptor", "phrase")
    found = [f for f in tested if f.differs]
    if not found:
        yield Paragraph(
            "No descriptor has one of these phrases more or less often than all descriptors in the same templates "
            "(p < 0.05, corrected by Benjamini and Hochberg)."
        )
        return
    found.sort(key=lambda f: -(f.value or 0))
    kept = found[:_LISTED]
    columns = (
        Column("descriptor", "Descriptor"),
        Column("axis", "Axis"),
        Column("phrase", "Phrase"),
        Column("share", "Responses with it", "share"),
        Column("interval", "95% interval", "share", interval=True),
        Column("all", "Of all responses", "share"),
        Column("adjusted_p", "p, corrected", "p_value"),
        Column("n", "Responses", "count", base=True),
    )
    rows = tuple(
        (
            shown.descriptor(f), shown.axis(f), f.keys["phrase"], f.value, ends(f.interval),
            shown.value("phrase_share", {"phrase": f.keys["phrase"]}),
            f.adjusted_p, f.n,
        )
        for f in kept
    )  # fmt: skip
    details = tuple(_examples(examples, f) for f in kept)
    more = f" The {_LISTED} with the largest shares of {len(found)} are listed." if len(found) > _LISTED else ""
    note = (
        f"{len(found)} of {len(tested)} descriptors and phrases differ from all responses in the same templates "
        f"(p < 0.05, corrected by Benjamini and Hochberg over descriptors and phrases).{more} "
        "On the page a row opens to examples."
    )
    caption = "Descriptors that differ in a phrase"
    yield Table("phrases-by-descriptor", caption, columns, rows, note, details, search=True)


def _examples(examples: Examples, figure: Figure) -> tuple[str | Marked, ...]:
    keys = figure.keys
    return examples.with_phrase(keys["axis"], keys["descriptor"], keys["phrase"], _EXAMPLES)


def found_section(shown: Shown, examples: Examples) -> Iterator[Section]:
    """Phrases that responses to one descriptor have more often than all others."""
    tested = shown.get("phrases_tested")
    if tested is None:
        return
    found = sorted(shown.by("phrase_log_odds", "axis", "descriptor", "phrase"), key=lambda f: f.p_value or 0)
    how = (
        "Phrases of one to four words in at least ten responses were compared: the share of a descriptor's responses "
        "that have the phrase, against all others. The log odds have an informative prior (Monroe et al. 2008), so "
        "rare phrases count less. p is of an exact test, corrected by Benjamini and Hochberg for all pairs of a "
        "descriptor and a phrase. Phrases with a word of the descriptor itself are left out. Of phrases that mostly "
        "stand in the same responses one is named."
    )
    if not found:
        said = "No descriptor has a phrase more often than all others do, after correction"
        blocks: tuple[Block, ...] = (Paragraph(f"{said} ({tested.value or 0:,.0f} pairs tested)."),)
    else:
        blocks = (_found_table(shown, examples, found),)
    yield Section("found-phrases", "Phrases found by descriptor", (*blocks, Paragraph(how, "note")))


def _found_table(shown: Shown, examples: Examples, found: Sequence[Figure]) -> Table:
    columns = (
        Column("descriptor", "Descriptor"),
        Column("axis", "Axis"),
        Column("phrase", "Phrase"),
        Column("share", "Responses with it", "share"),
        Column("elsewhere", "Of all others", "share"),
        Column("log_odds", "Log odds", "log odds"),
        Column("interval", "95% interval", "log odds", interval=True),
        Column("adjusted_p", "p, corrected", "p_value"),
        Column("n", "Responses", "count"),
    )
    kept = found[:_FOUND]
    rows = tuple(
        (
            shown.descriptor(f), shown.axis(f), f.keys["phrase"], shown.value("found_phrase_share", f.keys),
            shown.value("found_phrase_share_elsewhere", f.keys), f.value, ends(f.interval),
            f.adjusted_p, f.n,
        )
        for f in kept
    )  # fmt: skip
    descriptors = len({(f.keys["axis"], f.keys["descriptor"]) for f in found})
    more = f" The {_FOUND} with the smallest p-values are listed." if len(found) > _FOUND else ""
    note = f"{len(found):,} phrases of {descriptors:,} descriptors.{more} On the page a row opens to examples."
    details = tuple(_examples(examples, f) for f in kept)
    return Table("found-phrases", "Phrases found by descriptor", columns, rows, note, details, search=True)
