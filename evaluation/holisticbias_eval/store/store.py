"""Scores that survive: Parquet shards, each named after its own SHA-256, in a folder for each model and setting."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.errors import OutputError
from holisticbias_eval.arrays import Ints
from holisticbias_eval.likelihood.scorer import (
    Notice,
    Progress,
    Scorer,
    Scores,
    Spans,
    refuse_non_numbers,
    span_keys,
    unique_spans,
)

BLOCK = 16_384
API_BLOCK = 1024  # a server is slow: lose less when it dies
VERSION = 2  # of how values are computed: another one scores everything again
_STALE_SECONDS = 3600
_SCHEMA = pa.schema(
    [
        ("text", pa.large_string()),
        ("start", pa.int32()),
        ("stop", pa.int32()),
        ("context", pa.large_string()),
        ("nll", pa.float64()),
        ("tokens", pa.int32()),
        ("bytes", pa.int32()),
    ]
)
Blocks = Callable[[Sequence[Spans], Progress], Iterator[tuple[int, Scores]]]


def fingerprint(scorer: Scorer) -> str:
    """What the scores depend on besides the text, as 32 hexadecimal digits.

    The weights' digest, the revision and the dtype of the model, the tokenizer's
    digest and the scorer's other settings; the name only where there are no
    weights to digest.
    """
    identity = scorer.identity
    model = {key: value for key, value in asdict(identity).items() if key in {"weights_sha256", "revision", "dtype"}}
    if identity.weights_sha256 is None:
        model["name"] = identity.name
    key = {"version": VERSION, "model": model, "settings": dict(scorer.settings)}
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]


class ScoreStore:
    """The shards of one fingerprint in a folder; any number of processes may read and write it at once."""

    def __init__(self, folder: Path, scorer: Scorer, release_digest: str, notice: Notice) -> None:
        self.folder = folder / fingerprint(scorer)
        self._about = {
            "model": json.dumps(asdict(scorer.identity)),
            "settings": json.dumps(dict(scorer.settings)),
            "release": release_digest,
        }
        self._notice = notice

    def read(self) -> pa.Table:
        """All scores that are whole; a shard that differs from its checksum is removed, with a notice."""
        self._remove_stale()
        tables = [table for path in sorted(self.folder.glob("*.parquet")) if (table := self._shard(path)) is not None]
        return pa.concat_tables(tables) if tables else _SCHEMA.empty_table()

    def write(self, spans: Spans, scores: Scores) -> None:
        """Add a shard: it is there whole, under its checksum, or not at all."""
        columns = [list(spans.text), spans.start, spans.stop, list(spans.context)]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=False)]
        values = [pa.array(scores.nll), pa.array(scores.tokens), pa.array(scores.bytes)]
        buffer = BytesIO()
        table = pa.Table.from_arrays(arrays + values, schema=_SCHEMA)
        pq.write_table(table.replace_schema_metadata(self._about), buffer, compression="zstd")
        content = buffer.getvalue()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            made = self.folder / f".{uuid.uuid4().hex}.tmp"
            with made.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            made.replace(self.folder / f"{hashlib.sha256(content).hexdigest()}.parquet")
        except OSError as error:
            raise OutputError(f"cannot write scores to {self.folder}: {error.strerror}") from error

    def _shard(self, path: Path) -> pa.Table | None:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() == path.stem:
            return pq.read_table(BytesIO(content)).replace_schema_metadata(None)
        self._notice(f"{path} differs from its checksum: it is removed, and its sentences are scored again")
        path.unlink(missing_ok=True)
        return None

    def _remove_stale(self) -> None:
        """Remove what killed processes left half-written."""
        for path in self.folder.glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()


def one_by_one(scorer: Scorer) -> Blocks:
    """Blocks scored one after the other on this machine."""

    def run(blocks: Sequence[Spans], progress: Progress) -> Iterator[tuple[int, Scores]]:
        for i, block in enumerate(blocks):
            yield i, scorer.score(block, progress)

    return run


class StoredScorer:
    """A scorer that scores only what a store does not hold, block by block, and keeps each block at once.

    ``kept`` says how many scores the store holds so far.
    """

    def __init__(self, scorer: Scorer, store: ScoreStore, run: Blocks | None = None, block: int = BLOCK) -> None:
        self.identity = scorer.identity
        self.settings = scorer.settings
        self._store = store
        self._run = run or one_by_one(scorer)
        self._block = block
        self.kept = f"scores of earlier runs are kept in {store.folder}"

    def blocks(self, distinct: Spans) -> list[Spans]:
        """Those of some distinct spans that the store does not hold, as they are scored: shared prefixes together."""
        return self._blocks(_missing(distinct, self._store.read()))

    def _blocks(self, missing: Spans) -> list[Spans]:
        return [missing.take(part) for part in _parts(len(missing), self._block)]

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Score spans, or read their scores; see ``Scores``."""
        distinct, rows = unique_spans(spans)
        held = self._store.read()
        missing = _missing(distinct, held)
        kept = len(distinct) - len(missing)
        self._count(kept, len(distinct))
        progress(kept)
        blocks = self._blocks(missing)
        for i, scores in self._run(blocks, progress):
            refuse_non_numbers(blocks[i].text, scores)
            self._store.write(blocks[i], scores)
            kept += len(blocks[i])
            self._count(kept, len(distinct))
            held = pa.concat_tables([held, _table(blocks[i], scores)])
        return _look_up(distinct, held).take(rows)

    def _count(self, kept: int, asked: int) -> None:
        self.kept = f"{kept:,} of {asked:,} scores are kept in {self._store.folder}"


def _parts(rows: int, size: int) -> list[Ints]:
    return [np.arange(start, min(rows, start + size)) for start in range(0, rows, size)]


def _table(spans: Spans, scores: Scores) -> pa.Table:
    arrays = [list(spans.text), spans.start, spans.stop, list(spans.context), scores.nll, scores.tokens, scores.bytes]
    return pa.Table.from_arrays([pa.array(a, f.type) for a, f in zip(arrays, _SCHEMA, strict=True)], schema=_SCHEMA)


def _keys(table: pa.Table) -> pa.Array:
    spans = Spans(
        table["text"].to_pylist(), table["start"].to_numpy(), table["stop"].to_numpy(), table["context"].to_pylist()
    )
    return span_keys(spans)


def _missing(distinct: Spans, held: pa.Table) -> Spans:
    known = pc.is_in(span_keys(distinct), _keys(held)).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~known)
    found = distinct.take(rows)
    texts = pa.array([c + t for c, t in zip(found.context, found.text, strict=True)], pa.large_string())
    return found.take(pc.sort_indices(texts).to_numpy().astype(np.int64))


def _look_up(distinct: Spans, held: pa.Table) -> Scores:
    """The held scores of spans, all of which are held; the first where two processes scored one."""
    places = pc.index_in(span_keys(distinct), _keys(held))
    found = held.select(["nll", "tokens", "bytes"]).take(places)
    return Scores(*(found[name].to_numpy() for name in ("nll", "tokens", "bytes")))
