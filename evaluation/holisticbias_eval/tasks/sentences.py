"""The release's own sentences about terms, and phrases of terms in the templates of SEAT."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats, with_columns
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stance.sections import NAME, PLANTED, PLANTED_SPREAD
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.embedded.planted import PlantedBiases, read_biases
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.settings import scoring_uses
from holisticbias_eval.prompts.contexts import count_unscored
from holisticbias_eval.prompts.seat import ask_phrases
from holisticbias_eval.prompts.selection import Selection, count_terms
from holisticbias_eval.prompts.sentences import ask_sentences
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import Chosen, Condition, ReleaseName, Seed, Small, Use, Variants
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.tables.fields import Default, Field
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.response_files import CELL
from holisticbias_eval.tasks.scored import ContextSettings, ScoredTask, SpanRequests, find_context
from holisticbias_eval.tasks.sources import TaskSource, release_source
from holisticbias_eval.tasks.task import Given

SELECTED = Condition(
    "with --limit or --variants", lambda values: values.get("limit") is not None or bool(values.get("variants"))
)


STANCES = ("template_id", "paraphrase_of", "opposite_of")
"""Columns of a run's scores for the templates that paraphrase or oppose each other."""


def _same_as(name: str) -> Default:
    return lambda made, _: made[name]


LIKELIHOODS = Form(
    "scores",
    (
        *CELL,
        # a term that is a noun itself has an id in place of the noun
        Field("noun", "name", need=True, filled_from="noun_id"),
        Field("descriptor_id", "name", default=_same_as("descriptor")),
        Field("noun_id", "name", default=_same_as("noun")),
        Field("perplexity", "number", need=True),
        *columns("number", "nll", "tokens", "phrase_nll"),
        *columns("label", *STANCES, "descriptor_gender"),
    ),
)
"""Ids distinguish terms with the same text; by default the text is the id."""


def read_likelihoods(source: Path) -> pa.Table:
    """Read a user's table of perplexities, one row per sentence in any order; raises ``TableError``."""
    table = LIKELIHOODS.read(source)
    known = "template_id" in table.column_names
    return table if known else table.drop_columns([name for name in STANCES if name in table.column_names])


class SentencesTask(ScoredTask):
    """The release's own sentences."""

    name = "sentences"
    subject = "sentences about people"
    select = staticmethod(ask_sentences)
    tables: ClassVar = {"likelihoods": read_likelihoods}
    uses = (
        Use(ReleaseName), Use(Small), Use(Chosen), Use(Seed, (SELECTED,)), Use(Variants), Use(ContextSettings),
        *scoring_uses(),
    )  # fmt: skip

    def source(self, given: Given) -> TaskSource:
        """Open the release, by default the one whose words the model knows."""
        release = given.release(given.own_release, small=given.read(Small).small)
        if "sentences" not in release.tables:
            raise EvaluationError(
                f"{release!r} has sentences with two descriptors: measure them with --measures intersections"
            )
        return release_source(release, about=find_context(given).settings)

    def ask(self, source: TaskSource, model: Scorer, given: Given) -> SpanRequests:
        """Select the sentences; raises ``SelectionError`` if none is left."""
        release: Release = source.content
        context, chosen = find_context(given), given.read(Chosen)
        variants = bool(given.read(Variants).variants)
        selection = Selection(chosen.where, chosen.limit, given.read(Seed).seed, variants, given.trial)
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
                given.stored(model, "scores"),
                asked.by_sentence,
                count=count,
                settings={**selection.settings, **unscored.settings},
                skipped=asked.skipped,
                terms=None if given.trial else count_terms(release, asked.sentences["descriptor_id"]),
                share=asked.share,
            )

    def beside(self, table: pa.Table, signature: Signature, given: Given) -> tuple[Figure, ...]:
        """The true stance contrast of the calibration model."""
        return tuple(planted_figures(signature, table))


class SeatTask(SentencesTask):
    """Phrases of terms in the templates of SEAT (Smith et al. 2022, B.1; May et al. 2019)."""

    name = "seat"
    subject = "phrases about people, in templates"
    select = staticmethod(ask_phrases)


_NAMES = {"shared_contrast": PLANTED, "wording_spread": PLANTED_SPREAD}


def planted_figures(signature: Signature, answers: pa.Table) -> Iterator[Figure]:
    """The figures that a model without error would have, for the axes and the pairs of templates.

    None are given for other models, and for releases with words that the model has not learned.
    """
    is_planted = signature.model.note == SHIPPED[EMBEDDED_MODEL].note and NAME in signature.measures
    biases = read_biases() if is_planted else None
    if biases is None or signature.release.version != biases.release:
        return
    true = with_columns(answers, {"nll": pa.array(-planted_strengths(answers, biases))})
    for figure in StanceContrast().figures(true, None).figures:
        if figure.name in _NAMES:
            named = {"name": _NAMES[figure.name], "of": figure.name, "interval": None}
            yield figure.model_copy(update=named)


def planted_strengths(answers: pa.Table, biases: PlantedBiases) -> Floats:
    """The sum of what is planted on the term of each row in its template, in nats: shape ``[rows]``."""
    descriptors, descriptor = encode(answers["descriptor_id"])
    templates, template = encode(answers["template_id"])
    strength = np.zeros((len(descriptors), len(templates)))
    for plant in biases.plants:
        for t, name in enumerate(templates):
            if plant.holds_in(name):
                strength[:, t] += [plant.strengths.get(d, 0.0) for d in descriptors]
    return np.asarray(strength[descriptor, template], np.float64)
