"""Runs of a release of intersections: scored and summarised shard by shard, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.intersections import summarise
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import Scorer, score_spans
from holisticbias_eval.models.likelihood.scores import with_scores
from holisticbias_eval.models.likelihood.spans import unique_spans, whole
from holisticbias_eval.models.likelihood.texts import Texts
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.jobs import NOTHING_KEPT, SETTINGS, Job, measure_answers, refuse_kind, sign_release
from holisticbias_eval.pipeline.scoring import texts_to_try
from holisticbias_eval.progress import Display, Notice, Progress
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.first_words import Unscored
from holisticbias_eval.prompts.intersections import INTERSECTIONS, TABLE, IntersectionPrompts, read_shards
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import Settings, Signature, sign, with_probe


@dataclass(frozen=True, slots=True)
class IntersectionsJob(Job):
    """A prepared run of intersections; ``store`` is the folder that keeps scores, if there is one."""

    release: Release
    engine: Scorer
    store: Path | None
    notice: Notice
    context: Context
    prompts: IntersectionPrompts
    signature: Signature

    @property
    def kept(self) -> str:
        """The folder of stored scores, in words."""
        if self.store is None:
            return NOTHING_KEPT
        return f"the scores so far are kept in {self.store}; run the same command again to continue"

    def run(self, display: Display) -> Run:
        """Score and summarise each shard, and measure the summaries."""
        with display.step("Preparing to score"):
            first = whole(Texts(next(read_shards(self.release))["text"]))
            probe = self.engine.probe(texts_to_try(first))
        total = self.signature.sentences_scored
        with display.progress(f"Scoring with {self.engine.identity.name}", total) as scored:
            answers = pa.concat_tables(list(self._summaries(scored)))
        (measured,) = measure_answers(answers, self.signature.measures, SETTINGS, display)
        return Run(Result(signature=with_probe(self.signature, probe), figures=measured.figures), answers)

    def _summaries(self, progress: Progress) -> Iterator[pa.Table]:
        """The summary of each shard; neither its sentences nor its scores are kept."""
        for number, shard in enumerate(read_shards(self.release)):
            texts = Texts(shard["text"])
            spans = whole(texts, self.context.draw(texts, joined=self.engine.context_in_text))
            distinct, rows = unique_spans(spans)
            scores = score_spans(distinct, self._scorer(number), progress).take(rows)
            yield summarise(with_scores(shard.drop_columns(["text"]), scores))

    def _scorer(self, number: int) -> Scorer:
        """The engine with a store for this shard: reading one store for every shard would take quadratic time."""
        if self.store is None:
            return self.engine
        folder = self.store / TABLE / f"{self.release.digest[:16]}-{number:05}"
        return stored(self.engine, folder, self.notice, self.release.digest)


def prepare_intersections(
    model: str | None,
    release: Release,
    measures: Sequence[tuple[str, ...]],
    options: ModelSettings | None,
    store: Path | None,
    context: Context | None,
    display: Display,
) -> list[IntersectionsJob]:
    """Start the engine and prepare the run; no sentence is read. Raises ``EvaluationError`` for another release."""
    if TABLE not in release.manifest.tables:
        raise EvaluationError(
            f"intersections needs sentences with two descriptors, and {release!r} has none: build a folder of them "
            "with holisticbias build --intersections 'AXIS x AXIS' --out FOLDER, and name it with --release"
        )
    with display.step(f"Loading model {model or INTERSECTIONS.default_model}"):
        engine = start_scorer(model, display.notice, options)
    context = context or Context()
    rows = release.manifest.tables[TABLE].rows
    unscored = Unscored(0 if engine.first_token_scored or context.settings else rows, rows)
    jobs = []
    for names in measures:
        refuse_kind(names, engine.kind, engine.identity.name)
        signature = sign(
            sign_release(release),
            engine.identity,
            Settings(scoring={**engine.settings, **context.settings, **unscored.settings}),
            {name: MEASURES[name].signature(SETTINGS) for name in names},
            scored=rows,
        )
        jobs.append(IntersectionsJob(release, engine, store, display.notice, context, INTERSECTIONS, signature))
    return jobs
