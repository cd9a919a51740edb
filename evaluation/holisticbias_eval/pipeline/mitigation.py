"""Mitigate a model from end to end: train each method, measure before and after, and write the cards and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holisticbias.output import write_file
from holisticbias_eval.corpus.calibration import neutral_lines
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.models.embedded.gossip import GOSSIP
from holisticbias_eval.pipeline.mitigation_card import CARD, model_card
from holisticbias_eval.pipeline.mitigation_corpus import corpus_lesson
from holisticbias_eval.pipeline.mitigation_lessons import (
    MitigationOptions,
    find_methods,
    load_trainable,
    open_chosen_corpus,
    search,
)
from holisticbias_eval.pipeline.mitigation_measuring import (
    Measuring,
    check_measuring,
    measure_model,
    refuse_other_model,
    with_neutral_text,
)
from holisticbias_eval.pipeline.mitigation_training import train_lesson
from holisticbias_eval.progress import Display
from holisticbias_eval.report.mitigation import mitigation_report, training_report
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.mitigation import AFTER, BEFORE, MEASURED, Mitigation
from holisticbias_eval.results.run import REPORT
from holisticbias_eval.results.run_sets import find_sets


@dataclass(frozen=True, slots=True)
class MitigatedModel:
    """The folder of a trained model, and its record."""

    folder: Path
    record: Mitigation


@dataclass(frozen=True, slots=True)
class Mitigated:
    """The trained models, one for each method, and the page that compares them, as data and as a file."""

    models: Sequence[MitigatedModel]
    report: Report
    page: Path


def mitigate(
    names: Sequence[str],
    options: MitigationOptions,
    measuring: Measuring | None,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method, measure it before and after, and write a page that compares both.

    One method writes its folder at ``out``, several write a folder each in it. An interrupted call continues when it
    is made again. ``measuring`` is null if nothing is to be measured. Raises ``EvaluationError``.
    """
    methods = find_methods(names)
    if measuring is not None:
        check_measuring(measuring)
    base = options.model or GOSSIP
    loaded = load_trainable(base, options.device, display)
    corpus, groups = open_chosen_corpus(options, loaded, display)
    models = []
    for method, folder in placed(methods, out):
        lesson = corpus_lesson(method, corpus, corpus.specification, groups, loaded.tokenizer)
        display.notice(f"{method.info.title}: {lesson.texts.num_rows:,} texts to train on")
        record = train_lesson(lesson, loaded, search(method, options, {}), folder, display, overwrite=overwrite)
        models.append(MitigatedModel(folder, record))
    if measuring is not None:
        place = shared_folder(models, out)
        with continued_if_interrupted("the trained models are kept"):
            test_set = corpus.write_test_set(groups, place, overwrite=overwrite)
            if corpus.is_calibration:
                measuring = with_neutral_text(measuring, neutral_lines(), place / "neutral.txt")
            measure_models(base, models, test_set, measuring, out, display, overwrite=overwrite)
    return finish(models, out, display, measured=measuring is not None)


def placed(methods: Sequence[Method], out: Path) -> Sequence[tuple[Method, Path]]:
    """The folder of each method."""
    return [(method, out if len(methods) == 1 else out / method.info.name) for method in methods]


def measure_models(
    base: str,
    models: Sequence[MitigatedModel],
    test_set: Path | None,
    measuring: Measuring,
    out: Path,
    display: Display,
    *,
    overwrite: bool,
) -> None:
    """Measure the base model, and each trained model; runs that are there already are kept, unless ``overwrite``.

    Raises ``MitigationError`` if the folder has runs of another model before mitigation.
    """
    before = shared_folder(models, out) / BEFORE
    if not overwrite:
        refuse_other_model(before, models[0].record.base_model.weights_sha256)
    measure_model(base, test_set, measuring, before, display, overwrite=overwrite)
    for model in models:
        after = model.folder / MEASURED / AFTER
        measure_model(str(model.folder), test_set, measuring, after, display, overwrite=overwrite)


def shared_folder(models: Sequence[MitigatedModel], out: Path) -> Path:
    """The folder of what all models share: within that of a single model, beside those of several."""
    return out if len(models) > 1 else out / MEASURED


def finish(models: Sequence[MitigatedModel], out: Path, display: Display, *, measured: bool) -> Mitigated:
    """Write the model cards and the page."""
    before = shared_folder(models, out) / BEFORE if measured else None
    for model in models:
        after = model.folder / MEASURED / AFTER if measured else None
        write_file(model.folder / CARD, model_card(model.record, before, after).encode())
    records = [model.record for model in models]
    if measured:
        with display.step("Comparing the runs before and after"):
            report = mitigation_report(records, find_sets((out,)))
    else:
        report = training_report(records)
    return Mitigated(models, report, write_report(report, "html", None, out / REPORT))


@contextmanager
def continued_if_interrupted(kept: str) -> Iterator[None]:
    """Add to an interruption what is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{kept}; run the same command again to continue") from error
