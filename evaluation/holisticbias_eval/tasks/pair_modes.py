"""Pairs that are not scored as spans of text: published scores of masked models, and choices of a chat model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.likelihood.masked import OneMaskScorer
from holisticbias_eval.models.model import PairScorer
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.models.store.shards import ShardStore, stored_values
from holisticbias_eval.models.trial import Plan, plan_trial
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.pairs import (
    SCORES,
    ask_choices,
    decide_ties,
    published_texts,
    scored_sentences,
    with_pair_scores,
)
from holisticbias_eval.tasks.sources import Answered, TaskRequests

HOW: Mapping[str, str] = {
    "causal": "log-likelihood of the whole sentence",
    "without first token": "log-likelihood of the sentence without its first token",
    "seq2seq": "log-likelihood of the whole sentence, given an empty input",
    "masked": "pseudo-log-likelihood of the words that both sentences share",
    "choice": "log-probability of the sentence's letter, mean over both orders",
    "published": "mean log-likelihood of a token in lower case, with a period added; ties go to the second sentence",
}
"""What the score of a pair is, by the kind of model or the mode."""
_ONE_MASK = "mean logit of the term's pieces at one mask; ties go to the second sentence"


@dataclass(frozen=True)
class PairRequests(TaskRequests):
    """Rows of texts that a ``PairScorer`` gives two scores each: ``made`` adds the scores to the pairs."""

    answers = "scores"
    uncounted = "pairs of this --mode"
    scorer: PairScorer
    texts: pa.Table
    made: Callable[[Floats], pa.Table]
    store: ShardStore | None

    def answer(self, display: Display) -> Answered:
        """Score the texts that the store does not hold."""
        texts, scorer = self.texts, self.scorer
        with display.progress(f"Scoring with {scorer.identity.name}", texts.num_rows) as advance:
            first, which = distinct_rows(texts)
            distinct = texts.take(pa.array(first))

            def compute(rows: Ints) -> Iterator[tuple[Ints, Floats]]:
                size = len(rows) if self.store is None else scorer.block
                for start in range(0, len(rows), max(1, size)):
                    part = rows[start : start + size]
                    yield part, scorer.score(distinct.take(pa.array(part)), advance)

            scores = stored_values(self.store, distinct, 2, compute, advance)
        return Answered(self.made(scores[which]))

    def plan(self, display: Display) -> Plan:
        """Count the pairs to score, and estimate how long they take; raises ``EvaluationError`` for a server."""
        scorer = self.scorer
        if not isinstance(scorer, OneMaskScorer):
            return super().plan(display)
        with display.step("Finding the pairs that are not scored yet"):
            first, _ = distinct_rows(self.texts)
            distinct = self.texts.take(pa.array(first))
            missing = np.arange(len(first)) if self.store is None else self.store.lacking(distinct)
        with display.step("Timing a few pairs"):
            return plan_trial(
                "pairs to score",
                len(first),
                missing,
                lambda rows: scorer.score(distinct.take(pa.array(rows)), lambda _: None),
            )


def pair_requests(scorer: PairScorer, pairs: pa.Table, store: ShardStore | None) -> PairRequests:
    """Requests for the published scores of a masked model, or for a choice of each pair's sentence in both orders."""
    if isinstance(scorer, OneMaskScorer):
        how, texts, made = _ONE_MASK, *_masked(pairs, scorer.mask)
    else:
        choices = ask_choices(pairs)
        how, texts, made = HOW["choice"], [list(choices.questions)], choices.answer
    columns = [pa.array(column, pa.large_string()) for column in texts]
    table = pa.Table.from_arrays(columns, names=list(scorer.keys))
    count = int(pairs.num_rows - pairs["other_sentence"].null_count)
    folder = store.folder if store else None
    return PairRequests(scorer, table, made, store, count=count, settings={"pair_score": how}, folder=folder)


def _masked(pairs: pa.Table, mask: str) -> tuple[list[list[str]], Callable[[Floats], pa.Table]]:
    """The masked sentence and both terms of each pair, and the pairs with the scores of both terms."""
    rows, sentences, _ = scored_sentences(pairs)
    terms = [pairs[name].take(pa.array(rows)).to_pylist() for name in ("term", "other_term")]
    masked = published_texts(sentences, terms[0], replaced_by=mask)

    def made(scores: Floats) -> pa.Table:
        return decide_ties(with_pair_scores(pairs, rows, np.concatenate((scores[:, 0], scores[:, 1])), SCORES))

    return [masked, *([term or "" for term in of_side] for of_side in terms)], made
