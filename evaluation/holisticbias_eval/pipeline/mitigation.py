"""Mitigate with sentences about groups: train each method, measure before and after, and write cards and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from holisticbias.output import write_file
from holisticbias_eval.corpus.calibration import neutral_lines
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.models.embedded import GOSSIP, default_release
from holisticbias_eval.models.likelihood.opening import FIRST_TOKEN, find_opening
from holisticbias_eval.pipeline.mitigation_card import CARD, model_card
from holisticbias_eval.pipeline.mitigation_corpus import corpus_lesson
from holisticbias_eval.pipeline.mitigation_lessons import (
    MitigationOptions,
    calibration_settings,
    load_trainable,
    open_chosen_corpus,
    search,
)
from holisticbias_eval.pipeline.mitigation_measuring import (
    Measuring,
    measure_model,
    refuse_other_run,
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


@dataclass(frozen=True, slots=True)
class Place:
    """The output folder: of one method itself, of ``several`` a folder with one for each."""

    out: Path
    several: bool

    def of(self, method: Method) -> Path:
        """The folder of a method's model."""
        return self.out / method.info.name if self.several else self.out

    @property
    def shared(self) -> Path:
        """The folder of what all models share: within that of a single model, beside those of several."""
        return self.out if self.several else self.out / MEASURED


def mitigate_with_corpus(
    methods: Sequence[Method],
    options: MitigationOptions,
    measuring: Measuring | None,
    place: Place,
    *,
    display: Display,
    overwrite: bool,
) -> Sequence[MitigatedModel]:
    """Train a model with each method on sentences about groups, and measure it before and after.

    Without a model it is the embedded gossip. Null ``measuring`` measures nothing. Raises ``EvaluationError``.
    """
    base = options.model or GOSSIP
    loaded = load_trainable(base, options.device, display)
    opening = find_opening(loaded.tokenizer, options.first_token)
    corpus, groups = open_chosen_corpus(options, loaded, display)
    tuned = base == GOSSIP
    searches = [search(method, options, calibration_settings(method, options) if tuned else {}) for method in methods]
    models = []
    for method, chosen in zip(methods, searches, strict=True):
        lesson = corpus_lesson(method, corpus, corpus.specification, groups, loaded.tokenizer)
        lesson = replace(lesson, first_token=options.first_token, given={**lesson.given, **opening.settings})
        display.notice(
            f"{method.info.title}: {lesson.texts.num_rows:,} texts to train on{_not_rewritten(lesson.counts)}"
        )
        record = train_lesson(lesson, loaded, chosen, place.of(method), display, overwrite=overwrite)
        models.append(MitigatedModel(place.of(method), record))
    if measuring is not None:
        with continued_if_interrupted("the trained models are kept"):
            test_set = corpus.write_test_set(groups, place.shared, overwrite=overwrite)
            if corpus.is_calibration:
                measuring = with_neutral_text(measuring, neutral_lines(), place.shared / "neutral.txt")
            measure_models(base, models, test_set, measuring, place, display, overwrite=overwrite)
    return models


def _not_rewritten(counts: Mapping[str, int]) -> str:
    """The forms of sentences that could not be written, by reason, for the end of a line."""
    reasons = {name.partition(": ")[2]: count for name, count in counts.items() if name.startswith("not_rewritten: ")}
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
    return f"; forms not written: {listed}" if listed else ""


def measure_models(
    base: str,
    models: Sequence[MitigatedModel],
    test_set: Path | None,
    measuring: Measuring,
    place: Place,
    display: Display,
    *,
    overwrite: bool,
) -> None:
    """Measure the base model, and each trained model; runs that are there already are kept, unless ``overwrite``.

    Raises ``MitigationError`` if the folder has runs of another model before mitigation.
    """
    before = place.shared / BEFORE
    measuring = replace(measuring, release=measuring.release or default_release(base))
    if not overwrite:
        record = models[0].record
        refuse_other_run(measuring, before, record.base_model.weights_sha256, record.given.get(FIRST_TOKEN))
    measure_model(base, test_set, measuring, before, display, overwrite=overwrite)
    for model in models:
        after = model.folder / MEASURED / AFTER
        measure_model(str(model.folder), test_set, measuring, after, display, overwrite=overwrite)


def finish(models: Sequence[MitigatedModel], place: Place, display: Display, *, measured: bool) -> Mitigated:
    """Write the model cards and the page."""
    before = place.shared / BEFORE if measured else None
    for model in models:
        after = model.folder / MEASURED / AFTER if measured else None
        write_file(model.folder / CARD, model_card(model.record, before, after).encode())
    records = [model.record for model in models]
    if measured:
        with display.step("Comparing the runs before and after"):
            report = mitigation_report(records, find_sets((place.out,)))
    else:
        report = training_report(records)
    return Mitigated(models, report, write_report(report, "html", None, place.out / REPORT))


@contextmanager
def continued_if_interrupted(kept: str) -> Iterator[None]:
    """Add to an interruption what is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{kept}; run the same command again to continue") from error
