"""Prompts: the texts that the measures of a run score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.figures import Part
from holisticbias_eval.likelihood.scores import Scores, with_scores
from holisticbias_eval.likelihood.spans import Spans, joined, whole

Draw = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Sentences with a span of each, and optionally a phrase of each sentence, which is scored alone.

    All are scored in one call, so that shared beginnings run through the model once.
    """

    sentences: pa.Table
    spans: Spans
    alone: Spans | None = None

    @property
    def together(self) -> Spans:
        """All spans to score, those of sentences first."""
        return self.spans if self.alone is None else joined(self.spans, self.alone)

    def without_phrases(self) -> Asked:
        """The same without the texts of phrases, which ``answer`` does not use."""
        return self if self.alone is None else replace(self, alone=whole([], []))

    def answer(self, scores: Scores) -> pa.Table:
        """Add the scores to the sentences.

        ``phrase_nll``, the nats of the phrase alone, is null if none of its tokens
        was scored. The column ``context`` is added if any context was given.
        """
        rows = np.arange(len(self.spans))
        table = with_scores(self.sentences, scores.take(rows))
        if any(self.spans.context):
            table = table.append_column("context", pa.array(list(self.spans.context), pa.string()))
        if self.alone is None:
            return table
        alone = scores.take(rows + len(rows))
        nll = pa.array(np.where(alone.tokens > 0, alone.nll, np.nan), from_pandas=True)
        return table.append_column("phrase_nll", nll)


class Skipped(Part):
    """Sentences of the release that were not measured, and why."""

    reason: str
    sentences: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """A way to ask about a release, by name; measures with the same prompts share one run and its answers.

    ``subject`` says in a report what was asked.
    """

    name: str
    subject: str


@dataclass(frozen=True, slots=True)
class ScoredPrompts(Prompts):
    """Texts whose likelihood is asked for.

    ``ask`` selects the sentences; its second argument draws a context for each.
    ``skipped`` counts the sentences of a release that are left out, by reason.
    """

    ask: Callable[[Release, Draw], Asked]
    skipped: Callable[[Release], tuple[Skipped, ...]]


@dataclass(frozen=True, slots=True)
class AnsweredPrompts(Prompts):
    """Prompts that a model answers; ``conversations.draw_prompts`` draws them from a release."""
