"""Scores kept between runs: a scorer that scores only what its store does not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import overload

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Ints
from holisticbias_eval.models.likelihood.scorer import InputCounts, Probe, Scorer, Work
from holisticbias_eval.models.likelihood.scores import Scores, no_scores, refuse_non_numbers
from holisticbias_eval.models.likelihood.spans import SPAN_FIELDS, Spans
from holisticbias_eval.models.likelihood.windows import Window
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from holisticbias_eval.progress import Notice, Progress

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


@dataclass(frozen=True, slots=True)
class _Blocks(Sequence[Spans]):
    """Blocks of spans, each made when it is asked for; ``rows`` are the positions of each block's spans."""

    spans: Spans
    rows: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Spans: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Spans]: ...
    def __getitem__(self, place: int | slice) -> Spans | Sequence[Spans]:
        if isinstance(place, slice):
            return _Blocks(self.spans, self.rows[place])
        return self.spans.take(self.rows[place])


class StoredScorer(Scorer):
    """Scores only the spans that a store does not hold, block by block, and stores each block as it is done.

    ``kept`` says how many scores the store holds so far.
    """

    def __init__(self, scorer: Scorer, store: ShardStore) -> None:
        scored = scorer.first_token_scored
        super().__init__(scorer.identity, scorer.kind, scorer.settings, first_token_scored=scored)
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

    def blocks(self, distinct: Spans) -> Sequence[Spans]:
        """The distinct spans that the store lacks, in the blocks they are scored in; shared prefixes together."""
        return self._missing_blocks(distinct, self._held(distinct)[1])

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Read the scores of distinct spans, and score the missing ones."""
        found, known = self._held(spans)
        blocks = self._missing_blocks(spans, known)
        kept = int(known.sum())
        self._count(kept, len(spans))
        progress(kept)
        for i, scores in self._scorer.score_blocks(blocks, progress):
            block = blocks[i]
            refuse_non_numbers(block.text, scores)
            self._store.write(_table(block, scores))
            found.put(blocks.rows[i], scores)
            kept += len(block)
            self._count(kept, len(spans))
        return found

    def _held(self, spans: Spans) -> tuple[Scores, Bools]:
        """The scores of distinct spans, and which of them the store holds; of a span held twice the first counts."""
        found, known = no_scores(len(spans)), np.zeros(len(spans), np.bool_)
        for places, rows in self._store.find(spans):
            new = ~known[places]
            unseen = rows if new.all() else rows.filter(pa.array(new))
            values = (unseen[name].to_numpy()[::-1] for name, _ in _VALUES)
            found.put(places[new][::-1], Scores(*values))
            known[places] = True
        return found, known

    def _missing_blocks(self, distinct: Spans, known: Bools) -> _Blocks:
        rows = np.flatnonzero(~known)
        ordered = rows[(distinct if len(rows) == len(distinct) else distinct.take(rows)).order()]
        size = self._scorer.block_size
        return _Blocks(distinct, tuple(ordered[start : start + size] for start in range(0, len(ordered), size)))

    def _count(self, kept: int, asked: int) -> None:
        self.kept = f"{kept:,} of {asked:,} scores are kept in {self._store.folder}"


def _table(spans: Spans, scores: Scores) -> pa.Table:
    table = spans.table()
    for (name, kind), values in zip(_VALUES, (scores.nll, scores.tokens, scores.bytes), strict=True):
        table = table.append_column(name, pa.array(values, kind))
    return table
