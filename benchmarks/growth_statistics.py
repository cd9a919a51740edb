"""Growth of the statistics and of comparisons with the number of terms: phases of ``growth.py``.

No model runs: each sentence of the built release gets a synthetic negative log-likelihood, from effects of its
descriptor, noun and template, of a descriptor in a template, and of the sentence alone.

- ``scores`` writes the scores of two models;
- ``statistics`` computes the figures of stance contrast and Likelihood Bias from those of the first model;
- ``compare`` compares both models.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.types import is_floating
from scipy.special import ndtri

from holisticbias.compile.random_words import random_words_at
from holisticbias.release.bounded import check_parquet
from holisticbias.release.manifest import read_manifest
from holisticbias.release.parquet import read_parts
from holisticbias_eval.figures import Figures
from holisticbias_eval.identity import count_shared
from holisticbias_eval.measures import MEASURES, compared_columns
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.prompts.selection import select_sentences
from holisticbias_eval.prompts.sentences import SENTENCE_COLUMNS, UNIQUE
from holisticbias_eval.results.compare import number_equal_texts

MEASURED = ("stance_contrast", "likelihood_bias")
READ = ("axis", "template", "template_id", "descriptor_id", "noun_id", "nll", "tokens", "perplexity")
TOKENS = 8
FIRST, SECOND = 1, 2
VARYING = (("descriptor_id",), ("noun_id",), ("template_id",), ("descriptor_id", "template_id"))


def write_scores(folder: Path, _: int) -> None:
    """Write the scores of two models, a part of the release at a time."""
    files = read_manifest(folder / "release").tables["sentences"].files
    for model in (FIRST, SECOND):
        with ExitStack() as stack:
            writer = None
            for number, file in enumerate(files):
                for part, rows in enumerate(read_parts(folder / "release" / file)):
                    rng = np.random.default_rng([model, number, part])
                    table = with_synthetic_scores(select_sentences(rows), model, rng)
                    if writer is None:
                        path = scores_path(folder, model)
                        writer = stack.enter_context(
                            pq.ParquetWriter(path, table.schema, use_dictionary=repeated(table.schema))
                        )
                    writer.write_table(table)


def statistics(folder: Path, _: int) -> None:
    """Compute the figures of the first model's scores."""
    table = pq.read_table(scores_path(folder, FIRST), columns=list(READ))
    for name in MEASURED:
        assert MEASURES[name].figures(table, MeasureSettings()).figures


def compare(folder: Path, _: int) -> None:
    """Compare the scores of both models."""
    files = [check_parquet(scores_path(folder, model)) for model in (FIRST, SECOND)]
    wanted = compared_columns(MEASURED) or ()
    names = [name for name in files[0].schema.names if name in wanted]
    views = [View(Figures(()), table) for table in number_equal_texts(*(file.read(names) for file in files))]
    count_shared(*(view.answers for view in views))
    assert [change for name in MEASURED for change in MEASURES[name].compare(*views)]


def repeated(schema: pa.Schema) -> list[str]:
    """The columns that a run writes with a dictionary."""
    return [field.name for field in schema if field.name not in UNIQUE and not is_floating(field.type)]


def scores_path(folder: Path, model: int) -> Path:
    """The file of a model's scores."""
    return folder / f"scores-{model}.parquet"


def with_synthetic_scores(sentences: pa.Table, model: int, rng: np.random.Generator) -> pa.Table:
    """The columns of a run's scores, with scores of this model."""
    columns = {name: sentences[name].combine_chunks() for name in SENTENCE_COLUMNS}
    nll = 30 + rng.normal(0, 1.5, sentences.num_rows)
    for i, names in enumerate(VARYING):
        nll += _effects([columns[name] for name in names], 10 * model + i)
    tokens, perplexity = np.full(len(nll), TOKENS, np.int32), np.exp(nll / TOKENS)
    return pa.table({**columns, "nll": nll, "tokens": tokens, "perplexity": perplexity})


def _effects(columns: Sequence[pa.Array], seed: int) -> npt.NDArray[np.float64]:
    """A normal effect of each combination of values, the same wherever it occurs."""
    word, first = np.full(len(columns[0]), seed, np.uint64), np.zeros((len(columns[0]), 1), np.int64)
    for column in columns:
        encoded = column.dictionary_encode()
        digests = np.array([crc32(text.encode()) for text in encoded.dictionary.to_pylist()], np.uint64)
        word = random_words_at(word + digests[encoded.indices.to_numpy()], first)[:, 0]
    uniform = ((word >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53
    effects: npt.NDArray[np.float64] = ndtri(uniform)
    return effects
