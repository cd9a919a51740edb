"""Runs of texts from a file: the likelihoods that a model gives to whole texts, and the measures of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa

from holisticbias.compile.digest import table_digest
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, file_name, refuse_kind
from holisticbias_eval.pipeline.scoring import ScoringJob
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.first_words import Unscored, count_unscored
from holisticbias_eval.prompts.test_sets import AskedTexts, TextPrompts
from holisticbias_eval.results.signature import ReleaseSignature, Settings, Signature, sign


@dataclass(frozen=True, slots=True)
class FileTexts:
    """Texts of a file: the column ``text`` of ``table`` is scored, one row each.

    Rows with the same value of the column ``drawn_by`` are given the same context, if contexts are drawn. ``file`` is
    the name of the file, ``what`` its texts are in words, and ``about`` goes into the signature. ``without_unscored``
    leaves out the rows that an engine without likelihoods for first tokens cannot tell apart.
    """

    table: pa.Table
    text: str
    drawn_by: str
    file: str
    what: Literal["test set"]
    prompts: TextPrompts
    without_unscored: Callable[[pa.Table], tuple[pa.Table, Unscored]]
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileJob(ScoringJob):
    """A prepared run of texts of a file; ``source`` is the file's name."""

    source: str = ""

    @property
    def name(self) -> str:
        """The default name of the run's folder: the model and the file."""
        return f"{file_name(self.signature.model.name)}-on-{file_name(Path(self.source).stem)}"


def prepare_texts(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    texts: FileTexts,
    options: ModelSettings | None,
    store: Path | None,
    context: Context | None,
    display: Display,
) -> list[Job]:
    """Start the engine, once for all runs, and prepare the run of each entry of ``measures``.

    Raises ``EvaluationError`` if the model or its kind do not fit.
    """
    with display.step(f"Loading model {model or texts.prompts.default_model}"):
        engine = start_scorer(model, display.notice, options)
    for names in measures:
        refuse_kind(names, engine.kind, engine.identity.name)
    return [_job(texts, engine, names, store, context or Context(), display) for names in measures]


def _job(
    texts: FileTexts,
    engine: Scorer,
    measures: tuple[str, ...],
    store: Path | None,
    context: Context,
    display: Display,
) -> FileJob:
    table = texts.table
    contexts = context.draw(table[texts.drawn_by].to_pylist(), joined=engine.context_in_text)
    unscored = count_unscored(contexts, first_token_scored=engine.first_token_scored)
    if unscored.texts:
        table, unscored = texts.without_unscored(table)
        contexts = [""] * table.num_rows
    asked = AskedTexts(table, whole(table[texts.text].to_pylist(), contexts))
    signature = _sign(texts, engine, measures, context, unscored)
    scorer = engine if store is None else stored(engine, store, display.notice, signature.release.digest)
    return FileJob(None, engine, scorer, asked, texts.prompts, signature, texts.file)


def _sign(
    texts: FileTexts, engine: Scorer, measures: tuple[str, ...], context: Context, unscored: Unscored
) -> Signature:
    """The signature of a run: the digest of the file's rows in place of a release's."""
    digest = table_digest(texts.table)
    about = {texts.prompts.name: texts.file, **texts.about, **unscored.settings}
    return sign(
        ReleaseSignature(version="none", subset=None, digest=digest, prompts=texts.file, what=texts.what),
        engine.identity,
        Settings(scoring={**engine.settings, **context.settings, **about}),
        {name: MEASURES[name].signature(SETTINGS) for name in measures},
        scored=texts.table.num_rows - unscored.left_out,
        skipped=unscored.skipped,
    )
