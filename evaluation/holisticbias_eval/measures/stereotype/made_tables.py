"""Tables of how the sentences were made: their yield, their quality, and the pairs that could not be made."""

from __future__ import annotations

from pathlib import PurePath

from holisticbias_eval.blocks import Column, Table
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.measures.stereotype.shown import SOURCES, Shown

SENTENCES = "sentences"
"""The measure of figures in the record of sentences."""
ROWS = 1000
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
    refused = shown.figures.by(SENTENCES, "refused", "rule")[:ROWS]
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
    rows = tuple((f.keys["rule"], shown.label(f), f.value) for f in found[:ROWS])
    return Table("stereotype-rejected", "Sentences that could not be converted", columns, rows)


def _file_name(generator: str) -> str:
    """The name of a generator; of a folder or file its last part."""
    return PurePath(generator).name if PurePath(generator).is_absolute() else generator
