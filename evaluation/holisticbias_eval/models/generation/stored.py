"""Responses kept between runs: a generator that makes only what its store does not hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.generation.requests import (
    REQUEST_FIELDS,
    RESPONSE_FIELDS,
    Generator,
    Requests,
    Responses,
    Sameness,
)
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from holisticbias_eval.progress import Notice, Progress

VERSION = 1  # version of the computation: with another version every response is made again
_KEYS = tuple(name for name, _ in REQUEST_FIELDS)
_SCHEMA = pa.schema([*REQUEST_FIELDS, *RESPONSE_FIELDS])


def response_store(folder: Path, generator: Generator, notice: Notice) -> ShardStore:
    """The store of a generator's responses, in a subfolder named after model, decoding, seed and other settings."""
    identity = generator.identity
    model = {key: value for key, value in asdict(identity).items() if key in {"weights_sha256", "revision", "dtype"}}
    if identity.weights_sha256 is None:
        model["name"] = identity.name
    key = fingerprint({"version": VERSION, "model": model, "settings": dict(generator.settings)})
    about = {"model": json.dumps(asdict(identity)), "settings": json.dumps(dict(generator.settings))}
    return ShardStore(folder / key, _SCHEMA, _KEYS, about, notice)


class StoredGenerator(Generator):
    """Makes only the responses that a store does not hold, and stores each batch as it is done.

    ``kept`` says how many responses the store holds so far.
    """

    def __init__(self, generator: Generator, store: ShardStore) -> None:
        super().__init__(generator.identity, generator.kind, generator.settings, keeps_blank=generator.keeps_blank)
        self._generator = generator
        self._store = store
        self.kept = f"responses of earlier runs are kept in {store.folder}"

    def probe(self, requests: Requests) -> Sameness | None:
        """Probe the generator."""
        return self._generator.probe(requests)

    def vectors(self, texts: Sequence[str]) -> Floats | None:
        """The embeddings of the generator."""
        return self._generator.vectors(texts)

    def respond(self, requests: Requests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Read the responses that are stored, then make and store the others."""
        asked = requests.table()
        held = self._store.read(asked)
        missing = self._store.missing(asked, held)
        known = _others(len(requests), missing)
        done = len(known)
        self._count(done, len(requests))
        if done:
            progress(done)
            yield known, _responses(self._store.look_up(asked.take(pa.array(known)), held))
        wanted = requests.take(missing)
        for rows, responses in self._generator.respond(wanted, progress):
            keys = wanted.take(rows).table()
            self._store.write(pa.Table.from_arrays([*keys.columns, *responses.table().columns], schema=_SCHEMA))
            done += len(rows)
            self._count(done, len(requests))
            yield missing[rows], responses

    def _count(self, kept: int, asked: int) -> None:
        self.kept = f"{kept:,} of {asked:,} responses are kept in {self._store.folder}"


def _others(count: int, rows: Ints) -> Ints:
    chosen = np.ones(count, bool)
    chosen[rows] = False
    return np.flatnonzero(chosen)


def _responses(table: pa.Table) -> Responses:
    names = [name for name, _ in RESPONSE_FIELDS]
    text, finish, tokens, reasoning = (table[name] for name in names)
    return Responses(text.to_pylist(), finish.to_pylist(), tokens.to_numpy(), reasoning.to_pylist())


def respond_all(requests: Requests, generator: Generator, progress: Progress) -> Responses:
    """Answer distinct requests and return the responses in their order."""
    text, finish, reasoning = ([""] * len(requests) for _ in range(3))
    tokens = np.zeros(len(requests), np.int32)
    for rows, responses in generator.respond(requests, progress):
        for position, row in enumerate(rows.tolist()):
            text[row], finish[row] = responses.text[position], responses.finish[position]
            reasoning[row] = responses.reasoning[position]
        tokens[rows] = responses.tokens
    return Responses(text, finish, tokens, reasoning)
