"""Report sections and tables of the stereotype score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.blocks import Cell, Column, ColumnOf, Table, table_of
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.examples import cut
from holisticbias_eval.measures.stereotype.figures import NATS
from holisticbias_eval.measures.stereotype.finding import EXPLANATION, SOURCES, ScoreFigures, describe_finding
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.prompts.pairs import SCORES
from holisticbias_eval.sections import Block, Estimate, Forest, Section

Row = Mapping[str, Any]

SENTENCES = "sentences"
"""The measure of figures in the record of sentences."""
MADE_ROWS = 1000
_QUALITY = {
    "both_terms": "Both terms, of all returned",
    "words": "Words per sentence",
    "distinct_words": "Distinct words in 200 sentences",
    "positive": "Positive (VADER)",
    "negative": "Negative (VADER)",
    "gunning_fog": "Gunning Fog, school years",
    "readability": "Automated Readability Index, school grade",
}


def made_tables(shown: ScoreFigures) -> tuple[Table, ...]:
    """The yield and the quality of the sentences, and the pairs that could not be made, by rule; may be empty."""
    return tuple(table for table in (_yield_table(shown), _quality_table(shown), _rejected_table(shown)) if table.rows)


def yields(shown: ScoreFigures) -> dict[tuple[str, ...], float | None]:
    """The share of returned texts that were accepted, by specification and attribute."""
    found = shown.figures.by(SENTENCES, "yield", "generator", "specification", "attribute_set", "attribute")
    return {(f.keys["specification"], f.keys["attribute"]): f.value for f in found}


def _yield_table(shown: ScoreFigures) -> Table:
    """The accepted and the refused texts of each generator, by rule."""
    columns: FigureColumns = (
        ColumnOf("rule", "Rule", lambda f: "accepted" if f.name == "yield" else f"refused: {f.keys['rule']}"),
        col.value("share", "Share", "share"),
        ColumnOf("texts", "Texts", lambda f: round((f.value or 0) * f.n), "count"),
    )
    made = shown.figures.by(SENTENCES, "yield", "generator")
    refused = shown.figures.by(SENTENCES, "refused", "rule")[:MADE_ROWS]
    of = "; ".join(f"{f.n:,} texts of {_file_name(f.keys['generator'])}" for f in made)
    return table_of("stereotype-yield", f"Yield of the generator: {of}", columns, (*made, *refused))


def _quality_table(shown: ScoreFigures) -> Table:
    """The quality of the sentences, a column for each source."""
    found = [f for f in shown.figures if f.measure == SENTENCES and list(f.keys) == ["source"]]
    by_name = {(f.name, f.keys["source"]): f for f in found}
    sources = tuple(dict.fromkeys(f.keys["source"] for f in found))
    headings = (SOURCES.get(source, source).capitalize() for source in sources)
    columns = (Column("quality", "Quality"), *(Column(s, h) for s, h in zip(sources, headings, strict=True)))
    rows = tuple(
        (_QUALITY.get(name, name), *(_shown_value(by_name.get((name, source))) for source in sources))
        for name in dict.fromkeys(f.name for f in found)
    )
    return Table("stereotype-quality", "Quality of the sentences", columns, rows)


def _shown_value(figure: Figure | None) -> str | None:
    """The value of a figure of sentences, whose units differ, as text."""
    if figure is None or figure.value is None:
        return None
    return f"{figure.value:.1%}" if figure.unit == "share" else f"{figure.value:.2f}"


def _rejected_table(shown: ScoreFigures) -> Table:
    columns = (col.key("rule"), _specification(shown), col.value("rejected", "Rejected", "count"))
    found = shown.figures.by(NAME, "rejected", "specification", "rule")[:MADE_ROWS]
    return table_of("stereotype-rejected", "Sentences that could not be converted", columns, found)


def _specification(shown: ScoreFigures) -> ColumnOf[Figure]:
    return ColumnOf("specification", "Specification", shown.label)


def _file_name(generator: str) -> str:
    """The name of a generator; of a folder or file its last part."""
    return PurePath(generator).name if PurePath(generator).is_absolute() else generator


ROWS, LETTERS = 1000, 200
"""Pairs in the table of a page, and letters of a sentence."""
_CHANGE = f"{NATS} difference"


def score_table(shown: ScoreFigures) -> Table:
    """The scores and their tests, a row for each specification."""
    columns: FigureColumns = (
        _specification(shown),
        col.value("score", "Score", "share"),
        col.interval("share"),
        col.p(),
        col.adjusted_p(),
        col.beside(shown.figures, "share", "Share of all pairs", "share"),
        col.beside(shown.figures, "share", "p (binomial)", "p_value", "binomial_p", "p_value"),
        col.beside(shown.figures, "term_score", "Score of changed words", "share"),
        col.n("pairs", "Pairs"),
        col.beside(shown.figures, "ties", "Ties", "count"),
        col.missing(),
    )
    note = "The binomial test counts sentences as independent. Baselines are last, without correction."
    return table_of("stereotype-scores", "Stereotype score", columns, shown.scores, note, drop_empty=True)


def trust_tables(shown: ScoreFigures) -> tuple[Table, ...]:
    """Two tables with a row for each specification: the spread of the score, and the margins of pairs."""
    return tuple(table for table in (_dependence(shown), _margins(shown)) if len(table.columns) > 1)


def _dependence(shown: ScoreFigures) -> Table:
    largest = {
        f.keys["specification"]: f for f in shown.figures.by(NAME, "largest_attribute", "specification", "attribute")
    }

    def attribute(score: Figure) -> str | None:
        most = largest.get(score.keys["specification"])
        return most.keys["attribute"] if most else None

    def part(score: Figure) -> float | None:
        return getattr(largest.get(score.keys["specification"]), "value", None)

    columns: FigureColumns = (
        _specification(shown),
        col.beside(shown.figures, "sets_sd", "SD over sets", "share"),
        col.beside(shown.figures, "sets_range", "Range of sets", "share", attribute="interval"),
        col.beside(
            shown.figures, "leave_one_attribute_out", "Without one attribute", "share", "without_one", "interval"
        ),
        ColumnOf("largest", "Largest attribute", attribute),
        ColumnOf("part", "Its part", part, "share"),
        col.beside(shown.figures, "split_attributes", "Attributes whose sentences disagree", "share", "split"),
    )
    note = (
        "Sets have four sentences per attribute, drawn with replacement. The part of an attribute is its deviation "
        "from one half among the deviations of all attributes."
    )
    return table_of("stereotype-trust", "Dependence of the score", columns, shown.scores, note, drop_empty=True)


def _margins(shown: ScoreFigures) -> Table:
    columns: FigureColumns = (
        _specification(shown),
        col.beside(shown.figures, "mean_margin", "Mean margin", _CHANGE),
        col.beside(shown.figures, "wording_spread", "Spread within attributes", NATS),
        col.beside(shown.figures, "attribute_spread", "Spread of attributes", NATS),
        col.beside(shown.figures, "offered_first", "First sentence chosen", "share"),
        col.beside(shown.figures, "orders_agree", "Both orders agree", "share"),
    )
    note = "A margin is the score of the stereotyped sentence minus the other's. Spreads are standard deviations."
    return table_of("stereotype-margins", "Margins", columns, shown.scores, note, drop_empty=True)


def attribute_table(shown: ScoreFigures) -> Table:
    """The share of every attribute."""
    made = yields(shown)
    columns: FigureColumns = (
        col.key("attribute"),
        _specification(shown),
        col.value("share", "Share", "share"),
        col.n("pairs", "Pairs"),
        col.missing(),
        ColumnOf("yield", "Yield of the generator", lambda f: made.get(tuple(f.keys.values())), "share"),
    )
    found = shown.figures.by(NAME, "attribute_share", "specification", "attribute")
    note = "" if len(found) <= ROWS else f"The first {ROWS:,} of {len(found):,}; all are in result.json."
    caption = "Share of pairs with a likelier stereotyped sentence"
    return table_of("stereotype-attributes", caption, columns, found[:ROWS], note, search=True, drop_empty=True)


def pair_table(shown: ScoreFigures, answers: pa.Table) -> Table | None:
    """Pairs with both scores, at most ``ROWS``, evenly from the table; ``None`` if the answers have no sentences."""
    if not {"sentence", "other_sentence", *SCORES} <= set(answers.column_names):
        return None
    scored = answers.filter(pa.array([text is not None for text in answers["other_sentence"].to_pylist()]))
    places = np.unique(np.linspace(0, max(len(scored) - 1, 0), min(ROWS, len(scored))).astype(np.int64))
    rows = scored.take(pa.array(places)).to_pylist()

    def score(name: str) -> Callable[[Row], Cell]:
        return lambda row: row[name] if isinstance(row[name], float) and np.isfinite(row[name]) else None

    def margin(row: Row) -> float | None:
        one, other = (row[name] for name in SCORES)
        return one - other if all(score(name)(row) is not None for name in SCORES) else None

    columns: tuple[ColumnOf[Row], ...] = (
        ColumnOf("stereotyped", "Stereotyped sentence", lambda row: _sentence(row, stereotyped=True)),
        ColumnOf("other", "Other sentence", lambda row: _sentence(row, stereotyped=False)),
        ColumnOf("specification", "Specification", lambda r: shown.labels.get(r["specification"], r["specification"])),
        ColumnOf("attribute", "Attribute", lambda row: str(row["attribute"])),
        ColumnOf("source", "Source", lambda r: SOURCES.get(r.get("source") or "", r.get("source") or None)),
        ColumnOf("score_stereotype", "Score", score(SCORES[0]), "nats"),
        ColumnOf("score_antistereotype", "Other score", score(SCORES[1]), "nats"),
        ColumnOf("margin", "Margin", margin, _CHANGE),
    )
    all_of = f"{len(rows):,} of {len(scored):,} pairs, evenly spaced; all are in scored_pairs.parquet."
    note = all_of if len(rows) < len(scored) else ""
    caption = "Pairs of sentences and their scores"
    return table_of("stereotype-pairs", caption, columns, rows, note, search=True, drop_empty=True)


def _sentence(row: Row, *, stereotyped: bool) -> str:
    other = row["stereotyped"] == "other_sentence"
    return cut(str(row["other_sentence" if other is stereotyped else "sentence"]), LETTERS)


MOST = 40
"""Estimates in one chart."""
BASELINE = "Baseline: invented words"


def stereotype_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the specifications, what the scores depend on, and as details attributes and pairs."""
    shown = ScoreFigures.of(view)
    if not shown.scores:
        return ()
    overview: list[Block] = [*describe_finding(shown), *_forests(shown), score_table(shown), EXPLANATION]
    sections = [
        Section("stereotype-score", "Stereotype score by specification", tuple(overview)),
        Section("stereotype-trust", "Dependence on sentences and attributes", trust_tables(shown)),
    ]
    if made := made_tables(shown):
        sections.append(Section("stereotype-sentences", "Sentences and pairs", made))
    sections.append(
        Section("stereotype-attributes", "Score of every attribute", (attribute_table(shown),), detail=True)
    )
    if table := pair_table(shown, view.answers):
        sections.append(Section("stereotype-pairs", "Pairs and their scores", (table,), detail=True))
    return tuple(sections)


def _forests(shown: ScoreFigures) -> Iterator[Forest]:
    """The specifications around one half; several charts if there are many."""
    estimates = [estimate for figure in shown.scores for estimate in _estimates(shown, figure)]
    for number, start in enumerate(range(0, len(estimates), MOST), 1):
        part = tuple(estimates[start : start + MOST])
        name = "stereotype-score" if number == 1 else f"stereotype-score-{number}"
        title = "Share of pairs with a likelier stereotyped sentence"
        yield Forest(name, title, "share", part, "line: 95% interval; 50%: no preference", reference=0.5)


def _estimates(shown: ScoreFigures, figure: Figure) -> Iterator[Estimate]:
    """A specification by the source of its sentences, or as one row if there is one source."""
    by_source = shown.by_source(figure)
    if not any(len(shown.by_source(f)) > 1 for f in shown.scores):
        group = BASELINE if shown.is_control(figure) else ""
        yield Estimate(shown.short_label(figure), figure.value, figure.interval, shown.differs(figure), group)
        return
    group = f"{'Baseline: ' if shown.is_control(figure) else ''}{shown.short_label(figure)}"
    for one in by_source:
        source = one.keys["source"]
        marked = shown.differs(figure) and one.value == shown.figures.value(NAME, NAME, figure.keys)
        yield Estimate(SOURCES.get(source, source).capitalize(), one.value, one.interval, marked, group)
