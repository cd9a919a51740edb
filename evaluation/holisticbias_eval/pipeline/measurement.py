"""A measure of a table of scores alone, without a model or a release: what it finds, and how it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.output import new_folder
from holisticbias_eval.errors import ScoresError, SelectionError
from holisticbias_eval.figures import Part
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.measures.medians import measure_love_hate, measure_medians
from holisticbias_eval.measures.tables import read_scores
from holisticbias_eval.measures.trust.records import Trust, TrustSettings
from holisticbias_eval.measures.trust.trust import measure_trust
from holisticbias_eval.results.run import MEASURING, LikelihoodBiasResult, likelihood_bias_result, package_versions
from holisticbias_eval.statistics.frequency import FrequencyCorrelation, correlate_frequency, count_terms

MEASUREMENT = "measurement.json"


class PairShare(Part):
    """Likelihood Bias of one pair of descriptors: the share of templates in which they differ.

    The last three are figures of trust, means over the templates; see ``measures.pairs.by_pair``.
    """

    axis: str
    first: str
    second: str
    templates: int
    significant: int
    share: float | None
    paired_share: float | None = None
    rank_biserial: float | None = None
    nats: float | None = None


class Measurement(Part):
    """``measurement.json``: Likelihood Bias of a table of scores, and how far it can be trusted.

    ``scores`` is the name of the file and ``scores_sha256`` its digest.
    ``trust`` is missing where it was not asked for or cannot be had; ``note`` says why.
    ``frequency`` is missing where no corpus was given.
    """

    measure: str
    measuring: dict[str, str]
    scores: str
    scores_sha256: str
    versions: dict[str, str]
    sentences: int
    without_perplexity: int
    likelihood_bias: LikelihoodBiasResult
    by_pair: tuple[PairShare, ...]
    trust: Trust | None
    note: str | None
    frequency: tuple[FrequencyCorrelation, ...] | None = None


def measure_file(
    measure: str, path: Path, settings: TrustSettings | None, corpus: Path | None = None
) -> tuple[Measurement, Mapping[str, pa.Table]]:
    """Likelihood Bias of the scores in a file, and its tables by name; without settings, no figures of trust."""
    scores = read_scores(path)
    bias = measure_likelihood_bias(scores)
    pairs = bias.by_pair()
    trust, note = None, None
    if settings:
        try:
            trust, effects = measure_trust(scores, settings)
            pairs = _with_effects(pairs, effects)
        except SelectionError as error:
            note = f"how far the figures can be trusted is not known: {error}"
    medians = measure_medians(scores)
    measurement = Measurement(
        measure=measure,
        measuring=MEASURING,
        scores=path.name,
        scores_sha256=_digest(path),
        versions=package_versions(),
        sentences=scores.num_rows,
        without_perplexity=scores["perplexity"].null_count,
        likelihood_bias=likelihood_bias_result(bias),
        by_pair=tuple(PairShare(**row) for row in pairs.to_pylist()),
        trust=trust,
        note=note,
        frequency=None if corpus is None else correlate_frequency(medians, _count(corpus, scores)),
    )
    shares = {name: _table(rows) for name, rows in measurement.likelihood_bias}
    tables = {**shares, "by_pair": pairs, "medians": medians, "love_hate": measure_love_hate(scores)}
    return measurement, {**tables, "tests": bias.tests}


def _with_effects(pairs: pa.Table, effects: pa.Table) -> pa.Table:
    """The pairs with what the other table says of their effects; both have them in one order."""
    for name in ("paired_share", "rank_biserial", "nats"):
        pairs = pairs.append_column(name, effects[name])
    return pairs


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _count(corpus: Path, scores: pa.Table) -> Mapping[str, int]:
    try:
        with corpus.open(encoding="utf-8") as lines:
            return count_terms(lines, scores["descriptor"].unique().to_pylist())
    except (OSError, UnicodeDecodeError) as error:
        raise ScoresError(f"{corpus} cannot be read as a corpus of UTF-8 text: {error}") from error


def _table(rows: tuple[Part, ...]) -> pa.Table:
    return pa.Table.from_pylist([json.loads(row.model_dump_json()) for row in rows])


def write_measurement(measurement: Measurement, tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Write ``measurement.json``, a CSV file of each table, and every test as Parquet, whole or not at all."""
    with new_folder(folder, lambda old: (old / MEASUREMENT).is_file()) as made:
        (made / MEASUREMENT).write_text(measurement.model_dump_json(indent=2) + "\n", "utf-8")
        pq.write_table(tables["tests"], made / "tests.parquet", compression="zstd")
        for name, table in tables.items():
            if name != "tests":
                pa.csv.write_csv(_plain(table), made / f"{name}.csv")


def _plain(table: pa.Table) -> pa.Table:
    """The same without dictionaries, which CSV has not, and without columns in which everything is missing."""
    columns = {n: table[n] for n in table.column_names if not pa.types.is_null(table[n].type)}
    return pa.table({n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()})
