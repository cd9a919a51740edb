"""Prepare runs: the inputs of an evaluation, and the job of each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import default_release
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.pipeline.answering import AnsweringOptions, prepare_answering
from holisticbias_eval.pipeline.continuing import prepare_continuing
from holisticbias_eval.pipeline.intersection_scoring import prepare_intersections
from holisticbias_eval.pipeline.jobs import Job, find_release
from holisticbias_eval.pipeline.pair_scoring import PairOptions, prepare_pairs
from holisticbias_eval.pipeline.retention import MEASURED, RetainOptions, prepare_retention
from holisticbias_eval.pipeline.scoring import prepare_scoring
from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions, prepare_test_set
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.collections import COLLECTION_PROMPTS
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.intersections import INTERSECTIONS
from holisticbias_eval.prompts.pairs import PairPrompts
from holisticbias_eval.prompts.prompts import ScoredPrompts, Selection
from holisticbias_eval.prompts.test_sets import TEST_SETS

Source = Literal["pairs", "test set", "retention", "texts", "scores", "responses", "intersections"]
"""The source of the texts that the measures of a run need."""
Measures = Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of an evaluation besides the model and the release.

    ``scoring`` are the options of the engine that scores, ``store`` is the folder that keeps scores between runs,
    ``context`` a text before each sentence, ``selection`` says which of a release's sentences are scored.
    ``answering`` are the options of measures of responses. ``pairs``, ``test_set`` and ``retain`` name the files of
    measures that need no release.
    """

    scoring: ModelSettings | None = None
    store: Path | None = None
    context: Context | None = None
    answering: AnsweringOptions = field(default_factory=AnsweringOptions)
    pairs: PairOptions | None = None
    test_set: TestSetOptions | None = None
    retain: RetainOptions = field(default_factory=RetainOptions)
    selection: Selection = field(default_factory=Selection)


def source_of(measures: Sequence[str]) -> Source:
    """The source of the texts of measures that share a run."""
    prompts = MEASURES[measures[0]].prompts
    if measures[0] in MEASURED:
        return "retention"
    if isinstance(prompts, PairPrompts):
        return "pairs"
    if prompts is TEST_SETS:
        return "test set"
    if prompts is INTERSECTIONS:
        return "intersections"
    if prompts is COLLECTION_PROMPTS:
        return "texts"
    return "scores" if isinstance(prompts, ScoredPrompts) else "responses"


def is_scored(measures: Sequence[str]) -> bool:
    """Whether measures that share a run need likelihoods, not responses."""
    return source_of(measures) not in {"texts", "responses"}


@dataclass(slots=True)
class _Asked:
    """An evaluation's arguments; its release is opened once."""

    model: str | None
    name: str | None
    given: Inputs
    display: Display
    opened: Release | None = None

    def release(self) -> Release:
        if self.opened is None:
            given = self.given.answering.given is not None and self.given.scoring is None
            name = self.name or (None if given else default_release(self.model))
            with self.display.step(f"Opening release {name}" if name else "Opening the newest release"):
                self.opened = find_release(name)
        return self.opened


def prepare(
    model: str | None, release: str | None, measures: Measures, given: Inputs, display: Display
) -> tuple[Job, ...]:
    """Prepare the run of each entry of ``measures``; runs of one source share the model and what they read.

    Raises ``EvaluationError`` if a file is missing, or an option does not fit the model or the measures.
    """
    asked, made = _Asked(model, release, given, display), list[Job]()
    for source, prepare_source in _SOURCES.items():
        chosen = [names for names in measures if source_of(names) == source]
        if chosen:
            made += prepare_source(asked, chosen)
    return tuple(next(job for job in made if job.signature.measures == names) for names in measures)


def _pairs(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given = asked.given
    if given.pairs is None:
        raise EvaluationError("stereotype_score needs pairs of sentences: name their file or folder with --pairs")
    return prepare_pairs(asked.model, measures, given.pairs, given.scoring, given.store, asked.display)


def _test_set(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given = asked.given
    return prepare_test_set(
        asked.model, measures, given.test_set, given.scoring, given.store, given.context, asked.display
    )


def _retention(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given = asked.given
    return prepare_retention(asked.model, measures, given.retain, given.scoring, given.store, asked.display)


def _scores(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given, release = asked.given, asked.release()
    return prepare_scoring(
        asked.model, release, measures, given.scoring, given.store, given.context, asked.display, given.selection
    )


def _intersections(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given, release = asked.given, asked.release()
    return prepare_intersections(
        asked.model, release, measures, given.scoring, given.store, given.context, asked.display
    )


def _responses(asked: _Asked, measures: Measures) -> Sequence[Job]:
    return prepare_answering(asked.model, asked.release(), measures, asked.given.answering, asked.display)


def _texts(asked: _Asked, measures: Measures) -> Sequence[Job]:
    given = asked.given.answering
    return [prepare_continuing(asked.model, asked.name, names, given, asked.display) for names in measures]


_SOURCES: Mapping[Source, Callable[[_Asked, Measures], Sequence[Job]]] = {
    "pairs": _pairs,
    "test set": _test_set,
    "retention": _retention,
    "scores": _scores,
    "intersections": _intersections,
    "responses": _responses,
    "texts": _texts,
}
