"""Runs of test sets: the perplexities of the same sentences about several groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.corpus.calibration import calibration_test_set
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.perplexities.dimensions import IDS, Dimension, read_dimensions
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.pipeline.file_scoring import FileTexts, prepare_texts
from holisticbias_eval.pipeline.group_files import read_test_set
from holisticbias_eval.pipeline.jobs import Job
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.first_words import NOTHING_LEFT, Unscored, differ_first
from holisticbias_eval.prompts.test_sets import TEST_SETS
from holisticbias_eval.stereotypes.specifications import calibration_model

CALIBRATION = "calibration-many"
"""The name of the default test set in a run."""
_DIFFERING = ("text that differs between groups", "texts that differ between groups")


@dataclass(frozen=True, slots=True)
class TestSetOptions:
    """The file of a test set, or the folder of a split."""

    path: Path

    __test__ = False  # the name begins as pytest's classes do


def prepare_test_set(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    given: TestSetOptions | None,
    options: ModelSettings | None,
    store: Path | None,
    context: Context | None,
    display: Display,
) -> list[Job]:
    """Read the test set and prepare the runs; the default model of the gossip's dimensions is the gossip.

    The default test set is the gossip's. Raises ``EvaluationError`` if the file cannot be measured, before a model is
    loaded.
    """
    with display.step(f"Reading {given.path}" if given else "Making the test set of the calibration"):
        table = read_test_set(given.path) if given else calibration_test_set()
        _refuse_unmeasurable(table)
    options = options or ModelSettings()
    if options.engine != "api":
        model = model or calibration_model(table["dimension"].to_pylist()) or TEST_SETS.default_model
    file = given.path.resolve().name if given else CALIBRATION
    dimensions = ", ".join(pc.unique(table["dimension"]).to_pylist())
    drawn_by = next((name for name in IDS if name in table.column_names and not table[name].null_count), "sentence")
    texts = FileTexts(
        table, "sentence", drawn_by, file, "test set", TEST_SETS, without_first_words, {"dimensions": dimensions}
    )
    return prepare_texts(model, measures, texts, options, store, context, display)


def without_first_words(table: pa.Table) -> tuple[pa.Table, Unscored]:
    """Leave out sentences that differ between the groups in their first word alone, which is not scored.

    Raises ``SelectionError`` if no sentence is left.
    """
    alone, also = set[tuple[str, str]](), set[tuple[str, str]]()
    for dimension in _dimensions(table):
        for names in dimension.names if dimension.paired else ():
            texts = [name for name in names if name is not None]
            in_first, in_no_other = differ_first(texts)
            if in_first:
                (alone if in_no_other else also).update((dimension.name, text) for text in texts)
    keys = list(zip(table["dimension"].to_pylist(), table["sentence"].to_pylist(), strict=True))
    left = table.filter(pa.array([key not in alone for key in keys], pa.bool_()))
    if not left.num_rows:
        raise SelectionError(NOTHING_LEFT)
    left_out = table.num_rows - left.num_rows
    counted = sum(key in also and key not in alone for key in keys)
    return left, Unscored(left.num_rows, left.num_rows, left_out, 0, counted, _DIFFERING)


def _refuse_unmeasurable(table: pa.Table) -> None:
    """Read the groups before anything is scored: one group only or a repeated sentence cannot be measured."""
    _dimensions(table)


def _dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    """The dimensions of a test set without perplexities."""
    return read_dimensions(table.append_column("perplexity", pa.nulls(table.num_rows, pa.float64())))
