"""Measure a model before and after mitigation: one run for each family of measures, as ``evaluate`` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holisticbias_eval.likelihood.engines import EngineOptions
from holisticbias_eval.likelihood.local import ScoringOptions
from holisticbias_eval.pipeline.answering import AnsweringOptions
from holisticbias_eval.pipeline.evaluation import Runs, evaluate, runs_of
from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run import is_run

AIM = "group_perplexity"


@dataclass(frozen=True)
class Measuring:
    """What to measure besides ``AIM``: ``further`` measures, on a release."""

    further: Sequence[str] = ()
    release: str | None = None
    device: str = "auto"

    @property
    def names(self) -> tuple[str, ...]:
        """All measures, the aimed-at one first."""
        return tuple(dict.fromkeys((AIM, *self.further)))


def check_measuring(measuring: Measuring) -> None:
    """Raise ``EvaluationError`` for a measure that does not exist."""
    runs_of(measuring.names, None)


def measure_model(model: str | None, test_set: Path, measuring: Measuring, folder: Path, display: Display) -> None:
    """Write a run for each family of measures into a folder; runs that it has already are kept."""
    wanted = _missing(measuring, folder)
    if not wanted:
        return
    display.notice(f"Measuring {model}")
    options = EngineOptions(scoring=ScoringOptions(device=measuring.device))
    made = evaluate(
        model,
        measuring.release,
        wanted,
        options,
        answering=AnsweringOptions(),
        test_set=TestSetOptions(test_set),
        display=display,
    )
    for _ in made:
        pass


def _missing(measuring: Measuring, folder: Path) -> Runs:
    """The runs that a folder does not have, each in a folder of its own."""
    runs = runs_of(measuring.names, folder)
    placed = [(names, folder / names[0]) if out == folder else (names, out) for names, out in runs]
    return tuple((names, out) for names, out in placed if out is None or not is_run(out))
