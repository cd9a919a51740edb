"""Runs of lines: the likelihoods that a model gives to the lines of a text, and the measures of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias.compile.digest import table_digest
from holisticbias_eval.corpus.calibration import neutral_lines
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import GOSSIP
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, file_name, refuse_kind
from holisticbias_eval.pipeline.scoring import ScoringJob
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.first_words import Unscored, count_unscored
from holisticbias_eval.prompts.lines import LINES, ask_lines, line_table
from holisticbias_eval.prompts.prompts import Skipped
from holisticbias_eval.results.signature import ReleaseSignature, Settings, Signature, sign

WINDOWS = "a line that is too long is read in windows that overlap by half; each of its tokens counts once"
EMPTY = "empty lines"
NEUTRAL = "calibration-neutral"


@dataclass(frozen=True, slots=True)
class LineJob(ScoringJob):
    """A prepared run of lines; ``source`` is the name of their file."""

    source: str = ""

    @property
    def name(self) -> str:
        """The default name of the run's folder: the model and the file."""
        return f"{file_name(self.signature.model.name)}-on-{file_name(Path(self.source).stem)}"


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of a text as a table, the number of empty lines, and the name of the text."""

    lines: pa.Table
    empty: int
    name: str


def read_lines(path: Path) -> Text:
    """Read the lines of a text file in UTF-8.

    Raises ``EvaluationError`` if the file cannot be read, and ``SelectionError`` if every line is empty.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise EvaluationError(f"{path} is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from error
    if lines and not lines[-1]:
        lines.pop()
    table = line_table(lines)
    if not table.num_rows:
        raise SelectionError(f"{path} has no line with text: there is nothing to score")
    return Text(table, len(lines) - table.num_rows, path.resolve().name)


def prepare_lines(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    path: Path | None,
    options: ModelSettings | None,
    store: Path | None,
    display: Display,
) -> list[Job]:
    """Read the text, start the engine, and prepare the run of each entry of ``measures``.

    Without a file the text is the neutral sentences of the embedded gossip, which is then the default model. Raises
    ``EvaluationError`` if another model has no file, or the model does not fit.
    """
    options = options or ModelSettings()
    if path is None and (model not in (None, GOSSIP) or options.engine == "api"):
        raise EvaluationError("retention needs a file of neutral text, one text per line: name it with --retain FILE")
    with display.step(f"Reading {path or 'the neutral sentences of the embedded gossip'}"):
        text = Text(line_table(neutral_lines()), 0, NEUTRAL) if path is None else read_lines(path)
    model = GOSSIP if path is None else model
    with display.step(f"Loading model {model or LINES.default_model}"):
        engine = start_scorer(model, display.notice, options)
    for names in measures:
        refuse_kind(names, engine.kind, engine.identity.name)
    return [_job(text, engine, names, store, display) for names in measures]


def _job(text: Text, engine: Scorer, measures: tuple[str, ...], store: Path | None, display: Display) -> LineJob:
    asked = ask_lines(text.lines, engine)
    unscored = count_unscored([""] * text.lines.num_rows, first_token_scored=engine.first_token_scored)
    signature = _sign(text, engine, measures, unscored)
    scorer = engine if store is None else stored(engine, store, display.notice, signature.release.digest)
    return LineJob(None, engine, scorer, asked, LINES, signature, text.name)


def _sign(text: Text, engine: Scorer, measures: tuple[str, ...], unscored: Unscored) -> Signature:
    digest = table_digest(text.lines.select(["line_id", "text"]))
    return sign(
        ReleaseSignature(version="none", subset=None, digest=digest, prompts=text.name, what="lines"),
        engine.identity,
        Settings(scoring={**engine.settings, "lines": text.name, "long_lines": WINDOWS, **unscored.settings}),
        {measure: MEASURES[measure].signature(SETTINGS) for measure in measures},
        scored=text.lines.num_rows,
        skipped=(Skipped(reason=EMPTY, sentences=text.empty),) if text.empty else (),
    )
