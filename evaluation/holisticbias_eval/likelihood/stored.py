"""Scores kept between runs: a scorer that scores only what its store does not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.likelihood.scorer import InputCounts, Probe, Scorer, Work
from holisticbias_eval.likelihood.scores import Scores, refuse_non_numbers
from holisticbias_eval.likelihood.spans import SPAN_FIELDS, Spans
from holisticbias_eval.likelihood.windows import Window
from holisticbias_eval.progress import Notice, Progress
from holisticbias_eval.store.shards import ShardStore, fingerprint

VERSION = 2  # version of the computation: with another version everything is scored again
_KEYS = tuple(name for name, _ in SPAN_FIELDS)
_VALUES = (("nll", pa.float64()), ("tokens", pa.int32()), ("bytes", pa.int32()))
_SCHEMA = pa.schema([*SPAN_FIELDS, *_VALUES])


def score_fingerprint(scorer: Scorer) -> str:
    """The fingerprint of a scorer's scores.

    It covers the weights' digest, the revision and the dtype of the model, and the
    scorer's settings; the model's name only if there are no weights to digest.
    """
    identity = scorer.identity
    model = {key: value for key, value in asdict(identity).items() if key in {"weights_sha256", "revision", "dtype"}}
    if identity.weights_sha256 is None:
        model["name"] = identity.name
    return fingerprint({"version": VERSION, "model": model, "settings": dict(scorer.settings)})


def score_store(folder: Path, scorer: Scorer, release_digest: str, notice: Notice) -> ShardStore:
    """The store of a scorer's scores, in a subfolder named after their fingerprint."""
    about = {
        "model": json.dumps(asdict(scorer.identity)),
        "settings": json.dumps(dict(scorer.settings)),
        "release": release_digest,
    }
    return ShardStore(folder / score_fingerprint(scorer), _SCHEMA, _KEYS, about, notice)


class StoredScorer(Scorer):
    """Scores only the spans that a store does not hold, block by block, and stores each block as it is done.

    ``kept`` says how many scores the store holds so far.
    """

    def __init__(self, scorer: Scorer, store: ShardStore) -> None:
        super().__init__(scorer.identity, scorer.kind, scorer.settings)
        self._scorer = scorer
        self._store = store
        self.kept = f"scores of earlier runs are kept in {store.folder}"

    def windows(self, texts: Sequence[str]) -> Sequence[tuple[Window, ...]]:
        """The scorer's windows."""
        return self._scorer.windows(texts)

    def work(self, spans: Spans) -> Work | None:
        """Count the scorer's work."""
        return self._scorer.work(spans)

    def probe(self, spans: Spans) -> Probe | None:
        """Probe the scorer."""
        return self._scorer.probe(spans)

    def input_counts(self) -> InputCounts | None:
        """The scorer's masked inputs so far."""
        return self._scorer.input_counts()

    def blocks(self, distinct: Spans) -> list[Spans]:
        """The distinct spans that the store lacks, in the blocks they are scored in; shared prefixes together."""
        return self._missing_blocks(distinct, self._store.read(distinct.table()))

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Read the scores of distinct spans, and score the missing ones."""
        held = [self._store.read(spans.table())]
        blocks = self._missing_blocks(spans, held[0])
        kept = len(spans) - sum(map(len, blocks))
        self._count(kept, len(spans))
        progress(kept)
        for i, scores in self._scorer.score_blocks(blocks, progress):
            refuse_non_numbers(blocks[i].text, scores)
            rows = _table(blocks[i], scores)
            self._store.write(rows)
            held.append(rows)
            kept += len(blocks[i])
            self._count(kept, len(spans))
        found = self._store.look_up(spans.table(), pa.concat_tables(held))
        return Scores(*(found[name].to_numpy() for name, _ in _VALUES))

    def _missing_blocks(self, distinct: Spans, held: pa.Table) -> list[Spans]:
        missing = distinct.take(self._store.missing(distinct.table(), held))
        columns = (missing.table()[name].combine_chunks() for name in ("context", "text"))
        texts = pc.binary_join_element_wise(*columns, pa.scalar("", pa.large_string()))
        order, size = pc.sort_indices(texts).to_numpy().astype(np.int64), self._scorer.block_size
        return [missing.take(order[start : start + size]) for start in range(0, len(order), size)]

    def _count(self, kept: int, asked: int) -> None:
        self.kept = f"{kept:,} of {asked:,} scores are kept in {self._store.folder}"


def _table(spans: Spans, scores: Scores) -> pa.Table:
    table = spans.table()
    for (name, kind), values in zip(_VALUES, (scores.nll, scores.tokens, scores.bytes), strict=True):
        table = table.append_column(name, pa.array(values, kind))
    return table
