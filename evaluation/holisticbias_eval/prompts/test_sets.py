"""Test sets: the same sentences about several groups, which differ in the group's term alone."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from holisticbias_eval.likelihood.scores import Scores, with_scores
from holisticbias_eval.likelihood.spans import Spans
from holisticbias_eval.prompts.prompts import Prompts


@dataclass(frozen=True, slots=True)
class TestSetPrompts(Prompts):
    """Sentences of a test set from a file, all of which are scored."""

    __test__ = False  # the name begins as pytest's classes do


TEST_SETS = TestSetPrompts("test_set", "sentences of a test set")


@dataclass(frozen=True, slots=True)
class AskedSentences:
    """The sentences of a test set, and a span of each."""

    sentences: pa.Table
    spans: Spans

    @property
    def together(self) -> Spans:
        """All spans to score."""
        return self.spans

    def answer(self, scores: Scores) -> pa.Table:
        """Add ``nll`` (nats), ``tokens`` and ``perplexity``, null for a sentence without a scored token."""
        return with_scores(self.sentences, scores)
