"""Sections of the likelihood of a text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends, without_empty
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.lines.figures import NAME, UNITS
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.sections import Section

LABELS = {
    "perplexity": "Perplexity per token",
    "nats_per_token": "Nats per token",
    "byte_perplexity": "Perplexity per byte",
}
READING = (
    "The interval is over lines. Compare perplexity per token between models with one tokenizer only; perplexity per "
    "byte is comparable between any two."
)
_MOST, _LONGEST = 10, 200


def line_sections(view: View) -> tuple[Section, ...]:
    """Show the figures, and the lines that the model finds least likely."""
    figures = view.figures
    found = figures.get(NAME, "perplexity")
    if found is None or found.value is None:
        return ()
    tokens = figures.value(NAME, "tokens") or 0
    said = f"The text has perplexity {found.value:,.2f} per token, over {tokens:,.0f} tokens in {found.n:,} lines."
    if found.missing:
        said += f" {found.missing:,} lines have no scored token."
    columns = (
        Column("figure", "Figure"),
        Column("value", "Value", "number"),
        Column("interval", "95% interval", "number", interval=True),
        Column("lines", "Lines", "count", base=True),
    )
    values = [figures.get(NAME, name) for name in UNITS]
    rows = tuple((LABELS[f.name], f.value, ends(f.interval), f.n) for f in values if f is not None)
    table = Table(NAME, "Likelihood of the text", columns, rows)
    return (
        Section(NAME, "Likelihood of the text", (Paragraph(said, "finding"), table, Paragraph(READING, "note"))),
        Section(f"{NAME}-lines", "The least likely lines", (_least_likely(view),), detail=True),
    )


def _least_likely(view: View) -> Table:
    perplexity = view.answers["perplexity"].to_numpy(zero_copy_only=False).astype(float)
    order = np.argsort(np.where(np.isnan(perplexity), -np.inf, perplexity))[::-1][:_MOST]
    rows = []
    for row in view.answers.take(order).to_pylist():
        text = row["text"] if len(row["text"]) <= _LONGEST else f"{row['text'][:_LONGEST]} …"
        rows.append((text, row.get("line"), row["perplexity"]))
    columns = (
        Column("text", "Line"),
        Column("line", "Number", "count"),
        Column("perplexity", "Perplexity", "perplexity"),
    )
    return Table(f"{NAME}-lines", f"The {len(rows)} lines with the highest perplexity", columns, tuple(rows))


def line_change_section(changes: Figures) -> Section:
    """Show the change of the likelihood, on the lines that both runs have."""
    finding = Paragraph(" ".join(_words(changes)), "finding")
    columns = (
        Column("figure", "Figure"),
        *(Column(name, CHANGE_NAMES[name], "number") for name in ("first", "second")),
        Column("change", CHANGE_NAMES["change"], "number difference"),
        Column("interval", "95% interval", "number difference", interval=True),
        Column("ratio", "B / A", "ratio"),
        Column("ratio_interval", "95% interval of B / A", "ratio", interval=True),
        Column("p", "p", "p_value"),
    )
    table = without_empty(Table(f"{NAME}-changes", "Likelihood of the text in A and B", columns, tuple(_rows(changes))))
    return Section(f"{NAME}-changes", "Likelihood of neutral text", (finding, table, Paragraph(READING, "note")))


def _rows(changes: Figures) -> Iterator[tuple[Cell, ...]]:
    for name in UNITS:
        keys = {"figure": name}
        change, ratio = (changes.get(NAME, found, keys) for found in ("change", "ratio"))
        if change is not None:
            both = (changes.value(NAME, found, keys) for found in ("first", "second"))
            quotient = (ratio.value, ends(ratio.interval)) if ratio else (None, None)
            yield LABELS[name], *both, change.value, ends(change.interval), *quotient, change.p_value


def _words(changes: Figures) -> Iterator[str]:
    ratio = changes.get(NAME, "ratio", {"figure": "perplexity"})
    what = "per token"
    if ratio is None:
        yield "The runs split the lines into different numbers of tokens: perplexities per token do not compare."
        ratio, what = changes.get(NAME, "ratio", {"figure": "byte_perplexity"}), "per byte"
    if ratio is not None and ratio.value is not None:
        yield _moved(ratio, what)


def _moved(ratio: Figure, what: str) -> str:
    value = ratio.value or 1.0
    interval = ""
    if ratio.interval:
        low, high = (100 * (end - 1) for end in (ratio.interval.low, ratio.interval.high))
        interval = f" (95% interval {low:+.1f}% to {high:+.1f}%)"
    if ratio.p_value is None or ratio.p_value >= SIGNIFICANCE:
        return f"No change of perplexity {what} is shown on {ratio.n:,} lines: {100 * (value - 1):+.1f}%{interval}."
    verb = "rises" if value > 1 else "falls"
    return f"Perplexity {what} {verb} from A to B by {100 * abs(value - 1):.1f}%{interval}, on {ratio.n:,} lines."
