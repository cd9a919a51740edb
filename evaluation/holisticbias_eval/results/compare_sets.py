"""Compare a model's runs with those of one or several others, run by run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holisticbias_eval.errors import RunError, SelectionError
from holisticbias_eval.figures import Figures, Part
from holisticbias_eval.results.compare import ComparedRuns, compare_runs, read_two_runs
from holisticbias_eval.results.gains import Aim, Gain, find_gains, sort_gains
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.run_sets import RunSet, match_runs


class NamedComparison(Part):
    """The comparison of a run with its counterpart, under its name."""

    name: str
    compared: ComparedRuns


class ComparedModel(Part):
    """One model compared with the first: its gains and costs, and the comparison of each run.

    ``aims`` are its own, or those given for all models. ``unmatched`` names runs without a counterpart, ``failed`` says
    which could not be compared, and why.
    """

    name: str
    gains: tuple[Gain, ...]
    runs: tuple[NamedComparison, ...]
    aims: tuple[Aim, ...] = ()
    unmatched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class ComparedSets(Part):
    """The output of ``holisticbias compare`` for folders of runs: every model compared with the first."""

    before: str
    aims: tuple[Aim, ...]
    models: tuple[ComparedModel, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A comparison of a run with that of ``model``, which has the labels of the figures."""

    name: str
    model: str
    compared: ComparedRuns
    second: Run


def compare_sets(
    sets: Sequence[RunSet], aims: Sequence[Aim], step: Callable[[str], None], use: Callable[[Opened], None]
) -> ComparedSets:
    """Compare the first set with every other; ``use`` takes each comparison while both runs are in memory.

    ``step`` takes the name of each run before it is read. Without ``aims`` those of the models are taken. A model of
    which nothing can be compared stays, with the reasons. Raises ``RunError`` if there is no other.
    """
    first, *others = sets
    chosen = aims_of(sets, aims)
    models = tuple(
        _compare(first, other, chosen, step, use).model_copy(update={"aims": tuple(aims or other.aims)})
        for other in others
    )
    if not any(model.runs for model in models):
        names = dict.fromkeys(name for model in models for name in (*model.unmatched, *model.failed))
        raise RunError(f"{first.name} has no run to compare with one of {_named(models)}: {'; '.join(names)}")
    return ComparedSets(before=first.name, aims=chosen, models=models)


def _named(models: Sequence[ComparedModel]) -> str:
    return ", ".join(model.name for model in models)


def aims_of(sets: Sequence[RunSet], aims: Sequence[Aim]) -> tuple[Aim, ...]:
    """The given aims, or without any those of the models after the first."""
    return tuple(aims) or tuple({aim.model_dump_json(): aim for s in sets[1:] for aim in s.aims}.values())


def _compare(
    first: RunSet, other: RunSet, aims: Sequence[Aim], step: Callable[[str], None], use: Callable[[Opened], None]
) -> ComparedModel:
    matched, unmatched = match_runs(first, other)
    runs: list[NamedComparison] = []
    gains: list[Gain] = []
    failed: list[str] = []
    for pair in matched:
        step(f"{other.name}: {pair.name}" if pair.name else other.name)
        before, second = read_two_runs(pair.first, pair.second)
        try:
            compared = compare_runs(before, second)
        except SelectionError as error:
            failed.append(f"{pair.name}: {error}" if pair.name else str(error))
            continue
        use(Opened(pair.name, other.name, compared, second))
        runs.append(NamedComparison(name=pair.name, compared=compared))
        gains += find_gains(Figures(compared.figures), aims, pair.name, Figures(second.result.figures))
    return ComparedModel(
        name=other.name, gains=sort_gains(gains), runs=tuple(runs), unmatched=unmatched, failed=tuple(failed)
    )
