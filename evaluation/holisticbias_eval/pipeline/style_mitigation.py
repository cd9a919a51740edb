"""Mitigate the styles of a model's responses: train, and measure before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias_eval.mitigation.style_texts import StyleMethod
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.pipeline.judging import CALIBRATION as CLASSIFIERS
from holisticbias_eval.pipeline.mitigation import MitigatedModel, Place, continued_if_interrupted, measure_models
from holisticbias_eval.pipeline.mitigation_lessons import MitigationOptions, load_trainable, search
from holisticbias_eval.pipeline.mitigation_measuring import STYLE_AIM, Measuring
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


def mitigate_styles(
    methods: Sequence[StyleMethod],
    options: MitigationOptions,
    style: StyleOptions,
    measuring: Measuring | None,
    place: Place,
    *,
    display: Display,
    overwrite: bool,
) -> Sequence[MitigatedModel]:
    """Train a model with each method of styles on its own responses, and measure responses before and after.

    Without a model it is the embedded responder. Null ``measuring`` measures nothing; ``STYLE_AIM`` is always measured,
    on responses made as the training's are. Raises ``EvaluationError``.
    """
    model = options.model or RESPONDER
    style = _for_calibration(style) if model == RESPONDER else style
    loaded = load_trainable(model, options.device, display)
    calibration = CALIBRATION if model == RESPONDER else {}
    searches = [search(method, options, calibration) for method in methods]
    made = []
    for method, chosen in zip(methods, searches, strict=True):
        lesson = style_lesson(method, model, loaded, style, int(options.settings.get("seed", 0)), display)
        record = train_lesson(lesson, loaded, chosen, place.of(method), display, overwrite=overwrite)
        write_training(lesson, place.of(method) / TRAINING)
        made.append(MitigatedModel(place.of(method), record))
    if measuring is not None:
        measuring = replace(
            measuring, always=STYLE_AIM, release=measuring.release or style.release, answering=style.answering
        )
        with continued_if_interrupted("the trained models are kept"):
            measure_models(model, made, None, measuring, place, display, overwrite=overwrite)
    return made


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
    defaults = {"where": (CALIBRATION_WHERE,), "classifier": tuple(CLASSIFIERS.values()), "decoding": "unrestricted"}
    return replace(style, release=style.release or CALIBRATION_RELEASE, answering={**defaults, **style.answering})
