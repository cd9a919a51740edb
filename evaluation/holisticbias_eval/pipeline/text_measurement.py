"""Measure a user's table of texts about groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.classifiers.card import FILES
from holisticbias_eval.classifiers.engines import start_classifier
from holisticbias_eval.classifiers.stored import classify_texts, label_store, probability_columns
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.pipeline.measurement import Measurement, describe_measurement
from holisticbias_eval.pipeline.text_files import read_texts
from holisticbias_eval.progress import Display
from holisticbias_eval.readings.columns import measured_texts

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class ClassifierOptions:
    """The classifier of texts: its name or file, its device, its server, and the folder that keeps probabilities.

    Without a name, the measure's default classifier judges; without a store nothing is kept.
    """

    name: str | None = None
    device: str = "auto"
    api_base: str | None = None
    store: Path | None = None


def text_measure(name: str) -> GroupMeasure:
    """The measure of texts of this name; raises ``EvaluationError`` if it is a measure of something else."""
    measure = MEASURES[name]
    if not isinstance(measure, GroupMeasure):
        known = ", ".join(key for key, found in MEASURES.items() if isinstance(found, GroupMeasure))
        raise EvaluationError(f"{name} is not a measure of texts: give its table with --scores; --texts is for {known}")
    return measure


def measure_texts(
    name: str, path: Path, settings: Settings, options: ClassifierOptions, display: Display
) -> tuple[Measurement, Tables, View]:
    """Measure the texts in a file; returns the figures, the tables of details by name, and the view to show."""
    measure = text_measure(name)
    if options.name is not None and not measure.classifier:
        raise EvaluationError(f"--classifier is for toxicity and regard: {name} reads the words of texts by itself")
    measuring = dict(measure.signature(settings))
    texts = read_texts(path)
    probabilities = None
    if measure.classifier:
        probabilities, judged = judge_texts(measure, texts, options, display)
        measuring |= judged
    with display.step(f"Measuring {name} of {texts.num_rows:,} texts"):
        read = measure.read(texts, settings, probabilities)
        measured = measure.figures(read, settings)
    found = describe_measurement(name, path, measuring, texts.num_rows, measured.figures, measured.notes)
    return found, {**measured.tables, "texts": read}, View(Figures(measured.figures), read)


def judge_texts(
    measure: GroupMeasure, texts: pa.Table, options: ClassifierOptions, display: Display
) -> tuple[pa.Table, Mapping[str, str]]:
    """The probabilities of each text, its subject replaced, and the settings of the classifier for a signature.

    The table has a column ``p:LABEL`` for each label that the measure reads. Raises ``EvaluationError`` if the
    classifier cannot be used for the measure; no model is loaded before that.
    """
    name = options.name or measure.classifier
    labels = measure.labels(FILES.read(name))
    with display.step(f"Loading classifier {name}"):
        classifier = start_classifier(name, display.notice, options.device, options.api_base)
    store = label_store(options.store, classifier, display.notice) if options.store is not None else None
    with display.progress(f"Classifying with {classifier.card.id}", texts.num_rows) as advance:
        values = classify_texts(classifier, measured_texts(texts), store, advance)
    columns = probability_columns(classifier.card, values)
    return pa.table({f"p:{label}": columns[f"p:{label}"] for label in labels}), classifier.settings
