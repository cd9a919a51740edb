"""Score spans with replicas of a model on a Ray cluster, on one machine or many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from holisticbias_eval.models.likelihood.local import ScoringOptions, load_scorer
from holisticbias_eval.models.likelihood.scorer import Probe, Scorer
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.model import Kind, ModelIdentity
from holisticbias_eval.models.ray import first_answer, start_replicas
from holisticbias_eval.progress import Notice, Progress

_BLOCKS_PER_REPLICA = 8


class Replica:
    """One model in its own process, which scores blocks one after the other."""

    def __init__(self, name: str | None, options: ScoringOptions) -> None:
        self._notices: list[str] = []
        self._scorer = load_scorer(name, self._notices.append, options)

    def about(self) -> tuple[ModelIdentity, Kind, dict[str, str], bool]:
        """The model's identity and kind, the scorer's settings, and whether it scores first tokens."""
        scorer = self._scorer
        return scorer.identity, scorer.kind, dict(scorer.settings), scorer.first_token_scored

    def process(self) -> int:
        """The id of this process."""
        return os.getpid()

    def probe(self, spans: Spans) -> Probe | None:
        """Probe the model's scorer."""
        return self._scorer.probe(spans)

    def score(self, block: int, spans: Spans) -> tuple[int, Scores, list[str]]:
        """Score a block; returns its number, its scores, and the notices."""
        scores = self._scorer.score(spans, lambda _: None)
        notices, self._notices[:] = list(self._notices), []
        return block, scores, notices


class RayScorer(Scorer):
    """Scores blocks of spans on several replicas at once; the block of a replica that dies is scored again."""

    def __init__(
        self, name: str | None, options: ScoringOptions, notice: Notice, address: str | None = None, replicas: int = 0
    ) -> None:
        self._notice = notice
        self._said: set[str] = set()
        self.replicas = start_replicas(Replica, (name, options), address, replicas, options.device)
        identity, kind, settings, scored = first_answer(self.replicas[0].about.remote())
        super().__init__(identity, kind, settings, first_token_scored=scored)

    def probe(self, spans: Spans) -> Probe | None:
        """Let every replica test itself on some of the spans; returns the first one's result."""
        import ray

        found: list[Probe | None] = ray.get([replica.probe.remote(spans) for replica in self.replicas])
        return found[0]

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Score spans in blocks of texts that share their beginnings; see ``Scores``."""
        rows = [r for r in np.array_split(spans.order(), _BLOCKS_PER_REPLICA * len(self.replicas)) if len(r)]
        nll, tokens, size = np.zeros(len(spans)), np.zeros(len(spans), np.int32), np.zeros(len(spans), np.int32)
        for i, scores in self.score_blocks([spans.take(r) for r in rows], progress):
            nll[rows[i]], tokens[rows[i]], size[rows[i]] = scores.nll, scores.tokens, scores.bytes
        return Scores(nll, tokens, size)

    def score_blocks(self, blocks: Sequence[Spans], progress: Progress) -> Iterator[tuple[int, Scores]]:
        """Score blocks on the replicas; yield each block's position and scores as it is done."""
        from ray.util import ActorPool

        pool: Any = ActorPool(self.replicas)
        for i, scores, notices in pool.map_unordered(lambda actor, item: actor.score.remote(*item), enumerate(blocks)):
            for message in notices:
                if message not in self._said:
                    self._said.add(message)
                    self._notice(message)
            progress(len(blocks[i]))
            yield i, scores
