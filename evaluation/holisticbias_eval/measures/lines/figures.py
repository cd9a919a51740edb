"""Figures of the likelihood of a text, with intervals over its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.identity import LINES, align
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
        keys = {"figure": name}
        yield make_figure(NAME, "first", keys, before[i], unit, n, missing, of=name)
        yield make_figure(NAME, "second", keys, after[i], unit, n, missing, of=name)
        if name in PER_TOKEN and not same_tokens:
            yield make_figure(NAME, "change", keys, None, f"{unit} difference", 0, n + missing, of=name)
            continue
        is_log = name == "nats_per_token"
        ends = (low[i], high[i]) if is_log else tuple(before[i] * np.expm1([low[i], high[i]]))
        yield make_figure(
            NAME, "change", keys, after[i] - before[i], f"{unit} difference", n, missing, interval=ends, p_value=p[i],
            of=name,
        )  # fmt: skip
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
