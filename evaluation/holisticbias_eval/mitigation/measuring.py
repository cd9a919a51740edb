"""Measure a model before and after mitigation: one run for each task, as ``evaluate`` writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holisticbias.output import write_file
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.evaluating import by_task, choose_measures, evaluations, folder_in, used_names
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.mitigation.record import MitigatedModel
from holisticbias_eval.mitigation.settings import AIMS, MeasuringSettings, Needs
from holisticbias_eval.models.likelihood.opening import FIRST_TOKEN
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import choose_judges
from holisticbias_eval.results.run import is_run, read_signature
from holisticbias_eval.settings import Values, read_settings, split_names
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.judging import RESPONSE_READERS, judging_options
from holisticbias_eval.tasks.lines import RetainSettings, read_lines
from holisticbias_eval.tasks.multiwoz import read_multiwoz
from holisticbias_eval.tasks.results import CommandSettings
from holisticbias_eval.tasks.retain_command import split_command
from holisticbias_eval.tasks.sources import ReleaseSource
from holisticbias_eval.tasks.task import Given

_COSTS = ("retain", "retain_command")


@dataclass(frozen=True)
class Measuring:
    """Measures of models: ``aims``, ``further`` ones on a release, and those of costs, which ``values`` name.

    ``values`` are settings of all measures, and ``answering`` those of measures of responses alone.
    """

    aims: Sequence[str] = AIMS["corpus"]
    further: Sequence[str] = ()
    release: ReleaseSource = None
    values: Values = field(default_factory=dict)
    answering: Values = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All measures, the aims first."""
        costs = {name: self.values[name] for name in _COSTS if name in self.values}
        return tuple(dict.fromkeys((*self.aims, *(choose_measures(None, costs) if costs else ()), *self.further)))

    def of(self, measures: Sequence[str]) -> dict[str, Any]:
        """The settings that measures of one task use."""
        answering = self.answering if MEASURES[measures[0]].task == "responses" else {}
        used = used_names(measures)
        return {name: value for name, value in {**self.values, **answering}.items() if name in used}


def plan_measuring(given: Given, needs: Needs) -> Measuring:
    """The measures that a user asks for.

    Raises ``EvaluationError`` for a measure that does not exist, for texts or a command that cannot be read, and for a
    classifier that does not fit.
    """
    kept = (*_COSTS, "device", "first_token")
    values = {name: given.values[name] for name in kept if name in given.values}
    further = split_names(given.read(MeasuringSettings).measures)
    measuring = Measuring(AIMS[needs], further, given.release_name, values)
    choose_measures(measuring.names, {})
    if needs == "responses":
        choose_judges([*RESPONSE_READERS.values()], {}, judging_options(given))
    retain, command = given.read(RetainSettings), given.read(CommandSettings).retain_command
    if retain.text is not None:
        read_lines(retain.text)
    if retain.dialogues is not None:
        read_multiwoz(retain.dialogues)
    if command is not None:
        split_command(command)
    return measuring


def with_neutral_text(measuring: Measuring, lines: Sequence[str], path: Path) -> Measuring:
    """Also measure these lines, written to a file, unless the user names a text."""
    retain = read_settings(RetainSettings, measuring.values)
    if retain.text is not None:
        return measuring
    if not path.is_file():
        write_file(path, "".join(f"{line}\n" for line in lines).encode())
    return replace(measuring, values={**measuring.values, "retain": (str(path), *retain.retain)})


def refuse_other_run(
    measuring: Measuring, folder: Path, weights_sha256: str | None, first_token: str | None = None
) -> None:
    """Raise ``MitigationError`` if a folder has a run of these measures of other weights, or with another first token.

    ``first_token`` is the setting of the signature; null if the training has none.
    """
    for _, path in place_runs(measuring, folder):
        if not is_run(path):
            continue
        signature = read_signature(path)
        what = "of another model" if signature.model.weights_sha256 not in (None, weights_sha256) else ""
        if first_token is not None and signature.scoring.get("first_token", first_token) != first_token:
            what = what or "with another first token"
        if what:
            raise MitigationError(f"{path} is a run {what}: name another folder with --out, or use --overwrite")


def measure_models(
    base: str,
    models: Sequence[MitigatedModel],
    measuring: Measuring,
    before: Path,
    display: Display,
    *,
    overwrite: bool,
) -> None:
    """Measure the base model, and each trained model; runs that have the measures are kept, unless ``overwrite``.

    Raises ``MitigationError`` for runs of another model in the folder ``before``, and for runs on another source.
    """
    measuring = replace(measuring, release=measuring.release or Given(base, None, {}, (), display).own_release)
    if not overwrite:
        record = models[0].record
        refuse_other_run(measuring, before, record.base_model.weights_sha256, record.given.get(FIRST_TOKEN))
    for model, folder in ((base, before), *((str(made.folder), made.after) for made in models)):
        runs = place_runs(measuring, folder)
        wanted = [(names, out) for names, out in runs if overwrite or not {*names} <= _measured(out)]
        if wanted:
            display.notice(f"Measuring {model}")
        for names, out in runs:
            release = measuring.release if "release" in used_names(names) else None
            values = measuring.of(names)
            if (names, out) not in wanted:
                _refuse_other_source(out, Given(model, release, values, names, display))
                continue
            list(
                evaluations(model, release, names, values, out=out, overwrite=overwrite or is_run(out), display=display)
            )


def _refuse_other_source(run: Path, given: Given) -> None:
    """Raise ``MitigationError`` if a run that is kept is on another release or file than the one that is named now."""
    source = TASKS[MEASURES[given.measures[0]].task].source(given).signature
    kept = read_signature(run).release
    if kept.digest != source.digest:
        raise MitigationError(
            f"{run} is a run on {kept.title}, which differs from {source.title}: name another folder with --out, or "
            "use --overwrite"
        )


def place_runs(measuring: Measuring, folder: Path) -> Sequence[tuple[tuple[str, ...], Path]]:
    """The measures of each run, and its folder, whose name depends on the task alone."""
    every = {MEASURES[names[0]].task: names for names in by_task([*MEASURES])}
    chosen = by_task(choose_measures(measuring.names, {}))
    return [(names, folder_in(folder, every[MEASURES[names[0]].task])) for names in chosen]


def _measured(folder: Path) -> set[str]:
    return {*read_signature(folder).measures} if is_run(folder) else set()
