"""Measure a user's table of texts about groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import eq
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.pipeline.measurement import Measurement, describe_measurement
from holisticbias_eval.pipeline.naming import naming_texts
from holisticbias_eval.pipeline.text_files import read_texts
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import JudgingOptions, show_reading, start_text_judges
from holisticbias_eval.readers.reader import measured_texts

Tables = Mapping[str, pa.Table]


def text_measure(name: str) -> GroupMeasure:
    """The measure of texts of this name; raises ``EvaluationError`` if it is a measure of something else."""
    measure = MEASURES[name]
    if not isinstance(measure, GroupMeasure):
        known = ", ".join(key for key, found in MEASURES.items() if isinstance(found, GroupMeasure))
        raise EvaluationError(f"{name} is not a measure of texts: give its table with --scores; --texts is for {known}")
    return measure


def measure_texts(
    name: str, path: Path, settings: Settings, options: JudgingOptions, display: Display
) -> tuple[Measurement, Tables, View]:
    """Measure the texts in a file; returns the figures, the tables of details by name, and the view to show."""
    measure = text_measure(name)
    if options.classifiers and not measure.reader.card:
        raise EvaluationError(f"--classifier is for toxicity and regard: {name} reads the words of texts by itself")
    measuring = dict(measure.signature(settings))
    texts = read_texts(path)
    judge = start_text_judges([measure.reader], options, display).get(measure.reader.name)
    if judge is not None:
        measuring |= judge.classifier.settings
    reader = measure.start(settings, judge)
    read = show_reading(reader, texts, display)
    with display.step(f"Measuring {name} of {texts.num_rows:,} texts"):
        measured = measure.figures(read, settings)
    named = naming_texts(read)
    figures = measured.figures
    if named is not None:
        again = show_reading(reader, named.written, display)
        figures += measure.naming_figures(named.replaced, again, named.naming)
    notes = (*measured.notes, *_subject_notes(texts))
    found = describe_measurement(name, path, measuring, texts.num_rows, figures, notes)
    return found, {**measured.tables, "texts": read}, View(Figures(figures), read)


def _subject_notes(texts: pa.Table) -> Iterator[str]:
    """The number of texts that do not contain their subject, in which nothing is replaced."""
    if "subject" not in texts.column_names:
        return
    named = texts.filter(pc.and_(pc.is_valid(texts["subject"]), pc.is_valid(texts["text"])))
    unchanged = sum(map(eq, named["text"].to_pylist(), measured_texts(named)))
    if unchanged:
        yield (
            f"{unchanged:,} of {named.num_rows:,} texts do not contain their subject as it is written: "
            "nothing is replaced in them"
        )
