"""Numbers that a user's command reports about a model, such as those of lm-evaluation-harness."""

import math
import re

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.dialogue_state import change_table, score_section
from holisticbias_eval.measures.info import Better, Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.statistics.intervals import CRITICAL_Z, estimate

NAME = "retained"
NO_TASK = "-"
"""The task of a number that the command reports by its metric alone."""
_LOWER = re.compile(r"perplexity|ppl|loss|bits_per_byte|brier|error|wer$|cer$")
_HIGHER = re.compile(r"acc|f1|exact_match|bleu|rouge|mcc|recall|precision|pass@")


class Retained(Measure):
    """The numbers that another program reports, each with its standard error if the program gives one."""

    info = Info(
        name=NAME,
        title="Results of another program",
        summary="the numbers that a command reports about the model, by task and metric",
        direction=(
            "by the metric's name: accuracy, F1, exact match, BLEU and ROUGE higher; perplexity, loss and error lower; "
            "of any other metric a change is only a change"
        ),
        limits="nothing is known of the numbers but what the command reports; two runs are compared without pairing",
        source="the command in the signature",
        headline="value",
        by=("task", "metric"),
        quality=True,
        retention=True,
    )
    needs = Needs("results", said="numbers that another program reports of")
    resamples = False
    task = "results"

    def better(self, change: Figure) -> Better:
        """The direction of a metric, by its name."""
        metric = change.keys.get("metric", "").lower()
        return "lower" if _LOWER.search(metric) else "higher" if _HIGHER.search(metric) else "none"

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """One figure for each row: its value, with an interval if there is a standard error."""
        return Measured(tuple(_figure(row) for row in answers.to_pylist()))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the numbers."""
        found = view.figures.by(NAME, "value", *self.info.by)
        return (score_section(self.info, found, _label, "number", f"The command reports {len(found):,} numbers."),)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of each number that both runs have; intervals are those of separate samples."""
        made: list[Figure] = []
        for one in first.figures.by(NAME, "value", "task", "metric"):
            other = second.figures.get(NAME, "value", one.keys)
            if other is None:
                continue
            made += col.of_runs(one, other)
            change = np.nan if one.value is None or other.value is None else other.value - one.value
            interval, p = estimate(change, math.hypot(_error(one), _error(other)))
            unit, n = "number difference", min(one.n, other.n)
            made.append(
                make_figure(NAME, "change", one.keys, change, unit, n, interval=interval, p_value=p, of="value")
            )
        return tuple(made)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes."""
        note = "The intervals take both runs as separate samples, with the standard errors that the command reports."
        return (change_table(self.info, changes, self.info.by, _label, "number", note),)


def _label(figure: Figure) -> str:
    task, metric = figure.keys["task"], figure.keys["metric"]
    return metric if task == NO_TASK else f"{task}: {metric}"


def _figure(row: dict[str, object]) -> Figure:
    value, error, items = (
        float(number) if isinstance(number := row.get(name), int | float) else np.nan
        for name in ("value", "error", "items")
    )
    interval, _ = estimate(value, error)
    keys = {"task": str(row["task"]) or NO_TASK, "metric": str(row["metric"])}
    n = 1 if np.isnan(items) else int(items)
    return make_figure(NAME, "value", keys, value, "number", n, interval=interval)


def _error(figure: Figure) -> float:
    return np.nan if figure.interval is None else (figure.interval.high - figure.interval.low) / (2 * CRITICAL_Z)
