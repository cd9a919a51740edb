"""Audit a classifier: judge fixed texts in which only the descriptor changes."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.progress import Progress
from holisticbias_eval.prompts.audit import COLUMNS, NOUNS, audit_texts
from holisticbias_eval.readers.censor import censor
from holisticbias_eval.readers.labels import Judge, StylesReader
from holisticbias_eval.readers.reader import read_each


def audit_table(
    release: Release,
    judge: Judge,
    progress: Progress,
    descriptors: Collection[str] | None = None,
    templates: Collection[str] | None = None,
    nouns: int = NOUNS,
) -> pa.Table:
    """Judge the sentences of ``audit_texts`` twice: as they are, and after mentions are replaced.

    Returns one row per judged text, all as they are first, with the columns
    ``COLUMNS``, ``judged``, the text that the classifier read, ``p:LABEL`` for
    each label, and ``censored``. What the probabilities differ by across
    descriptors is the classifier's own reaction to the words; after censoring,
    it is what censoring cannot remove. ``progress`` counts rows.
    """
    texts = audit_texts(release, descriptors, templates, nouns)
    plain = texts["text"].to_pylist()
    censored, _ = censor(plain, texts["descriptor"].to_pylist(), texts["plural"].to_pylist())
    judged = [*plain, *censored]
    found = read_each(StylesReader(judge=judge), judged, progress)
    rows = pa.concat_tables([texts.select(COLUMNS)] * 2)
    kinds = pa.array([False] * len(plain) + [True] * len(plain))
    columns = {**_columns(rows), "judged": pa.array(judged), **_columns(found), "censored": kinds}
    return pa.table(columns)


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))
