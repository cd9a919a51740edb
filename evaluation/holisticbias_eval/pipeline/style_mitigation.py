"""Mitigate the styles of a model's responses from end to end: train, and measure before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.style_texts import StyleMethod
from holisticbias_eval.models.embedded.responder import RESPONDER
from holisticbias_eval.pipeline.judging import CALIBRATION as CLASSIFIERS
from holisticbias_eval.pipeline.mitigation import (
    Mitigated,
    MitigatedModel,
    continued_if_interrupted,
    finish,
    measure_models,
    placed,
)
from holisticbias_eval.pipeline.mitigation_lessons import MitigationOptions, find_methods, load_trainable, search
from holisticbias_eval.pipeline.mitigation_measuring import STYLE_AIM, Measuring, check_measuring
from holisticbias_eval.pipeline.mitigation_training import Lesson, train_lesson
from holisticbias_eval.pipeline.style_tuning import (
    CALIBRATION,
    CALIBRATION_RELEASE,
    CALIBRATION_WHERE,
    StyleOptions,
    style_lesson,
)
from holisticbias_eval.progress import Display

TRAINING = "training.parquet"


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
    measuring: Measuring | None,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method of styles on its own responses, and measure responses before and after.

    Without a model it is the embedded responder. Null ``measuring`` measures nothing; ``STYLE_AIM`` is always measured,
    on responses made as the training's are. One method writes its folder at ``out``, several write a folder each
    in it. An interrupted call continues when it is made again. Raises ``EvaluationError``.
    """
    methods = find_methods(names)
    model = options.model or RESPONDER
    style = _for_calibration(style) if model == RESPONDER else style
    if measuring is not None:
        measuring = replace(
            measuring, always=STYLE_AIM, release=measuring.release or style.release, answering=style.answering
        )
        check_measuring(measuring)
    loaded = load_trainable(model, options.device, display)
    calibration = CALIBRATION if model == RESPONDER else {}
    made = []
    for method, folder in placed(methods, out):
        if not isinstance(method, StyleMethod):
            continue
        lesson = style_lesson(method, model, loaded, style, int(options.settings.get("seed", 0)), display)
        chosen = search(method, options, calibration)
        record = train_lesson(lesson, loaded, chosen, folder, display, overwrite=overwrite)
        write_training(lesson, folder / TRAINING)
        made.append(MitigatedModel(folder, record))
    if measuring is not None:
        with continued_if_interrupted("the trained models are kept"):
            measure_models(model, made, None, measuring, out, display, overwrite=overwrite)
    return finish(made, out, display, measured=measuring is not None)


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
