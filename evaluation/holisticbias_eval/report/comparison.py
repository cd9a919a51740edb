"""A comparison of two runs as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holisticbias_eval.report.changes import (
    NO_VERDICT,
    SENTENCES,
    change_headline,
    change_table,
    comparison_wording,
    scores_differ,
    what_differs,
)
from holisticbias_eval.report.charts import BAR_ROW, FOOT, MARGIN, SPAN, Bar, Chart, Tick
from holisticbias_eval.report.numbers import show
from holisticbias_eval.report.page import page_environment
from holisticbias_eval.report.words import SCOPE, run_title, signature_rows
from holisticbias_eval.results.compare import ComparedRuns


def render_comparison(compared: ComparedRuns, label: Callable[[str], str]) -> str:
    """The page; ``label`` gives an axis's name. Every text of the runs is escaped."""
    table = change_table(compared, label)
    notes: dict[str, list[str]] = {}
    for run, signature in (("A", compared.first), ("B", compared.second)):
        if signature.model.note:
            notes.setdefault(signature.model.note, []).append(run)
    return (
        page_environment()
        .get_template("comparison.html.jinja")
        .render(
            page_title=f"{run_title(compared.first)}, beside {run_title(compared.second)}",
            first=run_title(compared.first),
            second=run_title(compared.second),
            notes=notes,
            headline=change_headline(compared, label),
            differs=what_differs(compared),
            chart=change_chart(compared, label),
            table=table,
            by_sentences=SENTENCES[0] in table.columns,
            tested=scores_differ(compared),
            signature_rows=tuple(_both_signatures(compared)),
            p_resolution=compared.comparison.p_resolution,
            wording=comparison_wording(compared),
            no_verdict=NO_VERDICT,
            scope=SCOPE,
            script_digest=None,
        )
    )


def change_chart(compared: ComparedRuns, label: Callable[[str], str]) -> Chart:
    """The shares of the second run as bars, with a mark where those of the first lie."""
    changes = [c for c in compared.comparison.changes if c.axis is not None]
    bars = tuple(
        Bar(
            label=label(change.axis or ""),
            value=f"{show(change.first, 'share')} → {show(change.second, 'share')}",
            y=i * BAR_ROW,
            x=MARGIN,
            width=None if change.second is None else SPAN * change.second,
            mark=None if change.first is None else MARGIN + SPAN * change.first,
        )
        for i, change in enumerate(changes)
    )
    return Chart(
        name="changes",
        title=f"{comparison_wording(compared).bias} of A and B by axis",
        description="; ".join(f"{bar.label} {bar.value}" for bar in bars),
        height=len(bars) * BAR_ROW + FOOT,
        scale="pairs with p < 0.05  ·  mark: A, bar: B",
        ticks=tuple(Tick(MARGIN + SPAN * i / 4, f"{i / 4:.0%}") for i in range(5)),
        bars=bars,
    )


def _both_signatures(compared: ComparedRuns) -> Iterator[tuple[str, str, str]]:
    first, second = dict(signature_rows(compared.first)), dict(signature_rows(compared.second))
    for name in {**first, **second}:
        yield name, first.get(name, "none"), second.get(name, "none")
