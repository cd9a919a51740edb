"""Sentences with two descriptors: scored and summarised shard by shard, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.intersections import summarise
from holisticbias_eval.models.embedded import default_release
from holisticbias_eval.models.likelihood.scorer import Scorer, score_spans
from holisticbias_eval.models.likelihood.scores import with_scores
from holisticbias_eval.models.likelihood.spans import unique_spans, whole
from holisticbias_eval.models.likelihood.texts import Texts
from holisticbias_eval.models.options import scoring_uses
from holisticbias_eval.models.stored import stored
from holisticbias_eval.progress import Display, Notice, Progress
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.first_words import Unscored
from holisticbias_eval.prompts.intersections import TABLE, read_shards
from holisticbias_eval.results.signature import with_probe
from holisticbias_eval.settings import ReleaseName, Use
from holisticbias_eval.tasks.scored import NOTHING_KEPT, texts_to_try
from holisticbias_eval.tasks.sentences import ContextSettings, Sentences, find_context
from holisticbias_eval.tasks.task import Answered, Given, Requests, Source, sign_release


@dataclass(frozen=True)
class ShardRequests(Requests):
    """The shards of a release; neither their sentences nor their scores are kept in memory."""

    release: Release
    model: Scorer
    folder: Path | None
    notice: Notice
    context: Context
    count: int
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> str:  # type: ignore[override]
        """The folder of stored scores, in words."""
        if self.folder is None:
            return NOTHING_KEPT
        return f"the scores so far are kept in {self.folder}; run the same command again to continue"

    def answer(self, display: Display) -> Answered:
        """Score and summarise each shard."""
        with display.step("Preparing to score"):
            first = whole(Texts(next(read_shards(self.release))["text"]))
            probe = self.model.probe(texts_to_try(first))
        with display.progress(f"Scoring with {self.model.identity.name}", self.count) as scored:
            answers = pa.concat_tables(list(self._summaries(scored)))
        return Answered(answers, partial(with_probe, probe=probe))

    def _summaries(self, progress: Progress) -> Iterator[pa.Table]:
        for number, shard in enumerate(read_shards(self.release)):
            texts = Texts(shard["text"])
            spans = whole(texts, self.context.draw(texts, joined=self.model.context_in_text))
            distinct, rows = unique_spans(spans)
            scores = score_spans(distinct, self._scorer(number), progress).take(rows)
            yield summarise(with_scores(shard.drop_columns(["text"]), scores))

    def _scorer(self, number: int) -> Scorer:
        """The model with a store for this shard: reading one store for every shard would take quadratic time."""
        if self.folder is None:
            return self.model
        folder = self.folder / TABLE / f"{self.release.digest[:16]}-{number:05}"
        return stored(self.model, folder, self.notice, self.release.digest)


class Intersections(Sentences):
    """The sentences with two descriptors of a release."""

    name = "intersections"
    subject = "sentences with two descriptors"
    uses = (Use(ReleaseName), Use(ContextSettings), *scoring_uses())

    def source(self, given: Given) -> Source:
        """Open the release; raises ``EvaluationError`` if it has no such sentences. No sentence is read."""
        find_context(given)  # a file that cannot be read is refused before a model is loaded
        release = given.release(default_release(given.model_name))
        if TABLE not in release.manifest.tables:
            raise EvaluationError(
                f"intersections needs sentences with two descriptors, and {release!r} has none: build a folder of them "
                "with holisticbias build --intersections 'AXIS x AXIS' --out FOLDER, and name it with --release"
            )
        return Source(release, sign_release(release), release.version, release=release)

    def ask(self, source: Source, model: Scorer, given: Given) -> ShardRequests:  # type: ignore[override]
        """The shards of the release."""
        context, rows = find_context(given), source.content.manifest.tables[TABLE].rows
        unscored = Unscored(0 if model.first_token_scored or context.settings else rows, rows)
        settings = {**context.settings, **unscored.settings}
        folder, notice = given.store("scores"), given.display.notice
        return ShardRequests(source.content, model, folder, notice, context, rows, settings)
