"""Retention: how well a model predicts lines of a text that has nothing to do with bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints, divide
from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures, make_figure
from holisticbias_eval.identity import LINES, align
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns, change_figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.sections import Section
from holisticbias_eval.statistics.groups.items import DRAWS, Items, paired_p, resampled_sums, summarise
from holisticbias_eval.statistics.intervals import t_quantile

NAME = "retention"
UNITS = {"perplexity": "perplexity", "nats_per_token": "nats per token", "byte_perplexity": "perplexity"}
PER_TOKEN = ("perplexity", "nats_per_token")
"""Figures that can be compared between models with one tokenizer only."""


@dataclass(frozen=True, slots=True)
class Means:
    """The figures in the order of ``UNITS`` of sums of nats, tokens and bytes: ``[..., 3]``."""

    values: Floats

    @classmethod
    def of(cls, sums: Floats) -> Means:
        """From sums over lines of nats, tokens and bytes: ``[..., 3]``."""
        nats, per_byte = divide(sums[..., 0], sums[..., 1]), divide(sums[..., 0], sums[..., 2])
        with np.errstate(over="ignore"):
            return cls(np.stack([np.exp(nats), nats, np.exp(per_byte)], axis=-1))


def line_figures(answers: pa.Table, seed: int) -> Iterator[Figure]:
    """Perplexity, nats per token and perplexity per byte over all tokens, with intervals over lines.

    A line without a scored token counts as missing.
    """
    sums = _sums(answers)
    counted = sums[:, 1] > 0
    items = _items(sums[counted])
    n, missing = len(items.sums), int((~counted).sum())
    value = Means.of(items.group_sums()[0]).values
    drawn = Means.of(_drawn(items, seed)).values
    logs = summarise(_logs(value), _logs(drawn), np.full(3, n))
    for i, (name, unit) in enumerate(UNITS.items()):
        ends = (logs.low[i], logs.high[i]) if name == "nats_per_token" else (np.exp(logs.low[i]), np.exp(logs.high[i]))
        of = None if name == "perplexity" else "perplexity"
        yield make_figure(NAME, name, {}, value[i], unit, n, missing, interval=ends, of=of)
    tokens = float(sums[counted, 1].sum())
    yield make_figure(NAME, "tokens", {}, tokens, "count", n, missing, of="perplexity")


def line_changes(first: pa.Table, second: pa.Table, seed: int) -> Iterator[Figure]:
    """The figures of both runs on the lines that both have, their change, and their ratio.

    Figures are named as in ``CHANGE_NAMES``, and ``ratio``; the key ``figure`` names the value. The bootstrap draws a
    line with its scores in both runs; intervals are Student's t on logarithms, and that of a change of perplexity
    multiplies the first run's. The change of a figure per token is null if the runs split the lines into different
    numbers of tokens. Raises ``SelectionError`` without a common line.
    """
    one, other = align(first, second, LINES).rows(first, second)
    sums = np.concatenate([_sums(one), _sums(other)], axis=1)
    known = (sums[:, 1] > 0) & (sums[:, 4] > 0)
    items = _items(sums[known])
    n, missing = len(items.sums), int((~known).sum())
    same_tokens = bool((sums[known, 1] == sums[known, 4]).all())
    total, drawn = items.group_sums()[0], _drawn(items, seed)
    before, after = Means.of(total[:3]).values, Means.of(total[3:]).values
    moved = _logs(Means.of(drawn[:, 3:]).values) - _logs(Means.of(drawn[:, :3]).values)
    size = np.full(3, n)
    logs = summarise(_logs(after) - _logs(before), moved, size)
    p = paired_p(logs, size)
    reach = t_quantile(np.array(n - 1)) * np.sqrt(logs.variance)
    low, high = logs.value - reach, logs.value + reach
    for i, (name, unit) in enumerate(UNITS.items()):
        keys, both = {"figure": name}, (before[i], after[i])
        if name in PER_TOKEN and not same_tokens:
            first, second, _ = change_figures(NAME, name, keys, both, unit, n, missing)
            yield from (first, second)
            yield make_figure(NAME, "change", keys, None, f"{unit} difference", 0, n + missing, of=name)
            continue
        is_log = name == "nats_per_token"
        ends = (low[i], high[i]) if is_log else tuple(before[i] * np.expm1([low[i], high[i]]))
        yield from change_figures(NAME, name, keys, both, unit, n, missing, interval=ends, p_value=p[i])
        if not is_log:
            ends = (np.exp(low[i]), np.exp(high[i]))
            ratio = float(np.exp(logs.value[i]))
            yield make_figure(NAME, "ratio", keys, ratio, "ratio", n, missing, interval=ends, p_value=p[i], of=name)


def _logs(values: Floats) -> Floats:
    """The resampled values: logarithms of perplexities, and nats as they are."""
    found = values.copy()
    with np.errstate(divide="ignore"):
        found[..., [0, 2]] = np.log(values[..., [0, 2]])
    return found


def _sums(answers: pa.Table) -> Floats:
    """Nats, tokens and bytes of each line: shape ``[lines, 3]``."""
    columns = (pc.fill_null(answers[name].cast(pa.float64()), 0.0).to_numpy() for name in ("nll", "tokens", "bytes"))
    return np.stack(list(columns), axis=1)


def _items(sums: Floats) -> Items:
    if not len(sums):
        raise SelectionError("no line has a scored token: there is nothing to measure")
    starts: Ints = np.array([0, len(sums)], np.int64)
    return Items(sums, starts)


def _drawn(items: Items, seed: int) -> Floats:
    return next(resampled_sums(items, DRAWS, np.random.default_rng(seed)))


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
    columns: FigureColumns = (
        ColumnOf("figure", "Figure", lambda f: LABELS[f.name]),
        col.value("value", "Value", "number"),
        col.interval("number"),
        col.n("lines", "Lines"),
    )
    values = [f for name in UNITS if (f := figures.get(NAME, name))]
    table = table_of(NAME, "Likelihood of the text", columns, values)
    return (
        Section(NAME, "Likelihood of the text", (Paragraph(said, "finding"), table, Paragraph(READING, "note"))),
        Section(f"{NAME}-lines", "The least likely lines", (_least_likely(view),), detail=True),
    )


def _least_likely(view: View) -> Table:
    perplexity = view.answers["perplexity"].to_numpy(zero_copy_only=False).astype(float)
    order = np.argsort(np.where(np.isnan(perplexity), -np.inf, perplexity))[::-1][:_MOST]
    rows = view.answers.take(order).to_pylist()
    columns: tuple[ColumnOf[Mapping[str, Any]], ...] = (
        ColumnOf("text", "Line", lambda r: r["text"] if len(r["text"]) <= _LONGEST else f"{r['text'][:_LONGEST]} …"),
        ColumnOf("line", "Number", lambda row: row.get("line"), "count"),
        ColumnOf("perplexity", "Perplexity", lambda row: row["perplexity"], "perplexity"),
    )
    return table_of(f"{NAME}-lines", f"The {len(rows)} lines with the highest perplexity", columns, rows)


def line_change_section(changes: Figures) -> Section:
    """Show the change of the likelihood, on the lines that both runs have."""
    finding = Paragraph(" ".join(_words(changes)), "finding")
    ratio = partial(col.beside, changes, "ratio")
    columns: FigureColumns = (
        ColumnOf("figure", "Figure", lambda f: LABELS[f.keys["figure"]]),
        *col.changes(changes, "number"),
        ratio("B / A", "ratio"),
        ratio("95% interval of B / A", "ratio", "ratio_interval", "interval"),
        col.p(key="p"),
    )
    found = [change for name in UNITS if (change := changes.get(NAME, "change", {"figure": name}))]
    table = table_of(f"{NAME}-changes", "Likelihood of the text in A and B", columns, found, drop_empty=True)
    return Section(f"{NAME}-changes", "Likelihood of neutral text", (finding, table, Paragraph(READING, "note")))


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


class Retention(Measure):
    """The perplexity of a text that has nothing to do with the bias that is measured."""

    info: ClassVar[Info] = Info(
        name=NAME,
        title="Retention",
        summary=(
            "the perplexity of neutral text, line by line: exp of the mean negative log-likelihood of all tokens, per "
            "token and per byte"
        ),
        direction="the lower, the likelier the model finds the text",
        limits=(
            "says what a model has kept of the language of this text, and of nothing else; a text that was in the "
            "training data has a lower perplexity"
        ),
        source="Zhao et al. 2024, section 5, keep to one downstream task; perplexity is the usual cheaper check",
        headline="perplexity",
        by=(),
        better=dict.fromkeys(("perplexity", "nats_per_token", "byte_perplexity"), "lower"),
        quality=True,
        names={
            "perplexity": "Perplexity of neutral text",
            "nats_per_token": "Nats per token of neutral text",
            "byte_perplexity": "Perplexity per byte of neutral text",
        },
        main={"perplexity": {}},
    )
    needs: ClassVar[Needs] = Needs("lines")
    task = "lines"

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed and the resampling."""
        return {"seed": str(settings.seed), "interval": f"bootstrap of lines, {DRAWS:,} draws, expanded percentiles"}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from a table of lines with ``nll``, ``tokens`` and ``bytes``."""
        if not answers.num_rows:
            raise SelectionError("there is no line to measure")
        found: tuple[Figure, ...] = tuple(line_figures(answers, (settings or MeasureSettings()).seed))
        return Measured(found)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the perplexities, and the least likely lines."""
        return line_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change and the ratio of the perplexities, on the lines that both runs have."""
        return tuple(line_changes(first.answers, second.answers, MeasureSettings().seed))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change."""
        return (line_change_section(changes),)
