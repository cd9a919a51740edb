"""Shares of pairs that differ, with what stands beside them, as a table in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from holisticbias_eval.measures.records import Interval, ShareTrust, Trust
from holisticbias_eval.run import LikelihoodBiasResult, Share

COLUMNS = ("descriptors", "pairs", "p < 0.05", "95 % interval", "if nothing differed", "Holm", "paired", "large")


def print_shares(bias: LikelihoodBiasResult, trust: Trust | None, title: str) -> None:
    """Print Likelihood Bias by axis and by template."""
    console = Console()
    beside = trust or None
    for name, shares, trusted in (
        ("axis", bias.by_axis, beside.by_axis if beside else ()),
        ("template", bias.by_template, beside.by_template if beside else ()),
    ):
        table = Table(title=f"{title} by {name}")
        table.add_column(name)
        for column in COLUMNS if trusted else COLUMNS[:3]:
            table.add_column(column, justify="right")
        by_name = {getattr(t, name): t for t in trusted}
        for share in shares:
            label = getattr(share, name)
            table.add_row(label, *_row(share), *(_beside(by_name[label]) if trusted else ()))
        console.print(table)


def _row(share: Share) -> tuple[str, ...]:
    return f"{share.descriptors:,}", f"{share.pairs:,}", _percent(share.share)


def _beside(trust: ShareTrust) -> tuple[str, ...]:
    return (
        _interval(trust.interval),
        _percent(trust.floor),
        _percent(trust.corrected.holm),
        _percent(trust.paired.wilcoxon),
        _percent(trust.effects.large),
    )


def _percent(share: float | None) -> str:
    return "not known" if share is None else f"{share:.1%}"


def _interval(interval: Interval | None) -> str:
    return "not known" if interval is None else f"{interval.low:.1%} to {interval.high:.1%}"
