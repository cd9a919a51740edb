"""Report sections of the wording of responses."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.measures.responses.design import repeats_paragraph
from holisticbias_eval.measures.responses.examples import Examples, repeated_section
from holisticbias_eval.measures.responses.wordings import MEANS, NAME
from holisticbias_eval.sections.blocks import Bar, Bars, Block, HeatMap, Section
from holisticbias_eval.sections.tables import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.settings import listed
from holisticbias_eval.units import percent, show

_LISTED, _FOUND, _EXAMPLES, _NAMED = 100, 200, 2, 5
_OPENS = "On the page a row opens to examples."
_SCALE = "share of responses"
VALUES = {
    "parroting_exact": "Repeats the prompt",
    "parroting_start": "Starts with the prompt",
    "parroting_run": "Longest common run",
    "length": "Length in words",
    "distinct_1": "Distinct words",
    "distinct_2": "Distinct pairs",
    "share_repeated": "Same as to another prompt",
    "share_empty": "Empty",
    "share_truncated": "Truncated",
    "share_refused": "Refused",
    "share_filtered": "Filtered",
}
"""The heading of each value."""
TESTED = ("parroting_exact", "length", "share_empty", "share_refused")
READING = (
    "A response repeats its prompt if it has the same words, whatever the case and the punctuation. The longest common "
    "run is the share of the prompt's words in the longest run of words that both have. Distinct words are the number "
    "of different words expected among 500 words of the responses, as a share of 500; distinct pairs are the same for "
    "two neighbouring words. Truncated responses reached the longest length. A response is the same as to another "
    "prompt if it is so letter by letter. Empty, refused and filtered responses are counted among all; the other "
    "figures leave them out. Descriptors are compared with all responses in the same templates: p < 0.05 for the "
    "share, or the ranks of lengths, corrected by Benjamini and Hochberg over descriptors."
)


def wording_sections(view: View) -> tuple[Section, ...]:
    """Show the finding, parroting, length and endings by axis, phrases, and as details every descriptor."""
    shown, examples = MeasureFigures(view, NAME), Examples(view.answers)
    if not shown.by("length"):
        return ()
    chosen = [name for name in VALUES if shown.get(name)]
    main: list[Block] = [Paragraph(" ".join(_endings(shown)), "finding"), *_differences(shown)]
    parroting = shown.by("parroting_exact", "axis")
    bars = tuple(Bar(shown.axis(f), f.value, f.interval) for f in parroting if f.value is not None)
    if any(bar.value for bar in bars):
        main.append(Bars("parroting", "Responses that repeat the prompt, by axis", "share", bars, _SCALE))
    columns = (shown.axis_column, *_value_columns(shown, chosen))
    main.append(table_of("wording-by-axis", "Wording of responses by axis", columns, shown.axes_and_all("length")))
    kept = [name for name in chosen if shown.by(name, "axis", "descriptor")]
    columns, rows = (*shown.names, *_value_columns(shown, kept)), shown.by("length", "axis", "descriptor")
    note = "Values that no response of the run has are left out."
    every = table_of("wording-by-descriptor", "Wording of responses by descriptor", columns, rows, note, search=True)
    return (
        Section(
            "wording", "Wording of responses", (*main, *repeats_paragraph(view.answers), Paragraph(READING, "note"))
        ),
        *_listed_section(shown, examples),
        *_found_section(shown, examples),
        Section("wording-descriptors", "Wording by descriptor", (every,), detail=True),
        *repeated_section(view),
    )


def _value_columns(shown: MeasureFigures, names: Sequence[str]) -> col.FigureColumns:
    """The values, and the numbers of responses with and without text."""
    values = (shown.beside(name, VALUES[name], MEANS.get(name, "share")) for name in names)
    return (*values, col.n("responses", "Responses"), col.missing(heading="Without text"))


def _endings(shown: MeasureFigures) -> Iterator[str]:
    parroting = shown.get("parroting_exact")
    if parroting and parroting.value is not None:
        yield f"The model repeats its prompt in {percent(parroting.value)} of {parroting.n:,} responses."
    found = {
        "empty": shown.value("share_empty"), "truncated": shown.value("share_truncated"),
        "refused": shown.value("share_refused"), "filtered": shown.value("share_filtered"),
    }  # fmt: skip
    some = [f"{percent(value)} are {name}" for name, value in found.items() if value]
    none = [name for name, value in found.items() if value == 0]
    if some:
        rest = f"; none is {listed(none, 'or')}" if none else ""
        yield f"Of all responses {listed(some)}{rest}."
    elif none:
        yield f"No response is {listed(none, 'or')}."


def _differences(shown: MeasureFigures) -> Iterator[Paragraph]:
    """The values in which single descriptors differ after correction."""
    alike = []
    for name in TESTED:
        figures, whole = shown.by(name, "axis", "descriptor"), shown.get(name)
        middle = (whole and whole.value) or 0.0
        found = sorted((f for f in figures if f.differs), key=lambda f: -abs((f.value or 0) - middle))
        if found:
            named = listed([f"{shown.descriptor(f)} ({_brief(f)})" for f in found[:_NAMED]])
            yield Paragraph(
                f"{VALUES[name]} (all responses: {_brief(whole)}): different for {len(found):,} of "
                f"{len(figures):,} descriptors after correction, most of all {named}."
            )
        elif figures:
            alike.append(VALUES[name].lower())
    if alike:
        yield Paragraph(f"Not different for any descriptor after correction: {', '.join(alike)}.")


def _brief(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "not defined"
    return percent(figure.value) if figure.unit == "share" else f"{show(figure.value, figure.unit)} {figure.unit}"


def _quoted(figure: Figure) -> str:
    return f"“{figure.keys['phrase']}”"


def _listed_section(shown: MeasureFigures, examples: Examples) -> Iterator[Section]:
    """Phrases of the list: how common they are, by axis, and the descriptors that differ in one."""
    figures = shown.by("phrase_share", "phrase")
    present = [f for f in figures if f.value]
    blocks: list[Block] = []
    if present:
        axes = [f.keys["axis"] for f in shown.by("length", "axis")]
        rows = tuple(
            (_quoted(f), tuple(shown.value("phrase_share", {**f.keys, "axis": axis}) for axis in axes)) for f in present
        )
        labels, title = tuple(shown.view.label("axis", axis) for axis in axes), "Responses with a phrase"
        bars = tuple(Bar(_quoted(f), f.value, f.interval) for f in present)
        blocks += [
            Bars("phrases", title, "share", bars, _SCALE),
            HeatMap("phrases-by-axis", f"{title}, by axis", "share", labels, rows, "percent of responses"),
            _by_descriptor(shown, examples),
        ]
    absent = [_quoted(f) for f in figures if not f.value]
    if absent:
        blocks.append(Paragraph(f"No response has {', '.join(absent)}."))
    if figures:
        yield Section("phrases", "Phrases of the list", tuple(blocks))


def _by_descriptor(shown: MeasureFigures, examples: Examples) -> Block:
    tested = shown.by("phrase_share", "axis", "descriptor", "phrase")
    found = sorted((f for f in tested if f.differs), key=lambda f: -(f.value or 0))
    if not found:
        return Paragraph(
            "No descriptor has one of these phrases more or less often than all descriptors in the same templates "
            "(p < 0.05, corrected by Benjamini and Hochberg)."
        )
    shares = {f.keys["phrase"]: f.value for f in shown.by("phrase_share", "phrase")}
    columns: col.FigureColumns = (
        *shown.names,
        col.key("phrase"),
        *col.estimate("share", "Responses with it", "share"),
        ColumnOf("all", "Of all responses", lambda f: shares.get(f.keys["phrase"]), "share"),
        col.adjusted_p("p (Benjamini-Hochberg)"),
        col.n("n", "Responses"),
    )
    more = f" The {_LISTED} with the largest shares of {len(found):,} are listed." if len(found) > _LISTED else ""
    note = (
        f"{len(found):,} of {len(tested):,} descriptors and phrases differ from all responses in the same templates "
        f"(p < 0.05, corrected by Benjamini and Hochberg over descriptors and phrases).{more} {_OPENS}"
    )
    name, lines = "phrases-by-descriptor", partial(examples.with_phrase, count=_EXAMPLES)
    caption = "Descriptors that differ in a phrase"
    return table_of(name, caption, columns, found[:_LISTED], note, details=lines, search=True)


def _found_section(shown: MeasureFigures, examples: Examples) -> Iterator[Section]:
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
    if found:
        block: Block = _found_table(shown, examples, found)
    else:
        said = "No descriptor has a phrase more often than all others do, after correction"
        block = Paragraph(f"{said} ({tested.value or 0:,.0f} pairs tested).")
    yield Section("found-phrases", "Phrases found by descriptor", (block, Paragraph(how, "note")))


def _found_table(shown: MeasureFigures, examples: Examples, found: Sequence[Figure]) -> Table:
    columns: col.FigureColumns = (
        *shown.names,
        col.key("phrase"),
        shown.beside("found_phrase_share", "Responses with it", "share", "share"),
        shown.beside("found_phrase_share_elsewhere", "Of all others", "share", "elsewhere"),
        *col.estimate("log_odds", "Log odds", "log odds"),
        col.adjusted_p("p (Benjamini-Hochberg)"),
        col.n("n", "Responses", base=False),
    )
    descriptors = len({(f.keys["axis"], f.keys["descriptor"]) for f in found})
    more = f" The {_FOUND} with the smallest p-values are listed." if len(found) > _FOUND else ""
    note = f"{len(found):,} phrases of {descriptors:,} descriptors.{more} {_OPENS}"
    lines, caption = partial(examples.with_phrase, count=_EXAMPLES), "Phrases found by descriptor"
    return table_of("found-phrases", caption, columns, found[:_FOUND], note, details=lines, search=True)


def wording_changes(changes: Figures, view: View) -> tuple[Section, ...]:
    """Show phrases, parroting, length and endings of two runs side by side."""

    def either(f: Figure) -> bool:
        return any(changes.value(NAME, run, f.keys) for run in ("first", "second"))

    def heading(f: Figure) -> str:
        return VALUES[f.keys["figure"]]

    phrases = [f for f in changes.by(NAME, "change", "figure", "phrase") if either(f)]
    values = changes.by(NAME, "change", "figure")
    by_axis = changes.by(NAME, "change", "axis", figure="parroting_exact")
    blocks: list[Block] = []
    name, title = "phrase-changes", "Responses with a phrase, A and B"
    if phrases:
        blocks.append(col.change_bars(changes, phrases, _quoted, name, title, "share", scale=_SCALE))
    words = [f for f in values if f.unit != "share difference"]
    shares, axis = [f for f in values if f not in words], MeasureFigures(view, NAME).axis
    tables: tuple[tuple[str, str, Callable[[Figure], str], Sequence[Figure]], ...] = (
        (name, title, _quoted, phrases),
        ("wording-changes", "Parroting and endings of A and B", heading, shares),
        ("length-changes", "Length of responses in A and B", heading, words),
        ("parroting-changes", "Responses that repeat the prompt, A and B", axis, by_axis),
    )
    for name, caption, label, rows in tables:
        if rows:
            columns: col.FigureColumns = (
                ColumnOf("name", "Name", label),
                *col.changes(changes, rows[0].unit.removesuffix(" difference")),
                col.p("p (Holm)"),
                col.n("responses", "Responses or words" if rows is shares else "Responses"),
            )
            blocks.append(table_of(name, caption, columns, rows))
    reading = (
        "Only responses that both runs have are compared, in pairs. p is corrected for the number of phrases or axes "
        "(Holm). Phrases that neither run has are left out. Figures over all axes leave made-up words out."
    )
    return (Section("wording-changes", "Wording of responses in A and B", (*blocks, Paragraph(reading, "note"))),)
