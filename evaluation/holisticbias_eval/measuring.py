"""Measure a user's table of scores, responses or texts, without a model or a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.inputs import file_sha256, files_sha256, has_file
from holisticbias.output import new_folder
from holisticbias.spreadsheet import csv_text
from holisticbias_eval.corpus.published import is_published, published_paths
from holisticbias_eval.errors import about_rows_of
from holisticbias_eval.figures import Figure, Figures, Part, figure_columns
from holisticbias_eval.measures import MEASURES, find_measure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import Measure, Measured, MeasureFigures, MeasureSettings, View
from holisticbias_eval.measures.options import CorpusSettings, Resampling, ResamplingSeed
from holisticbias_eval.measures.responses.bias_details import corpus_figures
from holisticbias_eval.models.machine import package_versions
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.labels import LabelReader, ToxicitySettings
from holisticbias_eval.readers.reader import measured_texts
from holisticbias_eval.records import record_json
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import table_of
from holisticbias_eval.settings import Condition, Use, Values, read_settings, refuse_unused
from holisticbias_eval.statistics.medians import CORRELATION, correlate_frequency
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.judging import count_corpus, find_clusters
from holisticbias_eval.tasks.response_files import TEXTS
from holisticbias_eval.tasks.task import Given
from holisticbias_eval.tasks.text_reading import find_text_reading

TRUST = Condition("without --no-trust", lambda values: values.get("trust", True))
MEASUREMENT = "measurement.json"
is_measurement = has_file(MEASUREMENT)
"""Whether a folder holds the figures of a table, which others may replace."""
Found = tuple[pa.Table, Mapping[str, str], Measured]
"""The table that was measured, the parameters of the measure, and what it gives."""


class MeasurementRecord(Part):
    """``measurement.json``: the figures of a measure on a table of scores, and what they depend on.

    ``scores`` is the name of the file or folder and ``scores_sha256`` its digest; the digest of several files is that
    of a line for each with its digest and name, as sha256sum writes it.
    """

    measure: str
    measuring: dict[str, str]
    scores: str
    scores_sha256: str
    versions: dict[str, str]
    sentences: int
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """The figures of a table, its tables of details by name, and what a report shows."""

    measurement: MeasurementRecord
    tables: Mapping[str, pa.Table]
    view: View
    sections: tuple[Section, ...] = ()


def measure_uses() -> Mapping[str, Sequence[Use]]:
    """The settings that each measure of a user's table uses."""
    found: dict[str, Sequence[Use]] = {}
    for name, measure in MEASURES.items():
        corpus = (Use(CorpusSettings),) if measure.needs.counted else ()
        threshold = (Use(ToxicitySettings),) if measure.needs.answers == "offensiveness" else ()
        resampled = (Use(Resampling), Use(ResamplingSeed, (TRUST,))) if measure.resamples else ()
        read = (*measure.reading, Use(ResamplingSeed)) if measure.needs.answers == "texts" else (*corpus, *resampled)
        own = tuple(use for use in measure.uses if use.settings is not CorpusSettings)
        found[name] = (*own, *threshold, *read)
    return found


def measure_table(name: str, path: Path, values: Values, display: Display) -> MeasuredTable:
    """Measure a user's table of scores, responses or texts.

    Raises ``EvaluationError`` for an unknown measure and a setting that has no effect, and ``TableError`` for a table
    that does not fit.
    """
    measure = find_measure(name)
    refuse_unused(values, measure_uses(), [name])
    given = Given(None, None, values, (name,), display)
    chosen = {**values, "clusters": find_clusters(given), "values": values}
    settings = read_settings(MeasureSettings, chosen)
    with about_rows_of(path):
        if isinstance(measure, GroupMeasure):
            table, measuring, found = _measure_texts(measure, path, settings, given)
        else:
            table, measuring, found = _measure_scores(measure, path, settings, given)
    record = MeasurementRecord(
        measure=name,
        measuring=dict(measuring),
        scores=path.name or path.resolve().name,
        scores_sha256=_digest(name, path),
        versions=package_versions(),
        sentences=table.num_rows,
        figures=found.figures,
        notes=found.notes,
    )
    view = View(Figures(found.figures), table)
    return MeasuredTable(record, found.tables, view, frequency_sections(name, view))


def _measure_scores(measure: Measure, path: Path, settings: MeasureSettings, given: Given) -> Found:
    """Measure scores; without trust, figures that need resampling are left out.

    A corpus adds the rank correlation of a term's count in it and the term's median perplexity, or the mean
    probability of each style in the responses to it.
    """
    trusted = settings if given.read(Resampling).trust or not measure.resamples else None
    scores = TASKS[measure.task].tables[measure.needs.answers](path)
    measured, corpus = measure.figures(scores, trusted), given.read(CorpusSettings).corpus
    if corpus is not None:
        counts = count_corpus(corpus, scores)
        if measure.needs.answers == "labels":
            more = corpus_figures(View(Figures(measured.figures), scores), counts)
        else:
            more = correlate_frequency(measure.info.name, scores, counts)
        measured = replace(measured, figures=(*measured.figures, *more))
    return scores, measure.signature(trusted or MeasureSettings()), measured


def _measure_texts(measure: GroupMeasure, path: Path, settings: MeasureSettings, given: Given) -> Found:
    display = given.display
    texts, reading = TEXTS.read(path), find_text_reading(given).start(display)
    settings = settings.model_copy(update={"values": reading.measuring.values})
    measuring = dict(measure.signature(settings))
    for reader in reading.readers:
        measuring |= reader.judge.settings if isinstance(reader, LabelReader) else {}
    read = reading.read(texts, display)
    with display.step(f"Measuring {measure.info.name} of {texts.num_rows:,} texts"):
        measured = measure.figures(read, settings)
    figures, notes = (*measured.figures, *reading.naming(read, display)), (*measured.notes, *_subject_notes(texts))
    return read, measuring, Measured(figures, {**measured.tables, "texts": read}, notes)


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


def _digest(measure: str, path: Path) -> str:
    """The digest of a file, or of the published files that are read with it."""
    if MEASURES[measure].needs.answers != "group_sentences" or not is_published(path):
        return file_sha256(path)
    return files_sha256(published_paths(path))


def frequency_sections(measure: str, view: View) -> tuple[Section, ...]:
    """Show the rank correlations with the corpus; no section without a corpus."""
    figures = view.figures.by(measure, CORRELATION, "axis")
    columns = (
        MeasureFigures(view, measure).axis_column,
        col.value("correlation", "Rank correlation", "rank correlation difference"),
        col.p(key="p"),
        col.n("descriptors", "Descriptors", base=False),
    )
    caption = "Corpus frequency and median perplexity of terms: below 0, common terms are likelier"
    table = table_of("frequency", caption, columns, figures)
    return (Section("frequency", "Corpus frequency", (table,)),) if figures else ()


def write_measurement(measurement: MeasurementRecord, tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Write ``measurement.json``, ``figures.csv``, and each table as Parquet, whole or not at all."""
    with new_folder(folder, is_measurement) as made:
        (made / MEASUREMENT).write_text(record_json(measurement), "utf-8")
        (made / "figures.csv").write_text(_as_csv(measurement.figures), "utf-8")
        for name, table in tables.items():
            pq.write_table(table, made / f"{name}.parquet", compression="zstd")


def _as_csv(figures: tuple[Figure, ...]) -> str:
    """A row per figure, with a column for each key and two for each interval."""
    columns = figure_columns(figures, ("measure", "name"), ())
    columns |= figure_columns(figures, ("value", "unit", "floor", "p_value", "n", "missing", "of"))
    return csv_text([columns, *zip(*columns.values(), strict=True)])
