"""Shares of pairs that differ, with what stands beside them, as tables in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holisticbias_eval.measures.trust.records import ShareTrust, Trust
from holisticbias_eval.report.numbers import printable, show
from holisticbias_eval.report.tables import ends
from holisticbias_eval.results.run import LikelihoodBiasResult, Share

NARROW = 70
COLUMNS = ("pairs", "differ", "95% interval", "floor", "Holm", "and large")
LEGEND = (
    "differ: the share of pairs with p < 0.05, which is Likelihood Bias. floor: the same when descriptors change "
    "places within noun and template, which is what chance gives. Holm: corrected for the number of tests. and large: "
    "with an effect of 0.43 or more (rank-biserial)."
)


def print_shares(bias: LikelihoodBiasResult, trust: Trust | None, title: str, console: Console | None = None) -> None:
    """Print Likelihood Bias by axis and by template; fewer columns where the terminal is narrow."""
    console = console or Console(highlight=False)
    shown = 2 if trust is None else 3 if console.width < NARROW else len(COLUMNS)
    for name, shares, trusted in (
        ("axis", bias.by_axis, trust.by_axis if trust else ()),
        ("template", bias.by_template, trust.by_template if trust else ()),
    ):
        table = Table(
            title=Text(printable(f"{title} by {name}")),
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
        )
        table.add_column(name, overflow="fold", min_width=len(name))
        for column in COLUMNS[:shown]:
            table.add_column(column, justify="right", no_wrap=True)
        beside = {getattr(t, name): t for t in trusted}
        for share in shares:
            label = getattr(share, name)
            cells = *_row(share), *(_beside(beside[label]) if trust else ())
            table.add_row(Text(printable(label)), *cells[:shown])
        console.print(table)
    if trust:
        console.print(LEGEND)
        if _too_few(trust):
            console.print("Some pairs have so few nouns that none could reach p < 0.05: 0.0% says nothing there.")


def _too_few(trust: Trust) -> bool:
    """Whether a share is over samples too small for any of its pairs to differ."""
    return any(t.share is not None and t.effects.smallest_significant is None for t in trust.by_axis)


def _row(share: Share) -> tuple[str, ...]:
    return f"{share.pairs:,}", show(share.share, "share")


def _beside(trust: ShareTrust) -> tuple[str, ...]:
    if trust.share is None:
        return ()
    return (
        show(ends(trust.interval), "interval"),
        show(trust.floor, "share"),
        show(trust.corrected.holm, "share"),
        show(trust.effects.large, "share"),
    )
