"""The tables of the stereotype score in a report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from holisticbias_eval.blocks import Cell, Column, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.examples import cut
from holisticbias_eval.measures.stereotype.made_tables import yields
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.measures.stereotype.shown import SOURCES, Shown
from holisticbias_eval.measures.stereotype.trust import NATS
from holisticbias_eval.prompts.pairs import SCORES

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
