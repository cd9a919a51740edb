"""Lines of a text, each scored whole, in windows if it is too long."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias.compile.digest import table_digest
from holisticbias_eval.corpus.calibration import neutral_lines
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.models.embedded import GOSSIP
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, with_scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.settings import scoring_uses
from holisticbias_eval.models.store.keys import counted
from holisticbias_eval.prompts.contexts import AskedSpans, count_unscored
from holisticbias_eval.prompts.selection import Skipped
from holisticbias_eval.settings import Settings, Texts, Use, setting
from holisticbias_eval.tables.content import text_lines
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.scored import ScoredTask, SpanRequests
from holisticbias_eval.tasks.sources import TaskSource, file_source
from holisticbias_eval.tasks.task import Given

WINDOWS = "a line that is too long is read in windows that overlap by half; each of its tokens counts once"
EMPTY = "empty lines"
NEUTRAL = "calibration-neutral"
MULTIWOZ = "multiwoz:"


LINES = Form("lines", (*columns("name", "text", need=True),
                       *columns("number", "nll", need=True, filled=True),
                       *columns("count", "tokens", need=True, filled=True)))  # fmt: skip


def read_scored_lines(source: Path) -> pa.Table:
    """Lines with their scores; a line without a scored token has 0 tokens."""
    table = LINES.read(source)
    lines = line_table([text.replace("\n", " ") for text in table["text"].to_pylist()])
    size = np.array([len(text.encode()) for text in lines["text"].to_pylist()], np.int32)
    return with_scores(lines, Scores(table["nll"].to_numpy(), table["tokens"].to_numpy().astype(np.int32), size))


def line_table(lines: Sequence[str]) -> pa.Table:
    """A table of the lines that are not empty: ``line_id``, ``line`` (its number in the text, from 1) and ``text``.

    The id depends on the text and on how often it came before: lines of two runs are paired by it in any order.
    """
    found = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    texts = [text for _, text in found]
    digests = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
    ids = [f"{digest}-{before + 1}" for digest, before in zip(digests, counted(texts), strict=True)]
    return pa.table(
        {
            "line_id": pa.array(ids, pa.string()),
            "line": pa.array([number for number, _ in found], pa.int64()),
            "text": pa.array(texts, pa.large_string()),
        }
    )


def ask_lines(lines: pa.Table, engine: Scorer) -> AskedSpans:
    """The windows of the lines, as an engine can read them; a line's scores are sums over its ``windows``."""
    texts = lines["text"].to_pylist()
    found = [(i, window) for i, windows in enumerate(engine.windows(texts)) for window in windows]
    cut = [texts[i][w.begin : w.stop] for i, w in found]
    start, stop = (np.array([getattr(w, end) - w.begin for _, w in found], np.int32) for end in ("start", "stop"))
    line = np.array([i for i, _ in found], np.int64)

    def answer(scores: Scores) -> pa.Table:
        nll, tokens, size = (
            np.bincount(line, values, len(texts)) for values in (scores.nll, scores.tokens, scores.bytes)
        )
        summed = Scores(nll.astype(np.float64), tokens.astype(np.int32), size.astype(np.int32))
        windows = np.bincount(line, minlength=len(texts)).astype(np.int32)
        return with_scores(lines, summed).append_column("windows", pa.array(windows))

    return AskedSpans(Spans(cut, start, stop, [""] * len(cut)), answer)


class RetainSettings(Settings):
    """Texts on which costs of a mitigation are measured."""

    group = "Retention"

    retain: Texts = setting(
        (),
        "For retention, a file of neutral text, one text per line; for dialogue_state, a folder of MultiWOZ 2.0 or "
        "2.1. Without --measures, these are measured; mitigate always measures them.",
        metavar="FILE|multiwoz:FOLDER",
    )

    @property
    def text(self) -> Path | None:
        """The file of neutral text."""
        return _only([value for value in self.retain if not value.startswith(MULTIWOZ)])

    @property
    def dialogues(self) -> Path | None:
        """The folder of MultiWOZ."""
        return _only([value.removeprefix(MULTIWOZ) for value in self.retain if value.startswith(MULTIWOZ)])


def _only(values: Sequence[str]) -> Path | None:
    if len(values) > 1:
        raise EvaluationError(
            "--retain takes one file of neutral text and one multiwoz:FOLDER: join the files into one"
        )
    return Path(values[0]) if values else None


class LinesTask(ScoredTask):
    """The lines of a file of neutral text."""

    name = "lines"
    subject = "lines of text"
    named_by = (RetainSettings, "text")
    tables: ClassVar = {"lines": read_scored_lines}
    uses = (Use(RetainSettings), *scoring_uses())

    def source(self, given: Given) -> TaskSource:
        """Read the file; without one, the neutral sentences of the gossip, for the gossip."""
        path = given.read(RetainSettings).text
        if path is None and (given.model not in (None, GOSSIP) or given.running.engine == "api"):
            raise EvaluationError(
                "retention needs a file of neutral text, one text per line: name it with --retain FILE"
            )
        with given.display.step(f"Reading {path or 'the neutral sentences of the embedded gossip'}"):
            lines = neutral_lines() if path is None else read_lines(path)
            table = line_table(lines)
        name = NEUTRAL if path is None else path.resolve().name
        empty = 0 if path is None else len(lines) - table.num_rows
        digest = table_digest(table.select(["line_id", "text"]))
        return file_source(
            table, name, digest, "lines", {"lines": name, "long_lines": WINDOWS},
            skipped=(Skipped(reason=EMPTY, sentences=empty),) if empty else (),
            default_model=GOSSIP if path is None else None,
        )  # fmt: skip

    def ask(self, source: TaskSource, model: Scorer, given: Given) -> SpanRequests:
        """Divide the lines into the windows that the model can read."""
        lines = source.content
        unscored = count_unscored([""] * lines.num_rows, first_token_scored=model.first_token_scored)
        asked, store = ask_lines(lines, model), given.stored(model, "scores")
        return SpanRequests(asked, model, store, count=lines.num_rows, settings=unscored.settings)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file in UTF-8.

    Raises ``TableError`` if it cannot be read, and ``SelectionError`` if every line is empty.
    """
    lines = text_lines(path)
    if not any(map(str.strip, lines)):
        raise SelectionError(f"{path} has no line with text: there is nothing to score")
    return lines
