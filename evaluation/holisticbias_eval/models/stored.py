"""Answers kept between runs: a model that answers only what its store does not hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, no_scores, refuse_non_numbers
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from holisticbias_eval.progress import Notice, Progress

_SCORES, _RESPONSES = (2, Spans.FIELDS, Scores.FIELDS), (1, PromptRequests.FIELDS, Responses.FIELDS)
"""The version of each computation, with which all is answered again, the fields of its keys, and of its answers."""
_IDENTIFYING = {"weights_sha256", "revision", "dtype"}

M = TypeVar("M", Scorer, Generator)


def stored(model: M, folder: Path, notice: Notice, release_digest: str | None = None) -> M:
    """The model with a store in ``folder``: it answers only what the store does not hold, and stores each block.

    Its answers are the same, and so is all else that it says of itself. ``release_digest`` is noted in the store.
    """
    store = store_of(model, folder, notice, release_digest)
    return _StoredScorer(model, store) if isinstance(model, Scorer) else _StoredGenerator(model, store)


def store_of(model: Scorer | Generator, folder: Path, notice: Notice, release_digest: str | None = None) -> ShardStore:
    """The store of a model's answers, in a subfolder named after their fingerprint."""
    _, keys, values = _SCORES if isinstance(model, Scorer) else _RESPONSES
    about = {"model": json.dumps(model.identity.model_dump()), "settings": json.dumps(dict(model.settings))}
    if release_digest is not None:
        about["release"] = release_digest
    names = tuple(name for name, _ in keys)
    return ShardStore(folder / answers_fingerprint(model), pa.schema([*keys, *values]), names, about, notice)


def answers_fingerprint(model: Scorer | Generator) -> str:
    """The fingerprint of a model's answers.

    It covers the weights' digest, the revision and the dtype of the model, and its settings; the model's name only if
    there are no weights to digest.
    """
    identity = model.identity
    about = {key: value for key, value in identity.model_dump().items() if key in _IDENTIFYING}
    if identity.weights_sha256 is None:
        about["name"] = identity.name
    version, *_ = _SCORES if isinstance(model, Scorer) else _RESPONSES
    return fingerprint({"version": version, "model": about, "settings": dict(model.settings)})


class _StoredScorer(Scorer):
    """Scores only the spans that a store does not hold, block by block, and stores each block as it is done."""

    def __init__(self, scorer: Scorer, store: ShardStore) -> None:
        scored = scorer.first_token_scored
        super().__init__(scorer.identity, scorer.kind, scorer.settings, first_token_scored=scored)
        self._scorer, self._store, self.kept = scorer, store, f"scores of earlier runs are kept in {store.folder}"
        vars(self).update({name: getattr(scorer, name) for name in ("windows", "work", "probe", "input_counts")})

    def blocks(self, distinct: Spans) -> list[Ints]:
        """The rows that the store lacks, in the blocks in which they are scored; shared prefixes are together."""
        known = np.zeros(len(distinct), np.bool_)
        for _ in self._store.held(distinct, known):
            pass
        return self._blocks(distinct, np.flatnonzero(~known))

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Read the scores of distinct spans, and score the missing ones."""
        scores = no_scores(len(spans))

        def missing(rows: Ints) -> Iterator[tuple[Ints, pa.Table]]:
            for places, made in self._scorer.score_blocks(spans, self._blocks(spans, rows), progress):
                refuse_non_numbers(spans, made, places)
                yield places, made.table()

        def count(kept: int) -> None:
            self.kept = f"{kept:,} of {len(spans):,} scores are kept in {self._store.folder}"

        for places, rows in self._store.answers(spans, missing, progress, count):
            scores.put(places, Scores.of(rows))
        return scores

    def _blocks(self, distinct: Spans, rows: Ints) -> list[Ints]:
        ordered = rows[(distinct if len(rows) == len(distinct) else distinct.take(rows)).order()]
        size = self._scorer.block_size
        return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class _StoredGenerator(Generator):
    """Makes only the responses that a store does not hold, and stores each batch as it is done."""

    def __init__(self, generator: Generator, store: ShardStore) -> None:
        super().__init__(generator.identity, generator.kind, generator.settings, keeps_blank=generator.keeps_blank)
        self._generator, self._store = generator, store
        self.kept = f"responses of earlier runs are kept in {store.folder}"
        vars(self).update(probe=generator.probe, vectors=generator.vectors)

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Read the responses to distinct requests that are stored, then make and store the others."""

        def missing(rows: Ints) -> Iterator[tuple[Ints, pa.Table]]:
            for places, responses in self._generator.generate(requests.take(rows), progress):
                yield rows[places], responses.table()

        def count(kept: int) -> None:
            self.kept = f"{kept:,} of {len(requests):,} responses are kept in {self._store.folder}"

        for places, rows in self._store.answers(requests, missing, progress, count):
            yield places, Responses.of(rows)
