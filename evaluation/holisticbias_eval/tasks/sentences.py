"""The release's own sentences about terms, and phrases of terms in the templates of SEAT."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.models.embedded import default_release
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.options import scoring_uses
from holisticbias_eval.prompts.contexts import Context, read_context
from holisticbias_eval.prompts.first_words import count_unscored
from holisticbias_eval.prompts.prompts import Asked, Draw, Selection, Skipped
from holisticbias_eval.prompts.seat import ask_phrases
from holisticbias_eval.prompts.sentences import ask_sentences, skipped_sentences
from holisticbias_eval.prompts.terms import count_terms
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import Chosen, Condition, ReleaseName, Seed, Settings, Small, Use, Variants, setting
from holisticbias_eval.tasks.planted import planted_figures
from holisticbias_eval.tasks.scored import ScoredTask, SpanRequests, with_store
from holisticbias_eval.tasks.task import Given, Source, release_run_name, sign_release

SELECTED = Condition(
    "with --limit or --variants", lambda values: values.get("limit") is not None or bool(values.get("variants"))
)


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


def find_selection(given: Given) -> Selection:
    """The sentences of a release to score."""
    chosen = given.read(Chosen)
    return Selection(chosen.where, chosen.limit, given.read(Seed).seed, bool(given.read(Variants).variants))


class Sentences(ScoredTask):
    """The release's own sentences."""

    name = "sentences"
    subject = "sentences about people"
    uses = (
        Use(ReleaseName), Use(Small), Use(Chosen), Use(Seed, (SELECTED,)), Use(Variants), Use(ContextSettings),
        *scoring_uses(),
    )  # fmt: skip

    def source(self, given: Given) -> Source:
        """Open the release, by default the one whose words the model knows."""
        find_context(given)  # a file that cannot be read is refused before a model is loaded
        release = given.release(default_release(given.model_name), small=given.read(Small).small)
        if "sentences" not in release.tables:
            raise EvaluationError(
                f"{release!r} has sentences with two descriptors: measure them with --measure intersections"
            )
        return Source(release, sign_release(release), release.version, release=release)

    def ask(self, source: Source, model: Scorer, given: Given) -> SpanRequests:
        """Select the sentences; raises ``SelectionError`` if none is left."""
        release: Release = source.content
        context, selection = find_context(given), find_selection(given)
        with given.display.step("Selecting sentences"):
            asked = self.select(release, partial(context.draw, joined=model.context_in_text), selection)
            if not asked.sentences.num_rows:
                raise SelectionError("no sentence is left to score: widen the selection")
            count = asked.sentences.num_rows
            contexts = asked.together.context[:count]
            unscored = count_unscored(contexts, first_token_scored=model.first_token_scored)
            return SpanRequests(
                asked,
                model,
                with_store(model, source, given),
                count,
                {**context.settings, **selection.settings, **unscored.settings},
                (*self.skipped(release), *asked.skipped),
                count_terms(release, asked.sentences["descriptor_id"]),
                asked.by_sentence,
            )

    def select(self, release: Release, draw: Draw, selection: Selection) -> Asked:
        """Select the sentences of a release."""
        return ask_sentences(release, draw, selection)

    def skipped(self, release: Release) -> tuple[Skipped, ...]:
        """Count the sentences that are never asked about, by reason."""
        return skipped_sentences(release)

    def beside(self, table: pa.Table, signature: Signature, source: Source, given: Given) -> tuple[Figure, ...]:
        """The true stance contrast of the calibration model."""
        return tuple(planted_figures(signature, table))

    def run_name(self, model: ModelIdentity, source: Source, signature: Signature) -> str:
        """The model, the release, its part, and the selection; the task if it is not this one."""
        return release_run_name(self, model, source, signature)


class Seat(Sentences):
    """Phrases of terms in the templates of SEAT (Smith et al. 2022, B.1; May et al. 2019)."""

    name = "seat"
    subject = "phrases about people, in templates"

    def select(self, release: Release, draw: Draw, selection: Selection) -> Asked:
        """Put the phrases of a release into the templates."""
        return ask_phrases(release, draw, selection)

    def skipped(self, release: Release) -> tuple[Skipped, ...]:
        """Every phrase is asked about."""
        return ()
