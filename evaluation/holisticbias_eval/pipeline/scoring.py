"""Runs of scores: the likelihoods that a model gives to texts, and the measures of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.free_memory import free_memory
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.plan import Plan, count_work, estimate_seconds
from holisticbias_eval.models.likelihood.scorer import InputCounts, Probe, Scorer, Work, score_spans
from holisticbias_eval.models.likelihood.spans import Spans, unique_spans
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.jobs import NOTHING_KEPT, SETTINGS, Job, measure_answers, refuse_kind, sign_release
from holisticbias_eval.pipeline.planted import planted_figures
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.choices import AskedChoices
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.first_words import count_unscored
from holisticbias_eval.prompts.lines import AskedLines, LinePrompts
from holisticbias_eval.prompts.pairs import AskedPairs, PairPrompts
from holisticbias_eval.prompts.prompts import Asked, ScoredPrompts, Selection
from holisticbias_eval.prompts.terms import count_terms
from holisticbias_eval.prompts.test_sets import AskedTexts, TextPrompts
from holisticbias_eval.results.run import MaskedInputs, Result, Run
from holisticbias_eval.results.signature import Settings, Signature, sign, with_probe

_TRIED = 4096


@dataclass(frozen=True, slots=True)
class ScoringJob(Job):
    """A prepared run of scores; ``scorer`` is the engine, with its store if there is one."""

    release: Release | None
    engine: Scorer
    scorer: Scorer
    asked: Asked | AskedPairs | AskedChoices | AskedTexts | AskedLines
    prompts: ScoredPrompts | PairPrompts | TextPrompts | LinePrompts
    signature: Signature

    @property
    def kept(self) -> str:
        """The number of scores in the store, in words."""
        if self.scorer.kept is None:
            return NOTHING_KEPT
        return f"{self.scorer.kept}; run the same command again to continue"

    def run(self, display: Display) -> Run:
        """Score and measure."""
        distinct, rows = unique_spans(self.asked.together)
        probe = self._probe(distinct, rows, display)
        before = self.scorer.input_counts()
        scores = self.scored(distinct, rows, display)
        del distinct, rows  # measuring needs the memory
        measured = measure_answers(scores, self.signature.measures, SETTINGS, display)
        result = Result(
            signature=with_probe(self.signature, probe),
            figures=(
                *(figure for found in measured for figure in found.figures),
                *planted_figures(self.signature, scores),
            ),
            masked_inputs=_masked_inputs(before, self.scorer.input_counts(), display),
        )
        tables = {name: table for found in measured for name, table in found.tables.items()}
        return Run(result, scores, tables)

    def plan(self, display: Display) -> Plan:
        """Count how much there is to score, and estimate how long it takes; nothing is written.

        Raises ``EvaluationError`` if the engine cannot count its work.
        """
        with display.step("Finding the texts that are not scored yet"):
            distinct, rows = unique_spans(self.asked.together)
            blocks = self.scorer.blocks(distinct)
        missing = sum(map(len, blocks))
        if blocks:
            self._probe(distinct, rows, display)
        with display.progress("Counting tokens", missing) as counted:
            works = count_work(self.scorer, blocks, counted)
        with display.step("Timing a few texts"):
            seconds = estimate_seconds(self.engine, blocks, works)
        work = Work(sum(w.tokens for w in works), sum(w.forward for w in works))
        return Plan(len(distinct), missing, work, seconds)

    def _probe(self, distinct: Spans, rows: Ints, display: Display) -> Probe | None:
        """Measure the error of the scores before any text is scored or read from the store."""
        with display.step("Preparing to score"):
            weighted = self.asked.by_sentence(rows) if isinstance(self.asked, Asked) else rows
            return self.scorer.probe(texts_to_try(distinct, weighted))

    def scored(self, distinct: Spans, rows: Ints, display: Display) -> pa.Table:
        """Score distinct spans, and add the scores to what was asked: ``rows`` has the position of each asked span."""
        with display.progress(f"Scoring with {self.scorer.identity.name}", len(distinct)) as scored:
            scores = score_spans(distinct, self.scorer, scored)
        free_memory()
        return self.asked.answer(scores.take(rows))


def texts_to_try(spans: Spans, rows: Ints | None = None) -> Spans:
    """The texts on which the error of the scores is measured, of all lengths.

    They include the longest in characters, which are most likely the longest in
    tokens, because a block with longer texts would be tested again. ``rows`` repeats the spans: a text counts as often.
    """
    lengths = spans.lengths() if rows is None else spans.lengths()[rows]
    order = np.argsort(lengths, kind="stable")
    spread = order[np.linspace(0, len(order) - 1, _TRIED).astype(np.int64)]
    chosen = np.unique(np.concatenate((spread, order[-_TRIED:])))
    return spans.take(chosen if rows is None else rows[chosen])


def prepare_scoring(
    model: str | None,
    release: Release,
    measures: Sequence[tuple[str, ...]],
    options: ModelSettings | None,
    store: Path | None,
    context: Context | None,
    display: Display,
    selection: Selection | None = None,
) -> list[ScoringJob]:
    """Start the engine, once for all runs, and prepare the run of each entry of ``measures``.

    Raises ``EvaluationError`` if a measure does not support the model's kind or the release, and
    ``SelectionError`` if the release has no sentence for a measure.
    """
    if "sentences" not in release.tables:
        raise EvaluationError(
            f"{release!r} has sentences with two descriptors: measure them with --measure intersections"
        )
    with display.step(f"Loading model {model or MEASURES[measures[0][0]].prompts.default_model}"):
        engine = start_scorer(model, display.notice, options)
    for names in measures:
        refuse_kind(names, engine.kind, engine.identity.name)
    scorer = engine if store is None else stored(engine, store, display.notice, release.digest)
    with display.step("Selecting sentences"):
        chosen = selection or Selection()
        return [_job(release, engine, scorer, names, context or Context(), chosen) for names in measures]


def _job(
    release: Release,
    engine: Scorer,
    scorer: Scorer,
    measures: tuple[str, ...],
    context: Context,
    selection: Selection,
) -> ScoringJob:
    prompts = MEASURES[measures[0]].prompts
    if not isinstance(prompts, ScoredPrompts):
        raise EvaluationError(f"{measures[0]} is not a measure of likelihoods")
    asked = prompts.ask(release, partial(context.draw, joined=engine.context_in_text), selection)
    if not asked.sentences.num_rows:
        raise SelectionError("no sentence is left to score: widen the selection")
    free_memory()
    contexts = asked.together.context[: asked.sentences.num_rows]
    unscored = count_unscored(contexts, first_token_scored=engine.first_token_scored)
    signature = sign(
        sign_release(release),
        engine.identity,
        Settings(scoring={**engine.settings, **context.settings, **selection.settings, **unscored.settings}),
        {name: MEASURES[name].signature(SETTINGS) for name in measures},
        scored=asked.sentences.num_rows,
        skipped=(*prompts.skipped(release), *asked.skipped),
        terms=count_terms(release, asked.sentences["descriptor_id"]),
    )
    named = replace(release, tables={})  # the sentences are in ``asked``
    return ScoringJob(named, engine, scorer, asked, prompts, signature)


def _masked_inputs(before: InputCounts | None, after: InputCounts | None, display: Display) -> MaskedInputs | None:
    """The masked inputs of this run, which it also prints; None if this process ran no masked input."""
    if before is None or after is None or before == after:
        return None
    asked, run = after.asked - before.asked, after.run - before.run
    display.notice(f"{run:,} distinct masked inputs answered for {asked:,} masked tokens")
    return MaskedInputs(asked=asked, run=run)
