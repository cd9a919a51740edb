"""Sets of runs of one model: a run, a folder of runs, or the folder of a mitigated model; and their comparison."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import AliasPath, BaseModel, Field, ValidationError

from holisticbias_eval.errors import RunError, SelectionError
from holisticbias_eval.figures import Figures, Part
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.results.compare import ComparedRuns, compare_runs, read_two_runs
from holisticbias_eval.results.gains import Aim, Gain, find_gains, sort_gains
from holisticbias_eval.results.run import Run, is_run, no_run, read_signature, runs_within
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.tables.rows import read_json
from holisticbias_eval.units import model_title

MEASURED, BEFORE, AFTER = "measured", "before", "after"


class _Point(BaseModel):
    perplexity: float | None = None


class MitigationRecord(BaseModel):
    """The parts of ``mitigation.json`` that are read here, and the aims of the mitigation; empty without a record."""

    base_model: str | None = Field(None, validation_alias=AliasPath("base_model", "name"))
    specification: str | None = Field(None, validation_alias=AliasPath("specification", "id"))
    title: str = Field("", validation_alias=AliasPath("specification", "title"))
    method: str | None = Field(None, validation_alias="title")
    perplexity_before: float | None = None
    points: tuple[_Point, ...] = ()
    chosen: int | None = None
    aims: tuple[Aim, ...] = ()

    @property
    def titles(self) -> Mapping[str, str]:
        """The title of the specification, by its id."""
        return {self.specification: self.title} if self.specification else {}

    @property
    def validation(self) -> tuple[float | None, float | None]:
        """The perplexities of validation texts before and after training, null if not recorded."""
        chosen = () if self.chosen is None or self.chosen < 0 else self.points[self.chosen :]
        return self.perplexity_before, next((point.perplexity for point in chosen), None)


def read_recorded(path: Path) -> MitigationRecord:
    """Read ``mitigation.json``; of a record in another form only the aim is read.

    Raises ``RunError`` if the file is not JSON.
    """
    if not path.is_file():
        return MitigationRecord()
    content = read_json(path, RunError, "remove it, or mitigate again")
    aims = _aims(content)
    try:
        return MitigationRecord.model_validate({**content, "aims": aims})
    except (TypeError, ValidationError):
        return MitigationRecord(aims=aims)


def _aims(content: Any) -> tuple[Aim, ...]:
    """The aim of a mitigation: with a specification its dimension, else the styles of responses."""
    found = content.get("specification") if isinstance(content, dict) else None
    name = found.get("id", found.get("name")) if isinstance(found, dict) else found
    if isinstance(name, str):
        return (Aim(measure="group_perplexity", keys={"dimension": name}),)
    return (Aim(measure="generation_bias"),)


@dataclass(frozen=True, slots=True)
class RunSet:
    """The runs of one model, by their folder's name in the set; the name of a single run is empty.

    ``name`` is that of ``folder``, or more of its path if another set has the same. ``recorded`` is the record of the
    mitigation, if the folder is that of a mitigated model.
    """

    name: str
    folder: Path
    runs: Mapping[str, Path]
    recorded: MitigationRecord = field(default_factory=MitigationRecord)

    @property
    def title(self) -> str:
        """The model before the mitigation, and the method; without a record, the name."""
        model = f"{model_title(self.recorded.base_model)} before" if self.recorded.base_model else "Before"
        return f"{model} and after {self.recorded.method or self.name}"

    @property
    def is_single(self) -> bool:
        """Whether a run was named, not a folder of runs."""
        return tuple(self.runs) == ("",)


def find_sets(folders: Sequence[Path]) -> tuple[RunSet, ...]:
    """The sets of runs in folders, the first of which is compared with all others.

    One folder alone must be that of a mitigated model, or a folder of several: its runs before are compared with those
    after. Raises ``RunError`` if a folder holds no run or there is nothing to compare it with.
    """
    if len(folders) > 1:
        return _with_distinct_names([_set_of(folder) for folder in folders])
    (folder,) = folders
    models = [folder] if (folder / MEASURED).is_dir() else sorted(p.parent for p in folder.glob(f"*/{MEASURED}"))
    places = (folder / BEFORE, *(m / MEASURED / BEFORE for m in models))
    beside = folder.resolve().parent / BEFORE
    if (folder / MITIGATION).is_file() and (folder / MEASURED / AFTER).is_dir():  # one of several methods
        places = (*places, beside)
    before = next((p for p in places if p.is_dir()), None)
    if not models or before is None or is_run(folder):
        raise RunError(f"{folder} has no runs before and after a mitigation: name two runs, or two folders of runs")
    return (_set_of(before, BEFORE), *map(_set_of, models))


def _with_distinct_names(sets: Sequence[RunSet]) -> tuple[RunSet, ...]:
    """The sets, by whose names gains and sections are kept: where two are equal, with more of their paths.

    A folder that is given twice gets a number.
    """
    names = Counter(found.name for found in sets)
    taken = Counter[str]()
    distinct = []
    for found in sets:
        others = {other.folder.resolve() for other in sets if other.name == found.name} - {found.folder.resolve()}
        name = found.name if names[found.name] == 1 else _end_of_path(found.folder.resolve(), others)
        taken[name] += 1
        distinct.append(replace(found, name=f"{name} ({taken[name]})" if taken[name] > 1 else name))
    return tuple(distinct)


def _end_of_path(path: Path, others: Collection[Path]) -> str:
    """The shortest end of a path that no other path has; the name of the folder without others."""
    ends = (path.parts[start:] for start in range(len(path.parts) - 1, -1, -1))
    return Path(*next(end for end in ends if all(other.parts[-len(end) :] != end for other in others))).as_posix()


def _set_of(folder: Path, name: str = "") -> RunSet:
    """The runs in a folder; of a mitigated model those after."""
    if is_run(folder):
        return RunSet(name or folder.resolve().name, folder, {"": folder})
    within = folder / MEASURED / AFTER
    model = folder if within.is_dir() else _model_of(folder)
    inside = within if within.is_dir() else folder
    runs = {path.relative_to(inside).as_posix(): path for path in runs_within(inside)}
    if not runs:
        raise no_run(folder, "holds no run")
    if set(runs) == {"."}:
        runs = {"": inside}
    recorded = read_recorded(model / MITIGATION) if model else MitigationRecord()
    named = folder if "" in runs else model or folder
    return RunSet(name or named.resolve().name, named, runs, recorded)


def _model_of(folder: Path) -> Path | None:
    """The folder of the mitigated model whose runs after are in ``folder``."""
    model = folder.resolve().parent.parent
    return model if folder.resolve().name == AFTER and folder.resolve().parent.name == MEASURED else None


Pair = tuple[str, Path, Path]
"""A run of the first set and its counterpart in the second, after the name of the first."""


def match_runs(first: RunSet, second: RunSet) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """Match each run of the first set with a run of the second that has a measure in common.

    Of several, the one with the same prompts, then with the same name, comes first; without either it must be the only
    one, after the runs that others have by prompts or name. The second value names the runs of both sets without a
    counterpart.
    """
    if first.is_single and second.is_single:
        return (("", first.runs[""], second.runs[""]),), ()
    signed, left = ({n: read_signature(path) for n, path in found.runs.items()} for found in (first, second))
    chosen: dict[str, str] = {}
    for prompts, named in product((True, False), repeat=2):
        for name in [name for name in signed if name not in chosen]:
            found = _counterpart(name, signed[name], left, prompts=prompts, named=named)
            if found is not None:
                chosen[name] = found
                del left[found]
    pairs = (
        (n or chosen[n] or path.name, path, second.runs[chosen[n]]) for n, path in first.runs.items() if n in chosen
    )
    alone = (f"{name or path.name} ({first.name})" for name, path in first.runs.items() if name not in chosen)
    return tuple(pairs), (*alone, *(f"{name or second.runs[name].name} ({second.name})" for name in left))


def _counterpart(
    name: str, signature: Signature, others: Mapping[str, Signature], *, prompts: bool, named: bool
) -> str | None:
    """The run with a measure in common, of the same ``prompts`` or of any: of the same name, or else the only one."""
    fitting = [
        other
        for other, s in others.items()
        if set(s.measures) & set(signature.measures) and (not prompts or s.release.digest == signature.release.digest)
    ]
    if named:
        return name if name in fitting else None
    return fitting[0] if len(fitting) == 1 else None


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


Use = Callable[[str, str, ComparedRuns, Run, Run], None]
"""Takes the name of a run, that of its model, the comparison, and both runs, which have the labels of the figures."""


def compare_sets(sets: Sequence[RunSet], aims: Sequence[Aim], step: Callable[[str], None], use: Use) -> ComparedSets:
    """Compare the first set with every other; ``use`` takes each comparison while both runs are in memory.

    ``step`` takes the name of each run before it is read. Without ``aims`` those of the models are taken. A model of
    which nothing can be compared stays, with the reasons. Raises ``RunError`` if there is no other.
    """
    first, *others = sets
    chosen = aims_of(sets, aims)
    models = tuple(_compare(first, other, chosen, tuple(aims or other.recorded.aims), step, use) for other in others)
    if not any(model.runs for model in models):
        names = ", ".join(model.name for model in models)
        reasons = dict.fromkeys(reason for model in models for reason in model.failed) or map(_measured, sets)
        raise RunError(f"{first.name} has no run to compare with one of {names}: {'; '.join(reasons)}")
    return ComparedSets(before=first.name, aims=chosen, models=models)


def _measured(found: RunSet) -> str:
    """The name of a set, and the measures of its runs."""
    measures = (name for path in found.runs.values() for name in read_signature(path).measures)
    return f"{found.name} has {', '.join(dict.fromkeys(measures))}"


def aims_of(sets: Sequence[RunSet], aims: Sequence[Aim]) -> tuple[Aim, ...]:
    """The given aims, or without any those of the models after the first."""
    return tuple(aims) or tuple({aim.model_dump_json(): aim for s in sets[1:] for aim in s.recorded.aims}.values())


def titles_of(sets: Sequence[RunSet]) -> Mapping[str, str]:
    """The titles of the specifications in the records of all models, by id."""
    return {name: text for found in sets for name, text in found.recorded.titles.items()}


def _compare(
    first: RunSet, other: RunSet, aims: Sequence[Aim], own: tuple[Aim, ...], step: Callable[[str], None], use: Use
) -> ComparedModel:
    pairs, unmatched = match_runs(first, other)
    runs: list[NamedComparison] = []
    gains: list[Gain] = []
    failed: list[str] = []
    for name, *folders in pairs:
        step(f"{other.name}: {name}" if name else other.name)
        before, after = read_two_runs(*folders)
        try:
            compared = compare_runs(before, after)
        except SelectionError as error:
            failed.append(f"{name}: {error}" if name else str(error))
            continue
        use(name, other.name, compared, before, after)
        runs.append(NamedComparison(name=name, compared=compared))
        gains += find_gains(Figures(compared.figures), aims, name, Figures(after.result.figures))
    return ComparedModel(
        name=other.name, gains=sort_gains(gains), runs=tuple(runs), aims=own, unmatched=unmatched, failed=tuple(failed)
    )
