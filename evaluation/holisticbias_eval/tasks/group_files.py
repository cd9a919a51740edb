"""Forms of users' tables of sentences about several groups: test sets to score, and perplexities."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from holisticbias_eval.corpus.published import is_published, read_group_perplexities, read_test_sets
from holisticbias_eval.errors import TableError
from holisticbias_eval.measures.perplexities.dimensions import IDS
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import Form, columns

TEST_FILE = "test.parquet"
"""The test part in the folder of a split."""
ALL = "all"
"""The dimension of a table without the column ``dimension``."""
TEST_SET = Form(
    "sentences",
    (
        Field("dimension", "name", default=lambda _, rows: pa.array([ALL] * rows)),
        *columns("name", "group", "sentence", need=True),
        *columns("label", *IDS, "original_group", "target", "attribute", "attribute_set"),
    ),
    blank_is_missing=True,
)
PERPLEXITIES = Form(
    "perplexities",
    (*TEST_SET.fields, Field("perplexity", "number", need=True), *columns("number", "nll", "tokens")),
    blank_is_missing=True,
)
"""``sentence`` is an id that groups share, or the text of the sentence; ``IDS`` then say which belong together."""


def read_group_scores(source: Path) -> pa.Table:
    """Read perplexities, which may be missing; without ``dimension`` all rows are of one.

    A published file or folder is read with the files of its other groups; see ``published.read_group_perplexities``.
    Raises ``TableError`` and ``CorpusError``.
    """
    if isinstance(source, str | Path) and is_published(Path(source)):
        return read_group_perplexities(Path(source))
    return PERPLEXITIES.read(source)


def read_test_set(path: Path) -> pa.Table:
    """Read the sentences to score from a file, from ``test.parquet`` in the folder of a split, or from published files.

    Raises ``TableError`` and ``CorpusError``.
    """
    file = path / TEST_FILE if path.is_dir() else path
    if not (path / TEST_FILE).is_file() and is_published(path):
        return read_test_sets(path).drop_columns(["perplexity"])
    if path.is_dir() and not file.is_file():
        raise TableError(
            f"{path} has no {TEST_FILE}: make it with holisticbias corpus split, or name a file of sentences"
        )
    return TEST_SET.read(file)
