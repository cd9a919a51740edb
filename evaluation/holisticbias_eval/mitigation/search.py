"""Train one method: every point of a grid, the choice among them, and the folder of the chosen model."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from holisticbias.output import PLAN, resumed_folder, write_file
from holisticbias_eval.errors import BrokenTrainingError, MitigationError
from holisticbias_eval.mitigation.record import Mitigation, Point, TrainedOn, read_mitigation
from holisticbias_eval.mitigation.settings import Rank, TrainingSettings, rank, varied
from holisticbias_eval.mitigation.texts import contexts_of
from holisticbias_eval.mitigation.training import Lesson, Trained, full_disk_is_an_os_error, newest_checkpoint, train
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.machine import machine, package_versions
from holisticbias_eval.progress import Display
from holisticbias_eval.records import read_record, record_json

_WORK, _MODEL, _CHECKPOINTS = ".training", "model", "checkpoints"


@dataclass(frozen=True)
class Search:
    """The points to train, the name of their grid, and the rise of validation perplexity that a smaller F may cost."""

    points: Sequence[TrainingSettings]
    grid: str | None = None
    most_rise: float = 0.05


def plan_mitigation(lesson: Lesson, loaded: LoadedModel, search: Search) -> Mitigation:
    """The record of a mitigation before it is trained."""
    info = lesson.method.info
    training = {name: version(name) for name in ("accelerate", "peft") if find_spec(name)}
    return Mitigation(
        method=info.name,
        title=info.title,
        source=info.source,
        base_model=loaded.identity,
        specification=lesson.specification,
        trained_on=TrainedOn(
            name=lesson.name,
            sha256=_digest(lesson.texts, lesson.validation),
            texts=lesson.texts.num_rows,
            validation_texts=lesson.validation.num_rows,
            counts=dict(lesson.counts),
        ),
        given=dict(lesson.given),
        grid=search.grid,
        most_rise=search.most_rise,
        control=lesson.method.control or None,
        planned=tuple(search.points),
        versions={**package_versions(), **training},
        machine=machine(),
    )


def train_lesson(
    lesson: Lesson, loaded: LoadedModel, search: Search, out: Path, display: Display, *, overwrite: bool
) -> Mitigation:
    """Train every point, and write the model of the best one with its record; return the record.

    An interrupted training leaves its work beside the folder; the same call continues it. A folder that already has
    the same mitigation is left as it is. Raises ``MitigationError`` and ``OutputError``.
    """
    record = plan_mitigation(lesson, loaded, search)

    def may(folder: Path) -> bool:
        return record.may_replace(folder / MITIGATION, "another mitigation", MitigationError, overwrite=overwrite)

    if not overwrite and may(out):
        display.notice(f"{out} has this model already")
        return read_mitigation(out)
    plan = json.dumps(record.asked, sort_keys=True)
    unfinished = out.absolute().parent / f".{out.name}.part"
    if (unfinished / PLAN).is_file() and (unfinished / PLAN).read_text("utf-8") != plan:
        display.notice(f"{unfinished} has an interrupted training with other settings: starting again")
    with resumed_folder(out, plan, may) as part, _kept_if_begun(part):
        if (part / MITIGATION).is_file():  # killed when only the work folder remained to be removed
            shutil.rmtree(part / _WORK, ignore_errors=True)
            return read_mitigation(part)
        work = part / _WORK
        work.mkdir(exist_ok=True)
        with display.step("Validating the model before training"):
            from holisticbias_eval.mitigation.validation import perplexity_of

            perplexity = perplexity_of(loaded.model, loaded.tokenizer, lesson.validation, lesson.opening)
            f = _validation_f(loaded.model, loaded, lesson)
            record = record.model_copy(update={"f_before": f, "perplexity_before": perplexity})
        points: list[Point] = []
        for _ in record.planned:
            points.append(_point(points, lesson, loaded, record, work, display))
        chosen = min(range(len(points)), key=lambda i: _rank(points[i], record))  # of equal ones the first
        if points[chosen].perplexity is None:
            shutil.rmtree(work)
            raise MitigationError(f"no point of the grid could be trained: {points[chosen].failed}")
        record = record.model_copy(update={"points": tuple(points), "chosen": chosen})
        for path in sorted((work / _MODEL).iterdir()):
            path.replace(part / path.name)
        write_file(work / MITIGATION, record_json(record).encode())
        (work / MITIGATION).replace(part / MITIGATION)
        shutil.rmtree(work)
    return record


@contextmanager
def _kept_if_begun(part: Path) -> Iterator[None]:
    """After a refusal, name the folder of an unfinished training; remove it if it has no point and no checkpoint."""
    try:
        yield
    except MitigationError as error:
        if not any(part.glob(f"{_WORK}/point-*")) and not newest_checkpoint(part / _WORK / _CHECKPOINTS):
            shutil.rmtree(part)
        elif str(part) not in str(error):
            raise MitigationError(f"{error}; finished work is kept in {part}") from error
        raise


def _point(
    earlier: Sequence[Point], lesson: Lesson, loaded: LoadedModel, record: Mitigation, work: Path, display: Display
) -> Point:
    """Train the point after the earlier ones unless it is finished; its model is kept if it is the best so far."""
    index = len(earlier)
    path = work / f"point-{index:03}.json"
    if path.is_file():
        return read_record(path, Point, MitigationError, f"remove {work.parent}, and train again")
    settings, several = record.planned[index], len(record.planned) > 1
    if several:
        words = [f"{name.replace('_', ' ')} {getattr(settings, name)}" for name in varied(record.planned)]
        display.notice(f"Point {index + 1} of {len(record.planned)} of the grid: {', '.join(words)}")
    fresh = replace(loaded, model=loaded.load("float32").to(loaded.model.device))
    try:
        trained = train(fresh, lesson, settings, work / _CHECKPOINTS, display)
        point = trained.point.model_copy(update={"f": _validation_f(trained.model, loaded, lesson)})
    except BrokenTrainingError as error:
        if not several:
            raise
        point = Point(settings=settings, failed=str(error).partition(";")[0])
        display.notice(f"This point could not be trained: {point.failed}")
    else:
        if all(_rank(point, record) < _rank(other, record) for other in earlier):
            _save(trained, loaded, work / _MODEL)
    write_file(path, point.model_dump_json().encode())
    shutil.rmtree(work / _CHECKPOINTS, ignore_errors=True)
    return point


def _validation_f(model: Any, loaded: LoadedModel, lesson: Lesson) -> float | None:
    if lesson.by_group is None:
        return None
    from holisticbias_eval.mitigation.validation import validation_f

    return validation_f(model, loaded.tokenizer, lesson.by_group, lesson.opening)


def _save(trained: Trained, loaded: LoadedModel, folder: Path) -> None:
    """Write the model and its tokenizer, whole or not at all."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    with full_disk_is_an_os_error(new):
        trained.model.save_pretrained(new)
        loaded.tokenizer.save_pretrained(new)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _rank(point: Point, record: Mitigation) -> Rank:
    return rank(point.f, point.perplexity, record.most_perplexity)


def _digest(*tables: pa.Table) -> str:
    """SHA-256 of the contexts and texts of tables, in order."""
    digest = hashlib.sha256()
    for table in tables:
        for row in zip(contexts_of(table), table["text"].to_pylist(), strict=True):
            digest.update(json.dumps(row).encode() + b"\n")
        digest.update(b"\n")
    return digest.hexdigest()
