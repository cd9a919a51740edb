"""Sets of runs of one model: a run, a folder of runs, or the folder of a mitigated model with its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias_eval.errors import RunError
from holisticbias_eval.results.gains import Aim
from holisticbias_eval.results.run import RESULT, is_run, read_signature
from holisticbias_eval.results.signature import Signature

MITIGATION = "mitigation.json"


class _Named(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str


class _Specification(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    title: str


class _Point(BaseModel):
    model_config = ConfigDict(extra="ignore")

    perplexity: float | None = None


class _Record(BaseModel):
    """The parts of ``mitigation.json`` that are read here."""

    model_config = ConfigDict(extra="ignore")

    base_model: _Named
    specification: _Specification | None
    perplexity_before: float | None = None
    points: tuple[_Point, ...] = ()
    chosen: int | None = None


@dataclass(frozen=True, slots=True)
class MitigationRecord:
    """The aims of a mitigation, titles of specifications by id, and validation perplexities; empty without a record.

    ``validation`` are the perplexities of validation texts before and after training, null if not recorded.
    ``base_model`` is the name of the model before training.
    """

    aims: tuple[Aim, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    validation: tuple[float | None, float | None] = (None, None)
    base_model: str | None = None


def read_recorded(path: Path) -> MitigationRecord:
    """Read ``mitigation.json``; of a record in another form only the aim is read.

    Raises ``RunError`` if the file is not JSON.
    """
    if not path.is_file():
        return MitigationRecord()
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read: {str(error)[:200]}") from error
    aims = _aims(content)
    try:
        record = _Record.model_validate(content)
    except ValidationError:
        return MitigationRecord(aims)
    chosen = record.specification
    known = record.chosen is not None and 0 <= record.chosen < len(record.points)
    after = record.points[record.chosen or 0].perplexity if known else None
    titles = {chosen.id: chosen.title} if chosen else {}
    return MitigationRecord(aims, titles, (record.perplexity_before, after), record.base_model.name)


def _aims(content: Any) -> tuple[Aim, ...]:
    """The aim of a mitigation: with a specification its dimension, else the styles of responses."""
    found = content.get("specification") if isinstance(content, dict) else None
    name = found.get("id", found.get("name")) if isinstance(found, dict) else found
    if isinstance(name, str):
        return (Aim(measure="group_perplexity", keys={"dimension": name}),)
    return (Aim(measure="generation_bias"),)


MEASURED, BEFORE, AFTER = "measured", "before", "after"
_DEEP = 3


@dataclass(frozen=True, slots=True)
class RunSet:
    """The runs of one model, by their folder's name in the set; the name of a single run is empty.

    ``aims`` is what the mitigation of the model aims at, and ``recorded`` what else its record says, if the folder is
    that of a mitigated model.
    """

    name: str
    runs: Mapping[str, Path]
    aims: tuple[Aim, ...] = ()
    recorded: MitigationRecord = field(default_factory=MitigationRecord)

    @property
    def is_single(self) -> bool:
        """Whether a run was named, not a folder of runs."""
        return tuple(self.runs) == ("",)


@dataclass(frozen=True, slots=True)
class Matched:
    """A run of the first set and its counterpart in the second, under the name of the first."""

    name: str
    first: Path
    second: Path


def find_sets(folders: Sequence[Path]) -> tuple[RunSet, ...]:
    """The sets of runs in folders, the first of which is compared with all others.

    One folder alone must be that of a mitigated model, or a folder of several: its runs before are compared with those
    after. Raises ``RunError`` if a folder holds no run or there is nothing to compare it with.
    """
    if len(folders) > 1:
        return tuple(map(_set_of, folders))
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


def _set_of(folder: Path, name: str = "") -> RunSet:
    """The runs in a folder; of a mitigated model those after."""
    if is_run(folder):
        return RunSet(name or folder.resolve().name, {"": folder})
    within = folder / MEASURED / AFTER
    model = folder if within.is_dir() else _model_of(folder)
    inside = within if within.is_dir() else folder
    runs = {path.relative_to(inside).as_posix(): path for path in _runs(inside, _DEEP)}
    if not runs:
        what = "holds no run" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        raise RunError(f"{folder} is not a run: it {what}; make one with holisticbias evaluate")
    if set(runs) == {"."}:
        runs = {"": inside}
    found = read_recorded(model / MITIGATION) if model else MitigationRecord()
    called = folder if "" in runs else model or folder
    return RunSet(name or called.resolve().name, runs, found.aims, found)


def _model_of(folder: Path) -> Path | None:
    """The folder of the mitigated model whose runs after are in ``folder``."""
    model = folder.resolve().parent.parent
    return model if folder.resolve().name == AFTER and folder.resolve().parent.name == MEASURED else None


def _runs(folder: Path, deep: int) -> Iterator[Path]:
    if (folder / RESULT).is_file():
        yield folder
    elif deep and folder.is_dir():
        for path in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
            yield from _runs(path, deep - 1)


def match_runs(first: RunSet, second: RunSet) -> tuple[tuple[Matched, ...], tuple[str, ...]]:
    """Match each run of the first set with a run of the second that has a measure in common.

    Of several, the one with the same prompts, then with the same name, comes first; without either it must be the only
    one. The second value names the runs of both sets without a counterpart.
    """
    if first.is_single and second.is_single:
        return (Matched("", first.runs[""], second.runs[""]),), ()
    left = {name: (path, read_signature(path)) for name, path in second.runs.items()}
    found, alone = [], []
    for name, path in first.runs.items():
        chosen = _counterpart(name, read_signature(path), {other: s for other, (_, s) in left.items()})
        if chosen is None:
            alone.append(f"{name or path.name} (A)")
        else:
            found.append(Matched(name or chosen or path.name, path, left.pop(chosen)[0]))
    return tuple(found), (*alone, *(f"{name or path.name} ({second.name})" for name, (path, _) in left.items()))


def _counterpart(name: str, signature: Signature, others: Mapping[str, Signature]) -> str | None:
    shared = {other: s for other, s in others.items() if set(s.measures) & set(signature.measures)}
    same = [other for other, s in shared.items() if s.release.digest == signature.release.digest]
    for chosen in (same, list(shared)):
        if name in chosen:
            return name
        if len(chosen) == 1:
            return chosen[0]
    return None
