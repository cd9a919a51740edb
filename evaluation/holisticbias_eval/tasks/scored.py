"""Requests that a model answers with likelihoods of spans of text, and the tasks that make them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import MaskedInputs, Scorer, score_spans
from holisticbias_eval.models.likelihood.spans import Spans, unique_spans
from holisticbias_eval.models.sequences import spread
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.trial import Plan, plan_work
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import AskedSpans, Context, read_context
from holisticbias_eval.prompts.sentences import AskedSentences
from holisticbias_eval.settings import Settings, setting
from holisticbias_eval.tasks.sources import Answered, TaskRequests, TaskSource
from holisticbias_eval.tasks.task import Given, Task

_TRIED = 4096


class ContextSettings(Settings):
    """Text before each sentence."""

    group = "The model"

    context: str | None = setting(
        None,
        "Text that the model reads before each sentence; it is not scored. The encoder of an encoder-decoder model "
        "reads it; for every other model it is the beginning of the text.",
        metavar="TEXT",
    )
    context_file: Path | None = setting(
        None, "File with one context per line; one is drawn for each sentence.", metavar="PATH"
    )
    context_seed: int | None = setting(None, "Seed for drawing contexts. Default: 0.")


def find_context(given: Given) -> Context:
    """The contexts of a run."""
    read = given.read(ContextSettings)
    return read_context(read.context, read.context_file, read.context_seed)


@dataclass(frozen=True)
class SpanRequests(TaskRequests):
    """Spans that an engine scores; ``scorer`` is the engine with its store.

    ``tried`` gives the rows by which texts are weighted when the error is measured. ``share`` is the share of a run's
    texts that they are, in a trial.
    """

    answers = "scores"
    asked: AskedSpans | AskedSentences
    engine: Scorer
    scorer: Scorer
    tried: Callable[[Ints], Ints] = lambda rows: rows
    share: float = 1.0

    @property
    def stored(self) -> str | None:
        """The number of scores in the store."""
        return self.scorer.kept

    def answer(self, display: Display) -> Answered:
        """Measure the error of the scores, and score."""
        distinct, rows = unique_spans(self.asked.together)
        with display.step("Preparing to score"):  # before any text is scored or read from the store
            probe = self.scorer.probe(texts_to_try(distinct, self.tried(rows)))
        before = self.scorer.input_counts()
        with display.progress(f"Scoring with {self.scorer.identity.name}", len(distinct)) as scored:
            scores = score_spans(distinct, self.scorer, scored)
        del distinct  # measuring needs the memory
        table = self.asked.answer(scores.take(rows))
        inputs = _masked_inputs(before, self.scorer.input_counts(), display)
        return Answered(table, probe._asdict() if probe else {}, inputs)

    def plan(self, display: Display) -> Plan:
        """Count how much there is to score, and estimate how long it takes; nothing is written."""
        with display.step("Finding the texts that are not scored yet"):
            distinct, _ = unique_spans(self.asked.together)
            blocks = self.scorer.blocks(distinct)
        with display.step("Counting tokens and timing a few texts"):
            plan = plan_work(self.engine, distinct, blocks)
        if self.share == 1:
            return plan
        texts, missing = (round(count / self.share) for count in (plan.count, plan.missing))
        return replace(plan.of(texts, missing), counted=False)


def texts_to_try(spans: Spans, rows: Ints | None = None) -> Spans:
    """The texts on which the error of the scores is measured, of all lengths.

    They include the longest in characters, which are most likely the longest in
    tokens, because a block with longer texts would be tested again. ``rows`` repeats the spans: a text counts as often.
    """
    lengths = spans.lengths() if rows is None else spans.lengths()[rows]
    longest = np.argsort(lengths, kind="stable")[-_TRIED:]
    chosen = np.union1d(spread(lengths, _TRIED), longest)
    return spans.take(chosen if rows is None else rows[chosen])


def _masked_inputs(before: MaskedInputs | None, after: MaskedInputs | None, display: Display) -> MaskedInputs | None:
    """The masked inputs of this run, which it also prints; None if this process ran no masked input."""
    if before is None or after is None or before == after:
        return None
    asked, run = after.asked - before.asked, after.run - before.run
    display.notice(f"{run:,} distinct masked inputs answered for {asked:,} masked tokens")
    return MaskedInputs(asked=asked, run=run)


class ScoredTask(Task):
    """A task that a model answers with likelihoods."""

    ability = "score"

    def model(self, source: TaskSource, given: Given) -> Scorer:
        """Start the engine that scores."""
        name = given.named(source)
        with given.display.step(f"Loading model {given.model_name or source.default_model or EMBEDDED_MODEL}"):
            return start_scorer(name, given.display.notice, given.read(ModelSettings))
