"""Prepare runs: open the release, start the engine, and select what each run asks of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from holisticbias import build_release, open_release
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.likelihood.engines import EngineOptions, start_engine
from holisticbias_eval.likelihood.scorer import Scorer
from holisticbias_eval.likelihood.spans import Spans, unique_spans
from holisticbias_eval.likelihood.stored import StoredScorer, score_store
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Settings
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.prompts import Asked, Prompts, ScoredPrompts
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.results.signature import ReleaseSignature, Signature, sign

SETTINGS = Settings()
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Job:
    """A prepared run: the release, the engine, the prompts and the signature.

    ``distinct`` are the distinct spans of ``asked``; ``rows`` is the position of
    each asked span among them. ``stored`` is the engine with a store, if there is one.
    """

    release: Release
    engine: Scorer
    stored: StoredScorer | None
    asked: Asked
    distinct: Spans
    rows: Ints
    prompts: Prompts
    signature: Signature

    @property
    def scorer(self) -> Scorer:
        """The engine, with its store if there is one."""
        return self.stored or self.engine

    @property
    def name(self) -> str:
        """The default name of the run's folder; different for parts of a release and for prompts."""
        names = [_file_name(self.engine.identity.name), "on", self.release.version]
        if self.release.manifest.part:
            names.append(_file_name(self.release.manifest.part))
        if self.prompts is not RELEASE_SENTENCES:
            names.append(self.prompts.name)
        return "-".join(names)


def prepare_jobs(
    model: str | None,
    release: str | None,
    measures: Sequence[tuple[str, ...]],
    options: EngineOptions | None,
    store: Path | None,
    context: Context | None,
    display: Display,
) -> list[Job]:
    """Open the release and start the engine, once for all runs, and prepare the run of each entry of ``measures``.

    Raises ``EvaluationError`` if a measure does not support the model's kind, and
    ``SelectionError`` if the release has no sentence for a measure.
    """
    with display.step(f"Opening release {release}" if release else "Opening the newest release"):
        opened = find_release(release)
    with display.step(f"Loading model {model or EMBEDDED_MODEL}"):
        engine = start_engine(model, display.notice, options)
    for name in (name for names in measures for name in names):
        if engine.kind not in MEASURES[name].needs.models:
            wanted = " or ".join(MEASURES[name].needs.models)
            raise EvaluationError(f"{name} needs a {wanted} model; {engine.identity.name} is a {engine.kind} model")
    stored = None
    if store is not None:
        stored = StoredScorer(engine, score_store(store, engine, opened.digest, display.notice))
    with display.step("Selecting sentences"):
        return [_job(opened, engine, stored, names, context or Context()) for names in measures]


def find_release(name: str | None) -> Release:
    """Open a release: a folder, a version to compile from the terms, or ``organisation/name@version`` on the Hub.

    Default: the newest published version, compiled from the terms.
    """
    if name is None:
        return build_release(load_catalog())
    if _VERSION.fullmatch(name) and not Path(name).exists():
        return build_release(load_catalog(), name)
    return open_release(name)


def _job(
    release: Release, engine: Scorer, stored: StoredScorer | None, measures: tuple[str, ...], context: Context
) -> Job:
    prompts = MEASURES[measures[0]].prompts
    if not isinstance(prompts, ScoredPrompts):
        raise EvaluationError(f"{measures[0]} is not a measure of likelihoods")
    asked = prompts.ask(release, partial(context.draw, joined=engine.context_in_text))
    if not len(asked.spans):
        raise SelectionError("no sentence is left to score: widen the selection")
    distinct, rows = unique_spans(asked.together)
    signature = sign(
        ReleaseSignature(version=release.version, subset=release.manifest.subset, digest=release.digest),
        engine.identity,
        {**engine.settings, **context.settings},
        {name: MEASURES[name].signature(SETTINGS) for name in measures},
        scored=len(asked.spans),
        skipped=prompts.skipped(release.sentences),
    )
    return Job(release, engine, stored, asked, distinct, rows, prompts, signature)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
