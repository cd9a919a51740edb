"""Figures and comparisons of 10.5 million sentences, four times version 3.0.0, take at most 6 GB."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from growth_statistics import FIRST, SECOND, repeated, scores_path, with_synthetic_scores
from holisticbias.release.release import Release
from holisticbias_eval.prompts.selection import NO_NOUN, select_sentences

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MOST_BYTES, SENTENCES = 6e9, 10_500_000
SIZES = 50_000, 250_000
# the peak of a process counts that of the process that starts it, so a small one stands between
MEASURE = "import sys, growth, pathlib; print(growth.measure(sys.argv[1], pathlib.Path(sys.argv[2]), 1).peak_mb)"


def some_alone(sentences: pa.Table) -> pa.Table:
    """The sentences, one in ten without a noun: comparisons then select from the others."""
    nouns = np.where(np.arange(sentences.num_rows) % 10, sentences["noun_id"].cast(pa.string()).to_numpy(), NO_NOUN)
    return sentences.set_column(
        sentences.column_names.index("noun_id"), "noun_id", pa.array(nouns, pa.string()).dictionary_encode()
    )


@pytest.mark.parametrize("phase", ["statistics", "compare"])
def test_peak_memory_stays_within_the_promise(phase: str, release: Release, tmp_path: Path) -> None:
    sentences = select_sentences(release.sentences)
    peaks = []
    for size in SIZES:
        folder = tmp_path / str(size)
        folder.mkdir()
        for model in (FIRST, SECOND):
            scores = with_synthetic_scores(some_alone(sentences.slice(0, size)), model, np.random.default_rng(model))
            pq.write_table(scores, scores_path(folder, model), use_dictionary=repeated(scores.schema))
        command = (sys.executable, "-c", MEASURE, phase, str(folder))
        peaks.append(1e6 * float(subprocess.run(command, cwd=BENCHMARKS, capture_output=True, check=True).stdout))
    per_sentence = (peaks[1] - peaks[0]) / (SIZES[1] - SIZES[0])
    assert peaks[0] + per_sentence * SENTENCES < MOST_BYTES
