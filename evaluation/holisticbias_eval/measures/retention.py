"""Retention: how well a model predicts lines of a text that has nothing to do with bias."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.identity import LINES, align
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import NUMBER, ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.statistics.cells import floats
from holisticbias_eval.statistics.groups.items import DRAWS, paired_p, resample
from holisticbias_eval.statistics.intervals import t_quantile
from holisticbias_eval.units import shorten, show

NAME = "retention"
UNITS = {"perplexity": "perplexity", "nats_per_token": "nats per token", "byte_perplexity": "perplexity"}
IS_LOG = "nats_per_token"
"""The figure whose interval is not on a logarithmic scale."""
PER_TOKEN = ("perplexity", "nats_per_token")
"""Figures that can be compared between models with one tokenizer only."""


def line_figures(answers: pa.Table, seed: int | None) -> Iterator[Figure]:
    """Perplexity, nats per token and perplexity per byte over all tokens, with intervals over lines if there is a seed.

    A line without a scored token counts as missing.
    """
    sums = _sums(answers)
    counted = sums[:, 1] > 0
    known, missing = _known(sums, counted), (~counted).sum()
    value, logs = _means(known.sum(axis=0)), resample(known, _logs, seed)
    for i, (name, unit) in enumerate(UNITS.items()):
        ends = logs.ends(i) if name == IS_LOG else (np.exp(logs.low[i]), np.exp(logs.high[i]))
        of = None if name == "perplexity" else "perplexity"
        yield make_figure(NAME, name, {}, value[i], unit, len(known), missing, interval=ends, of=of)
    yield make_figure(NAME, "tokens", {}, known[:, 1].sum(), "count", len(known), missing, of="perplexity")


def line_changes(first: pa.Table, second: pa.Table, seed: int) -> Iterator[Figure]:
    """The figures of both runs on the lines that both have, their change, and their ratio.

    Figures are named as in ``CHANGE_NAMES``, and ``ratio``; the key ``figure`` names the value. The bootstrap draws a
    line with its scores in both runs; intervals are Student's t on logarithms, and that of a change of perplexity
    multiplies the first run's. The change of a figure per token is null if the runs split the lines into different
    numbers of tokens. Raises ``SelectionError`` without a common line.
    """
    tables = align(first, second, LINES).rows(first, second)
    sums = np.concatenate([_sums(table) for table in tables], axis=1)
    counted = (sums[:, 1] > 0) & (sums[:, 4] > 0)
    known = _known(sums, counted)
    n, missing = len(known), int((~counted).sum())
    same_tokens = bool((known[:, 1] == known[:, 4]).all())
    before, after = (_means(known[:, part].sum(axis=0)) for part in (slice(3), slice(3, 6)))
    logs = resample(known, lambda sums: _logs(sums[..., 3:]) - _logs(sums[..., :3]), seed)
    p = paired_p(logs, np.full(3, n))
    reach = t_quantile(np.array(n - 1)) * np.sqrt(logs.variance)
    low, high = logs.value - reach, logs.value + reach
    for i, (name, unit) in enumerate(UNITS.items()):
        keys, both = {"figure": name}, (before[i], after[i])
        if name in PER_TOKEN and not same_tokens:
            yield from list(col.change_figures(NAME, name, keys, both, unit, n, missing))[:2]
            yield make_figure(NAME, "change", keys, None, f"{unit} difference", 0, n + missing, of=name)
            continue
        ends = (low[i], high[i]) if name == IS_LOG else tuple(before[i] * np.expm1([low[i], high[i]]))
        yield from col.change_figures(NAME, name, keys, both, unit, n, missing, interval=ends, p_value=p[i])
        if name != IS_LOG:
            ends, ratio = (np.exp(low[i]), np.exp(high[i])), float(np.exp(logs.value[i]))
            yield make_figure(NAME, "ratio", keys, ratio, "ratio", n, missing, interval=ends, p_value=p[i], of=name)


def _means(sums: Floats) -> Floats:
    """The figures in the order of ``UNITS``, from sums over lines of nats, tokens and bytes: ``[..., 3]`` both."""
    nats, per_byte = divide(sums[..., 0], sums[..., 1]), divide(sums[..., 0], sums[..., 2])
    with np.errstate(over="ignore"):
        return np.stack([np.exp(nats), nats, np.exp(per_byte)], axis=-1)


def _logs(sums: Floats) -> Floats:
    """The resampled values: logarithms of perplexities, and nats as they are."""
    found = _means(sums)
    with np.errstate(divide="ignore"):
        found[..., [0, 2]] = np.log(found[..., [0, 2]])
    return found


def _sums(answers: pa.Table) -> Floats:
    """Nats, tokens and bytes of each line: shape ``[lines, 3]``."""
    columns = (pc.fill_null(answers[name].cast(pa.float64()), 0.0).to_numpy() for name in ("nll", "tokens", "bytes"))
    return np.stack(list(columns), axis=1)


def _known(sums: Floats, counted: Bools) -> Floats:
    if not counted.any():
        raise SelectionError("no line has a scored token: there is nothing to measure")
    return sums[counted]


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


def _least_likely(view: View) -> Table:
    perplexity = floats(view.answers["perplexity"])
    known = np.flatnonzero(~np.isnan(perplexity))
    order = known[np.argsort(perplexity[known])][::-1][:_MOST]
    rows = view.answers.take(order).to_pylist()
    columns: tuple[ColumnOf[Mapping[str, Any]], ...] = (
        ColumnOf("text", "Line", lambda row: shorten(row["text"], _LONGEST)),
        ColumnOf("line", "Number", lambda row: row.get("line"), "count"),
        ColumnOf("perplexity", "Perplexity", lambda row: row["perplexity"], "perplexity"),
    )
    return table_of(f"{NAME}-lines", f"The {len(rows)} lines with the highest perplexity", columns, rows)


def _words(changes: Figures) -> Iterator[str]:
    ratio, what = changes.get(NAME, "ratio", {"figure": "perplexity"}), "per token"
    if ratio is None:
        yield "The runs split the lines into different numbers of tokens: perplexities per token do not compare."
        ratio, what = changes.get(NAME, "ratio", {"figure": "byte_perplexity"}), "per byte"
    if ratio is None or ratio.value is None:
        return
    of, interval = f"on {ratio.n:,} lines", ""
    if ratio.interval:
        ends = (ratio.interval.low - 1, ratio.interval.high - 1)
        interval = f" (95% interval {show(ends, 'relative change')})"
    change = f"{show(ratio.value - 1, 'relative change')}{interval}"
    if not ratio.is_significant:
        yield f"No change of perplexity {what} is shown {of}: {change}."
    else:
        verb = "rises" if ratio.value > 1 else "falls"
        yield f"Perplexity {what} {verb} from A to B {of}: {change}."


class Retention(Measure):
    """The perplexity of a text that has nothing to do with the bias that is measured."""

    info = Info(
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
        better=dict.fromkeys(UNITS, "lower"),
        quality=True,
        retention=True,
        names={
            "perplexity": "Perplexity of neutral text",
            "nats_per_token": "Nats per token of neutral text",
            "byte_perplexity": "Perplexity per byte of neutral text",
        },
        main={"perplexity": {}},
    )
    needs = Needs("lines", said="likelihoods of lines of a text of", compared="scoring")
    task = "lines"

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed and the resampling."""
        return {"seed": str(settings.seed), "interval": f"bootstrap of lines, {DRAWS:,} draws, expanded percentiles"}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from a table of lines with ``nll``, ``tokens`` and ``bytes``."""
        return Measured(tuple(line_figures(answers, None if settings is None else settings.seed)))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the perplexities, and the least likely lines."""
        figures, found = view.figures, view.figures.get(NAME, "perplexity")
        if found is None or found.value is None:
            return ()
        tokens = figures.value(NAME, "tokens") or 0
        said = f"The text has perplexity {show(found.value, found.unit)} per token, "
        said += f"over {tokens:,.0f} tokens in {found.n:,} lines."
        if found.missing:
            said += f" {found.missing:,} lines have no scored token."
        columns: col.FigureColumns = (
            ColumnOf("figure", "Figure", lambda f: LABELS[f.name]),
            *col.estimate("value", "Value", NUMBER),
            col.n("lines", "Lines"),
        )
        values = [f for name in UNITS if (f := figures.get(NAME, name))]
        table = table_of(NAME, "Likelihood of the text", columns, values, unit=lambda f: f.unit)
        return (
            Section(NAME, "Likelihood of the text", (Paragraph(said, "finding"), table, Paragraph(READING, "note"))),
            Section(f"{NAME}-lines", "The least likely lines", (_least_likely(view),), detail=True),
        )

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change and the ratio of the perplexities, on the lines that both runs have."""
        return tuple(line_changes(first.answers, second.answers, MeasureSettings().seed))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change of the likelihood, on the lines that both runs have."""
        ratio = partial(col.beside, changes, "ratio")
        columns: col.FigureColumns = (
            ColumnOf("figure", "Figure", lambda f: LABELS[f.keys["figure"]]),
            *col.changes(changes, NUMBER),
            ratio("B / A", "ratio"),
            ratio("95% interval of B / A", "ratio", "ratio_interval", "interval"),
            col.p(key="p"),
        )
        found = [change for name in UNITS if (change := changes.get(NAME, "change", {"figure": name}))]
        caption = "Likelihood of the text in A and B"
        table = table_of(
            f"{NAME}-changes", caption, columns, found, drop_empty=True, unit=lambda f: UNITS[f.keys["figure"]]
        )
        finding, note = Paragraph(" ".join(_words(changes)), "finding"), Paragraph(READING, "note")
        return (Section(f"{NAME}-changes", "Likelihood of neutral text", (finding, table, note)),)
