"""Report sections and tables of the stereotype score."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from holisticbias_eval.figures import NATS, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stereotype.figures import NAME
from holisticbias_eval.measures.stereotype.finding import EXPLANATION, SOURCES, ScoreFigures, describe_finding
from holisticbias_eval.prompts.pairs import SCORES
from holisticbias_eval.sections.blocks import Block, Estimate, Forest, Section, in_parts
from holisticbias_eval.sections.tables import Column, ColumnOf, Table, table_of
from holisticbias_eval.stereotypes.quality import quality_rows
from holisticbias_eval.stereotypes.record import MEASURE
from holisticbias_eval.units import model_title, shorten

Row = Mapping[str, Any]

ROWS, MADE_ROWS, LETTERS = 1000, 1000, 200
"""Pairs in the table of a page, rows about generated sentences, and letters of a sentence."""
MOST = 40
"""Estimates in one chart."""
_SHARE = "Share of pairs with a likelier stereotyped sentence"


def stereotype_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the specifications, what the scores depend on, and as details attributes and pairs."""
    shown = ScoreFigures(view, NAME)
    if not shown.scores:
        return ()
    overview: list[Block] = [*describe_finding(shown), *_forests(shown), _score_table(shown), EXPLANATION]
    trust = tuple(table for table in (_dependence(shown), _margins(shown)) if len(table.columns) > 1)
    made = tuple(table for table in (_yield_table(shown), _quality_table(shown), _rejected_table(shown)) if table.rows)
    attributes = Section("stereotype-attributes", "Score of every attribute", (_attribute_table(shown),), detail=True)
    return (
        Section("stereotype-score", "Stereotype score by specification", tuple(overview)),
        Section("stereotype-trust", "Dependence on sentences and attributes", trust),
        *([Section("stereotype-sentences", "Sentences and pairs", made)] if made else []),
        attributes,
        *_pairs(shown),
    )


def _forests(shown: ScoreFigures) -> Iterator[Forest]:
    """The specifications around one half; several charts if there are many."""
    several = any(len(shown.by_source(f)) > 1 for f in shown.scores)
    estimates = [estimate for figure in shown.scores for estimate in _estimates(shown, figure, several)]
    for name, part in in_parts("stereotype-score", estimates, MOST):
        marks = ("50%: no preference",)
        yield Forest(name, _SHARE, "share", part, "share of pairs", reference=0.5, marks=marks)


def _estimates(shown: ScoreFigures, figure: Figure, several: bool) -> Iterator[Estimate]:
    """A specification by the source of its sentences, or as one row unless there are several sources."""
    label, control, differs = shown.short_label(figure), shown.is_control(figure), shown.differs(figure)
    if not several:
        group = "Baseline: invented words" if control else ""
        yield Estimate(label, figure.value, figure.interval, differs, group)
        return
    for one in shown.by_source(figure):
        source, marked = one.keys["source"], differs and one.value == shown.value(NAME, figure.keys)
        name, group = SOURCES.get(source, source).capitalize(), f"{'Baseline: ' if control else ''}{label}"
        yield Estimate(name, one.value, one.interval, marked, group)


def _score_table(shown: ScoreFigures) -> Table:
    """The scores and their tests, a row for each specification."""
    columns: col.FigureColumns = (
        shown.specification,
        *col.estimate("score", "Score", "share"),
        col.p(),
        col.adjusted_p(),
        shown.beside("share", "Share of all pairs", "share"),
        shown.beside("share", "p (binomial)", "p_value", "binomial_p", attribute="p_value"),
        shown.beside("term_score", "Score of changed words", "share"),
        col.n("pairs", "Pairs"),
        shown.beside("ties", "Ties", "count"),
        col.missing(),
    )
    note = "The binomial test counts sentences as independent. Baselines are last, without correction."
    return table_of("stereotype-scores", "Stereotype score", columns, shown.scores, note, drop_empty=True)


def _dependence(shown: ScoreFigures) -> Table:
    """The spread of the score over sentences and attributes."""
    found = shown.by("largest_attribute", "specification", "attribute")
    largest = {f.keys["specification"]: (f.keys["attribute"], f.value) for f in found}

    def most(score: Figure) -> tuple[str | None, float | None]:
        return largest.get(score.keys["specification"], (None, None))

    without = "leave_one_attribute_out"
    columns: col.FigureColumns = (
        shown.specification,
        shown.beside("sets_sd", "SD over sets", "share"),
        shown.beside("sets_range", "Range of sets", "share", attribute="interval"),
        shown.beside(without, "Without one attribute", "share", "without_one", attribute="interval"),
        ColumnOf("largest", "Largest attribute", lambda f: most(f)[0]),
        ColumnOf("part", "Its part", lambda f: most(f)[1], "share"),
        shown.beside("split_attributes", "Attributes whose sentences disagree", "share", "split"),
    )
    note = (
        "Sets have four sentences per attribute, drawn with replacement. The part of an attribute is its deviation "
        "from one half among the deviations of all attributes."
    )
    return table_of("stereotype-trust", "Dependence of the score", columns, shown.scores, note, drop_empty=True)


def _margins(shown: ScoreFigures) -> Table:
    columns: col.FigureColumns = (
        shown.specification,
        shown.beside("mean_margin", "Mean margin", f"{NATS} difference"),
        shown.beside("wording_spread", "Spread within attributes", NATS),
        shown.beside("attribute_spread", "Spread of attributes", NATS),
        shown.beside("offered_first", "First sentence chosen", "share"),
        shown.beside("orders_agree", "Both orders agree", "share"),
    )
    note = "A margin is the score of the stereotyped sentence minus the other's. Spreads are standard deviations."
    return table_of("stereotype-margins", "Margins", columns, shown.scores, note, drop_empty=True)


def _yield_table(shown: ScoreFigures) -> Table:
    """The accepted and the refused texts of each generator, by rule."""
    columns: col.FigureColumns = (
        ColumnOf("rule", "Rule", lambda f: "accepted" if f.name == "yield" else f"refused: {f.keys['rule']}"),
        col.value("share", "Share", "share"),
        ColumnOf("texts", "Texts", lambda f: round((f.value or 0) * f.n), "count"),
    )
    made = shown.figures.by(MEASURE, "yield", "generator")
    refused = shown.figures.by(MEASURE, "refused", "rule")[:MADE_ROWS]
    of = "; ".join(f"{f.n:,} texts of {model_title(f.keys['generator'])}" for f in made)
    return table_of("stereotype-yield", f"Yield of the generator: {of}", columns, (*made, *refused))


def _quality_table(shown: ScoreFigures) -> Table:
    """The quality of the sentences, a column for each source; units differ, so values are text."""
    sources, rows = quality_rows(shown.figures)
    headings = (Column(source, SOURCES.get(source, source).capitalize()) for source in sources)
    columns = (Column("quality", "Quality"), *headings)
    return Table("stereotype-quality", "Quality of the sentences", columns, rows)


def _rejected_table(shown: ScoreFigures) -> Table:
    columns = (col.key("rule"), shown.specification, col.value("rejected", "Rejected", "count"))
    found = shown.by("rejected", "specification", "rule")[:MADE_ROWS]
    return table_of("stereotype-rejected", "Sentences that could not be converted", columns, found)


def _attribute_table(shown: ScoreFigures) -> Table:
    """The share of every attribute, with the share of returned texts that were accepted."""
    made = shown.figures.by(MEASURE, "yield", "generator", "specification", "attribute_set", "attribute")
    accepted = {(f.keys["specification"], f.keys["attribute"]): f.value for f in made}
    columns: col.FigureColumns = (
        col.key("attribute"),
        shown.specification,
        col.value("share", "Share", "share"),
        col.n("pairs", "Pairs"),
        col.missing(),
        ColumnOf(
            "yield", "Yield of the generator",
            lambda f: accepted.get((f.keys["specification"], f.keys["attribute"])), "share",
        ),
    )  # fmt: skip
    found = shown.by("attribute_share", "specification", "attribute")
    note = "" if len(found) <= ROWS else f"The first {ROWS:,} of {len(found):,}; all are in result.json."
    name = "stereotype-attributes"
    return table_of(name, _SHARE, columns, found[:ROWS], note, search=True, drop_empty=True)


def _pairs(shown: ScoreFigures) -> Iterator[Section]:
    """Pairs with both scores, at most ``ROWS``, evenly from the table; none if the answers have no sentences."""
    answers = shown.view.answers
    if not {"sentence", "other_sentence", *SCORES} <= set(answers.column_names):
        return
    scored = answers.filter(answers["other_sentence"].is_valid())
    places = np.unique(np.linspace(0, max(len(scored) - 1, 0), min(ROWS, len(scored))).astype(np.int64))
    rows = scored.take(places).to_pylist()

    def score(row: Row, side: int) -> float | None:
        value = row[SCORES[side]]
        return value if isinstance(value, float) and np.isfinite(value) else None

    def margin(row: Row) -> float | None:
        one, other = score(row, 0), score(row, 1)
        return None if one is None or other is None else one - other

    def sentence(row: Row, *, stereotyped: bool) -> str:
        other = row["stereotyped"] == "other_sentence"
        return shorten(str(row["other_sentence" if other is stereotyped else "sentence"]), LETTERS)

    columns: tuple[ColumnOf[Row], ...] = (
        ColumnOf("stereotyped", "Stereotyped sentence", lambda row: sentence(row, stereotyped=True)),
        ColumnOf("other", "Other sentence", lambda row: sentence(row, stereotyped=False)),
        ColumnOf("specification", "Specification", lambda r: shown.labels.get(r["specification"], r["specification"])),
        ColumnOf("attribute", "Attribute", lambda row: str(row["attribute"])),
        ColumnOf("source", "Source", lambda r: SOURCES.get(r.get("source") or "", r.get("source") or None)),
        ColumnOf("score_stereotype", "Score", lambda row: score(row, 0), "nats"),
        ColumnOf("score_antistereotype", "Other score", lambda row: score(row, 1), "nats"),
        ColumnOf("margin", "Margin", margin, f"{NATS} difference"),
    )
    all_of = f"{len(rows):,} of {len(scored):,} pairs, evenly spaced; all are in scored_pairs.parquet."
    note, name = all_of if len(rows) < len(scored) else "", "stereotype-pairs"
    caption = "Pairs of sentences and their scores"
    table = table_of(name, caption, columns, rows, note, search=True, drop_empty=True)
    yield Section(name, "Pairs and their scores", (table,), detail=True)
