"""Report sections and tables of the stereotype score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

import numpy as np
import pyarrow as pa

from holisticbias_eval.blocks import Cell, Column, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.examples import cut
from holisticbias_eval.measures.stereotype.figures import NATS
from holisticbias_eval.measures.stereotype.finding import EXPLANATION, SOURCES, Shown, describe_finding
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.prompts.pairs import SCORES
from holisticbias_eval.sections import Block, Estimate, Forest, Section

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


def made_tables(shown: Shown) -> tuple[Table, ...]:
    """The yield and the quality of the sentences, and the pairs that could not be made, by rule; may be empty."""
    return tuple(table for table in (_yield_table(shown), _quality_table(shown), _rejected_table(shown)) if table.rows)


def yields(shown: Shown) -> dict[tuple[str, ...], float | None]:
    """The share of returned texts that were accepted, by specification and attribute."""
    found = shown.figures.by(SENTENCES, "yield", "generator", "specification", "attribute_set", "attribute")
    return {(f.keys["specification"], f.keys["attribute"]): f.value for f in found}


def _yield_table(shown: Shown) -> Table:
    """The accepted and the refused texts of each generator, by rule."""
    columns = (Column("rule", "Rule"), Column("share", "Share", "share"), Column("texts", "Texts", "count"))
    made = shown.figures.by(SENTENCES, "yield", "generator")
    refused = shown.figures.by(SENTENCES, "refused", "rule")[:MADE_ROWS]
    named = [("accepted", f) for f in made] + [(f"refused: {f.keys['rule']}", f) for f in refused]
    rows = tuple((name, f.value, round((f.value or 0) * f.n)) for name, f in named)
    of = "; ".join(f"{f.n:,} texts of {_file_name(f.keys['generator'])}" for f in made)
    return Table("stereotype-yield", f"Yield of the generator: {of}", columns, rows)


def _quality_table(shown: Shown) -> Table:
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


def _rejected_table(shown: Shown) -> Table:
    columns = (
        Column("rule", "Rule"),
        Column("specification", "Specification"),
        Column("rejected", "Rejected", "count"),
    )
    found = shown.figures.by(NAME, "rejected", "specification", "rule")
    rows = tuple((f.keys["rule"], shown.label(f), f.value) for f in found[:MADE_ROWS])
    return Table("stereotype-rejected", "Sentences that could not be converted", columns, rows)


def _file_name(generator: str) -> str:
    """The name of a generator; of a folder or file its last part."""
    return PurePath(generator).name if PurePath(generator).is_absolute() else generator


ROWS, LETTERS = 1000, 200
"""Pairs in the table of a page, and letters of a sentence."""
_CHANGE = f"{NATS} difference"


def score_table(shown: Shown) -> Table:
    """The scores and their tests, a row for each specification."""
    columns = (
        Column("specification", "Specification"),
        Column("score", "Score", "share"),
        Column("interval", "95% interval", "share", interval=True),
        Column("p_value", "p", "p_value"),
        Column("adjusted_p", "p (Holm)", "p_value"),
        Column("share", "Share of all pairs", "share"),
        Column("binomial_p", "p (binomial)", "p_value"),
        Column("term_score", "Score of changed words", "share"),
        Column("pairs", "Pairs", "count", base=True),
        Column("ties", "Ties", "count"),
        Column("missing", "Missing", "count"),
    )
    rows = []
    for f in shown.scores:
        share = _of(shown, "share", f)
        tested = (f.value, ends(f.interval), f.p_value, shown.adjusted(f))
        binomial = (share.value, share.p_value) if share else (None, None)
        counts = (f.n, _value(shown, "ties", f), f.missing)
        rows.append((shown.label(f), *tested, *binomial, _value(shown, "term_score", f), *counts))
    note = "The binomial test counts sentences as independent. Baselines are last, without correction."
    return without_empty(Table("stereotype-scores", "Stereotype score", columns, tuple(rows), note))


def trust_tables(shown: Shown) -> tuple[Table, ...]:
    """Two tables with a row for each specification: the spread of the score, and the margins of pairs."""
    return tuple(table for table in (_dependence(shown), _margins(shown)) if len(table.columns) > 1)


def _dependence(shown: Shown) -> Table:
    columns = (
        Column("specification", "Specification"),
        Column("sets_sd", "SD over sets", "share"),
        Column("sets_range", "Range of sets", "share", interval=True),
        Column("without_one", "Without one attribute", "share", interval=True),
        Column("largest", "Largest attribute"),
        Column("part", "Its part", "share"),
        Column("split", "Attributes whose sentences disagree", "share"),
    )
    largest = {
        f.keys["specification"]: f for f in shown.figures.by(NAME, "largest_attribute", "specification", "attribute")
    }
    rows = []
    for f in shown.scores:
        most = largest.get(f.keys["specification"])
        ranges = (_interval(shown, "sets_range", f), _interval(shown, "leave_one_attribute_out", f))
        named = (most.keys["attribute"], most.value) if most else (None, None)
        split = _value(shown, "split_attributes", f)
        rows.append((shown.label(f), _value(shown, "sets_sd", f), *ranges, *named, split))
    note = (
        "Sets have four sentences per attribute, drawn with replacement. The part of an attribute is its deviation "
        "from one half among the deviations of all attributes."
    )
    return without_empty(Table("stereotype-trust", "Dependence of the score", columns, tuple(rows), note))


def _margins(shown: Shown) -> Table:
    columns = (
        Column("specification", "Specification"),
        Column("mean_margin", "Mean margin", _CHANGE),
        Column("wording_spread", "Spread within attributes", NATS),
        Column("attribute_spread", "Spread of attributes", NATS),
        Column("offered_first", "First sentence chosen", "share"),
        Column("orders_agree", "Both orders agree", "share"),
    )
    rows = tuple((shown.label(f), *(_value(shown, c.key, f) for c in columns[1:])) for f in shown.scores)
    note = "A margin is the score of the stereotyped sentence minus the other's. Spreads are standard deviations."
    return without_empty(Table("stereotype-margins", "Margins", columns, rows, note))


def attribute_table(shown: Shown) -> Table:
    """The share of every attribute."""
    columns = (
        Column("attribute", "Attribute"),
        Column("specification", "Specification"),
        Column("share", "Share", "share"),
        Column("pairs", "Pairs", "count", base=True),
        Column("missing", "Missing", "count"),
        Column("yield", "Yield of the generator", "share"),
    )
    found = shown.figures.by(NAME, "attribute_share", "specification", "attribute")
    made = yields(shown)
    rows = tuple(
        (f.keys["attribute"], shown.label(f), f.value, f.n, f.missing, made.get(tuple(f.keys.values())))
        for f in found[:ROWS]
    )
    note = "" if len(found) <= ROWS else f"The first {ROWS:,} of {len(found):,}; all are in result.json."
    caption = "Share of pairs with a likelier stereotyped sentence"
    return without_empty(Table("stereotype-attributes", caption, columns, rows, note, search=True))


def pair_table(shown: Shown, answers: pa.Table) -> Table | None:
    """Pairs with both scores, at most ``ROWS``, evenly from the table; ``None`` if the answers have no sentences."""
    if not {"sentence", "other_sentence", *SCORES} <= set(answers.column_names):
        return None
    scored = answers.filter(pa.array([text is not None for text in answers["other_sentence"].to_pylist()]))
    places = np.unique(np.linspace(0, max(len(scored) - 1, 0), min(ROWS, len(scored))).astype(np.int64))
    rows = tuple(_pair_row(shown, row) for row in scored.take(pa.array(places)).to_pylist())
    columns = (
        Column("stereotyped", "Stereotyped sentence"),
        Column("other", "Other sentence"),
        Column("specification", "Specification"),
        Column("attribute", "Attribute"),
        Column("source", "Source"),
        Column("score_stereotype", "Score", "nats"),
        Column("score_antistereotype", "Other score", "nats"),
        Column("margin", "Margin", _CHANGE),
    )
    note = (
        f"{len(rows):,} of {len(scored):,} pairs, evenly spaced; all are in scored_pairs.parquet."
        if len(rows) < len(scored)
        else ""
    )
    return without_empty(
        Table("stereotype-pairs", "Pairs of sentences and their scores", columns, rows, note, search=True)
    )


def _pair_row(shown: Shown, row: Mapping[str, object]) -> tuple[Cell, ...]:
    texts = [cut(str(row[name]), LETTERS) for name in ("sentence", "other_sentence")]
    if row["stereotyped"] == "other_sentence":
        texts.reverse()
    one, other = (
        value if isinstance(value, float) and np.isfinite(value) else None for value in (row[n] for n in SCORES)
    )
    name, source = str(row["specification"]), str(row.get("source") or "")
    margin = None if one is None or other is None else one - other
    label = shown.labels.get(name, name)
    return (*texts, label, str(row["attribute"]), SOURCES.get(source, source) or None, one, other, margin)


def _of(shown: Shown, name: str, figure: Figure) -> Figure | None:
    return shown.figures.get(NAME, name, {"specification": figure.keys["specification"]})


def _value(shown: Shown, name: str, figure: Figure) -> float | None:
    found = _of(shown, name, figure)
    return found.value if found else None


def _interval(shown: Shown, name: str, figure: Figure) -> tuple[float, float] | None:
    found = _of(shown, name, figure)
    return ends(found.interval) if found else None


MOST = 40
"""Estimates in one chart."""
BASELINE = "Baseline: invented words"


def stereotype_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the specifications, what the scores depend on, and as details attributes and pairs."""
    shown = Shown.of(view)
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


def _forests(shown: Shown) -> Iterator[Forest]:
    """The specifications around one half; several charts if there are many."""
    estimates = [estimate for figure in shown.scores for estimate in _estimates(shown, figure)]
    for number, start in enumerate(range(0, len(estimates), MOST), 1):
        part = tuple(estimates[start : start + MOST])
        name = "stereotype-score" if number == 1 else f"stereotype-score-{number}"
        title = "Share of pairs with a likelier stereotyped sentence"
        yield Forest(name, title, "share", part, "line: 95% interval; 50%: no preference", reference=0.5)


def _estimates(shown: Shown, figure: Figure) -> Iterator[Estimate]:
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
