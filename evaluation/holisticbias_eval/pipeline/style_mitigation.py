"""Mitigate the styles of a model's responses from end to end: train, and measure before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.output import new_file, write_file
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.grid import grid_points
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.style_texts import StyleMethod
from holisticbias_eval.models.embedded.responder import RESPONDER
from holisticbias_eval.pipeline.evaluation import evaluate, runs_of
from holisticbias_eval.pipeline.judging import CALIBRATION as CLASSIFIERS
from holisticbias_eval.pipeline.mitigation import (
    Mitigated,
    MitigatedModel,
    MitigationOptions,
    find_methods,
    load_trainable,
)
from holisticbias_eval.pipeline.mitigation_card import CARD, model_card
from holisticbias_eval.pipeline.mitigation_training import Lesson, Search, train_lesson
from holisticbias_eval.pipeline.style_tuning import (
    CALIBRATION,
    CALIBRATION_RELEASE,
    CALIBRATION_WHERE,
    StyleOptions,
    style_lesson,
)
from holisticbias_eval.progress import Display
from holisticbias_eval.report.mitigation import training_report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.mitigation import AFTER, BEFORE, MEASURED
from holisticbias_eval.results.run import REPORT, is_run

TRAINING = "training.parquet"
MEASURES = ("generation_bias", "offensiveness", "response_wording")


def are_style_methods(names: Sequence[str]) -> bool:
    """Whether methods train on responses; raises ``MitigationError`` if some do and others train on a corpus."""
    kinds = {isinstance(METHODS.get(name), StyleMethod) for name in names}
    if len(kinds) > 1:
        raise MitigationError(
            "style_equality and self_chat train on responses, other methods on a corpus: run each kind"
        )
    return kinds == {True}


def mitigate_styles(
    names: Sequence[str],
    options: MitigationOptions,
    style: StyleOptions,
    measures: Sequence[str] | None,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method of styles on its own responses, and measure responses before and after.

    Without a model it is the embedded responder. ``measures`` come besides ``MEASURES``; None measures nothing. One
    method writes its folder at ``out``, several write a folder each in it. An interrupted call continues when it is
    made again. Raises ``EvaluationError``.
    """
    methods = [method for method in find_methods(names) if isinstance(method, StyleMethod)]
    model = options.model or RESPONDER
    style = _for_calibration(style) if model == RESPONDER else style
    runs_of([*MEASURES, *(measures or ())], None)
    loaded = load_trainable(model, options.device, display)
    made = []
    for method in methods:
        folder = out if len(methods) == 1 else out / method.info.name
        lesson = style_lesson(method, model, loaded, style, int(options.settings.get("seed", 0)), display)
        defaults = {**method.defaults, **(CALIBRATION if model == RESPONDER else {})}
        search = Search(tuple(grid_points(None, options.settings, defaults)))
        record = train_lesson(lesson, loaded, search, folder, display, overwrite=overwrite)
        write_training(lesson, folder / TRAINING)
        made.append(MitigatedModel(folder, record))
    if measures is not None:
        _measure(model, made, style, [*MEASURES, *measures], out, display)
    for one in made:
        before, after = (
            (out / MEASURED / BEFORE, one.folder / MEASURED / AFTER) if measures is not None else (None, None)
        )
        write_file(one.folder / CARD, model_card(one.record, before, after).encode())
    report = training_report([one.record for one in made])
    return Mitigated(made, report, write_report(report, "html", None, out / REPORT))


def write_training(lesson: Lesson, file: Path) -> None:
    """Write the texts of a lesson with their tags and bias values, and ``part``: train or validation."""
    parts = [
        table.append_column("part", pa.array([name] * table.num_rows, pa.string()))
        for name, table in (("train", lesson.texts), ("validation", lesson.validation))
    ]
    with new_file(file) as unfinished:
        pq.write_table(pa.concat_tables(parts), unfinished, compression="zstd")


def _for_calibration(style: StyleOptions) -> StyleOptions:
    """The options with what the embedded responder is made for, where nothing else is given."""
    answering = style.answering
    drawing = answering.drawing if answering.drawing.where else replace(answering.drawing, where=(CALIBRATION_WHERE,))
    judging = answering.judging
    if not judging.classifiers:
        judging = replace(judging, classifiers=tuple(CLASSIFIERS.values()))
    return replace(
        style,
        release=style.release or CALIBRATION_RELEASE,
        answering=replace(answering, drawing=drawing, decoding=answering.decoding or "unrestricted", judging=judging),
    )


def _measure(
    model: str,
    made: Sequence[MitigatedModel],
    style: StyleOptions,
    measures: Sequence[str],
    out: Path,
    display: Display,
) -> None:
    """Write runs before and after into the folders; runs that are there already are kept."""
    places = [(model, out / MEASURED / BEFORE), *((str(one.folder), one.folder / MEASURED / AFTER) for one in made)]
    for name, folder in places:
        wanted = runs_of(measures, folder)
        wanted = tuple((names, folder / names[0] if to == folder else to) for names, to in wanted)
        missing = tuple((names, to) for names, to in wanted if to is not None and not is_run(to))
        if missing:
            display.notice(f"Measuring {name}")
            for _ in evaluate(name, style.release, missing, answering=style.answering, display=display):
                pass
