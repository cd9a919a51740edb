"""Measure a table of scores, without a model or a release."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.output import new_folder
from holisticbias.spreadsheet import safe_cell
from holisticbias_eval.corpus.published import is_published, published_paths
from holisticbias_eval.errors import EvaluationError, ScoresError
from holisticbias_eval.figures import Figure, Figures, Part
from holisticbias_eval.machine import package_versions
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.measures.responses.bias_corpus import corpus_figures
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.pipeline.score_files import read_scores
from holisticbias_eval.sections import Column, Section, Table
from holisticbias_eval.statistics.frequency import CORRELATION, correlate_frequency, count_terms

MEASUREMENT = "measurement.json"


class Measurement(Part):
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


def measure_file(
    measure: str, path: Path, settings: Settings | None, corpus: Path | None = None
) -> tuple[Measurement, Mapping[str, pa.Table], View]:
    """Measure the scores in a file; returns the figures, the tables of details by name, and the view to show.

    Without settings, figures that need resampling are left out. A corpus adds the rank correlation of a term's count
    in it and the term's median perplexity, or the mean probability of each style in the responses to it.
    """
    chosen = MEASURES[measure]
    scores = read_scores(path, chosen.needs.answers)
    measured = chosen.figures(scores, settings)
    figures = measured.figures
    if corpus is not None and chosen.needs.answers not in ("likelihoods", "labels"):
        raise EvaluationError(f"--corpus is for measures of likelihoods and for generation_bias, not for {measure}")
    if corpus is not None and chosen.needs.answers == "labels":
        figures += corpus_figures(View(Figures(figures), scores), count_corpus(corpus, scores))
    elif corpus is not None:
        figures += correlate_frequency(measure, scores, count_corpus(corpus, scores))
    measuring = chosen.signature(settings or Settings())
    measurement = describe_measurement(measure, path, measuring, scores.num_rows, figures, measured.notes)
    return measurement, measured.tables, View(Figures(figures), scores)


def describe_measurement(
    measure: str, path: Path, measuring: Mapping[str, str], rows: int, figures: tuple[Figure, ...], notes: Sequence[str]
) -> Measurement:
    """The record of the figures of a measure on the table in a file."""
    return Measurement(
        measure=measure,
        measuring=dict(measuring),
        scores=path.name or path.resolve().name,
        scores_sha256=_digest(measure, path),
        versions=package_versions(),
        sentences=rows,
        figures=figures,
        notes=tuple(notes),
    )


def _digest(measure: str, path: Path) -> str:
    """The digest of a file, or of the published files that are read with it."""
    if MEASURES[measure].needs.answers != "group_sentences" or not is_published(path):
        return file_sha256(path)
    lines = "".join(f"{file_sha256(file)}  {file.name}\n" for file in published_paths(path))
    return hashlib.sha256(lines.encode()).hexdigest()


def frequency_sections(measure: str, view: View) -> tuple[Section, ...]:
    """Show the rank correlations with the corpus; no section without a corpus."""
    figures = view.figures.by(measure, CORRELATION, "axis")
    columns = (
        Column("axis", "Axis"),
        Column("correlation", "Rank correlation", "rank correlation difference"),
        Column("p", "p", "p_value"),
        Column("descriptors", "Descriptors", "count"),
    )
    rows = tuple((view.label("axis", f.keys["axis"]), f.value, f.p_value, f.n) for f in figures)
    caption = "Corpus frequency and median perplexity of terms: below 0, common terms are likelier"
    table = Table("frequency", caption, columns, rows)
    return (Section("frequency", "Corpus frequency", (table,)),) if rows else ()


def count_corpus(corpus: Path, scores: pa.Table) -> Mapping[str, int]:
    """Count each descriptor of a table in a text file; raises ``ScoresError`` if the file cannot be read."""
    try:
        with corpus.open(encoding="utf-8") as lines:
            return count_terms(lines, scores["descriptor"].unique().to_pylist())
    except (OSError, UnicodeDecodeError) as error:
        raise ScoresError(f"{corpus} cannot be read as a corpus of UTF-8 text: {error}") from error


def write_measurement(measurement: Measurement, tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Write ``measurement.json``, ``figures.csv``, and each table as Parquet, whole or not at all."""
    with new_folder(folder, lambda old: (old / MEASUREMENT).is_file()) as made:
        (made / MEASUREMENT).write_text(measurement.model_dump_json(indent=2) + "\n", "utf-8")
        (made / "figures.csv").write_text(_as_csv(measurement.figures), "utf-8")
        for name, table in tables.items():
            pq.write_table(table, made / f"{name}.parquet", compression="zstd")


def _as_csv(figures: tuple[Figure, ...]) -> str:
    """A row per figure, with a column for each key and two for each interval."""
    keys = list(dict.fromkeys(key for figure in figures for key in figure.keys))
    intervals = ("interval", "floor_interval")
    plain = ("value", "unit", "floor", "p_value", "n", "missing", "of")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        [
            "measure",
            "name",
            *map(safe_cell, keys),
            *plain,
            *(f"{i}_{end}" for i in intervals for end in ("low", "high")),
        ]
    )
    for figure in figures:
        found = [getattr(figure, name) for name in intervals]
        writer.writerow(
            [figure.measure, figure.name, *(safe_cell(str(figure.keys.get(key, ""))) for key in keys)]
            + [getattr(figure, name) for name in plain]
            + [end for pair in found for end in ((pair.low, pair.high) if pair else (None, None))]
        )
    return file.getvalue()
