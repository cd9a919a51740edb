"""Sentences with two descriptors: scored and summarised shard by shard, in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from holisticbias.release.intersections import TABLE
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.intersections import summarise
from holisticbias_eval.models.engines import stored
from holisticbias_eval.models.likelihood.scorer import Scorer, Work, score_spans, with_scores
from holisticbias_eval.models.likelihood.spans import Spans, TextRows, unique_spans, whole
from holisticbias_eval.models.settings import scoring_uses
from holisticbias_eval.models.trial import WHAT, Plan, plan_work
from holisticbias_eval.progress import Display, Notice, Progress
from holisticbias_eval.prompts.contexts import Context, Unscored
from holisticbias_eval.prompts.intersections import read_shards
from holisticbias_eval.settings import ReleaseName, Use
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.scored import ContextSettings, ScoredTask, find_context, texts_to_try
from holisticbias_eval.tasks.sources import Answered, TaskRequests, TaskSource, release_source
from holisticbias_eval.tasks.task import Given

INTERSECTIONS = Form("intersections", (
    *columns("name", "axis", "intersection_id", need=True),
    *columns("label", "axis_label"),
    *columns("number", "median_perplexity", "stance_difference", need=True),
    *columns("count", "sentences", "missing", need=True, filled=True),
))  # fmt: skip


@dataclass(frozen=True)
class ShardRequests(TaskRequests):
    """The shards of a release; neither their sentences nor their scores are kept in memory."""

    answers = "scores"
    release: Release
    model: Scorer
    notice: Notice
    context: Context

    def answer(self, display: Display) -> Answered:
        """Score and summarise each shard."""
        with display.step("Preparing to score"):
            first = whole(TextRows(next(read_shards(self.release))["text"]))
            probe = self.model.probe(texts_to_try(first))
        with display.progress(f"Scoring with {self.model.identity.name}", self.count) as scored:
            answers = pa.concat_tables(list(self._summaries(scored)))
        return Answered(answers, probe._asdict() if probe else {})

    def plan(self, display: Display) -> Plan:
        """Count the texts that are not scored yet; their work and time follow from the first shard with such texts."""
        texts, missing, first = 0, 0, Plan(WHAT, 0, 0, (0.0, 0.0), Work(0, 0))
        with display.progress("Finding the texts that are not scored yet", self.count) as counted:
            for shard, distinct, _, scorer in self._shards():
                blocks = scorer.blocks(distinct)
                if not first.missing:
                    first = plan_work(self.model, distinct, blocks)
                texts += len(distinct)
                missing += sum(map(len, blocks))
                counted(shard.num_rows)
        return first.of(texts, missing)

    def _summaries(self, progress: Progress) -> Iterator[pa.Table]:
        for shard, distinct, rows, scorer in self._shards():
            scores = score_spans(distinct, scorer, progress).take(rows)
            yield summarise(with_scores(shard.drop_columns(["text"]), scores))

    def _shards(self) -> Iterator[tuple[pa.Table, Spans, Ints, Scorer]]:
        """Each shard with its distinct texts, the place of each row's text among them, and the model that scores it."""
        for number, shard in enumerate(read_shards(self.release)):
            texts = TextRows(shard["text"])
            spans = whole(texts, self.context.draw(texts, joined=self.model.context_in_text))
            yield shard, *unique_spans(spans), self._scorer(number)

    def _scorer(self, number: int) -> Scorer:
        """The model with a store for this shard: reading one store for every shard would take quadratic time."""
        folder = self.folder and self.folder / f"{self.release.digest[:16]}-{number:05}"
        return stored(self.model, folder, self.notice)


class IntersectionsTask(ScoredTask):
    """The sentences with two descriptors of a release."""

    name = "intersections"
    subject = "sentences with two descriptors"
    tables: ClassVar = {"intersections": INTERSECTIONS.read}
    uses = (Use(ReleaseName), Use(ContextSettings), *scoring_uses())

    def source(self, given: Given) -> TaskSource:
        """Open the release; raises ``EvaluationError`` if it has no such sentences. No sentence is read."""
        release = given.release(given.own_release)
        if TABLE not in release.manifest.tables:
            raise EvaluationError(
                f"intersections needs sentences with two descriptors, and {release!r} has none: build a folder of them "
                "with holisticbias build --intersections 'AXIS x AXIS' --out FOLDER, and name it with --release"
            )
        return release_source(release, about=find_context(given).settings)

    def ask(self, source: TaskSource, model: Scorer, given: Given) -> ShardRequests:
        """The shards of the release."""
        context, rows = find_context(given), source.content.manifest.tables[TABLE].rows
        unscored = Unscored(0 if model.first_token_scored or context.settings else rows, rows)
        notice, store = given.display.notice, given.store("scores")
        folder = store and store / TABLE
        return ShardRequests(
            source.content, model, notice, context, count=rows, settings=unscored.settings, folder=folder
        )
