"""Runs of test sets: the perplexities of the same sentences about several groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.corpus.calibration import calibration_test_set
from holisticbias_eval.likelihood.engines import EngineOptions
from holisticbias_eval.measures.perplexities.dimensions import IDS, read_dimensions
from holisticbias_eval.models.embedded.gossip import GOSSIP
from holisticbias_eval.models.embedded.gossip.description import gossip_specifications
from holisticbias_eval.pipeline.file_scoring import FileTexts, prepare_texts
from holisticbias_eval.pipeline.group_files import read_test_set
from holisticbias_eval.pipeline.jobs import Job
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.test_sets import TEST_SETS

CALIBRATION = "calibration-many"
"""The name of the default test set in a run."""


@dataclass(frozen=True, slots=True)
class TestSetOptions:
    """The file of a test set, or the folder of a split."""

    path: Path

    __test__ = False  # the name begins as pytest's classes do


def prepare_test_set(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    given: TestSetOptions | None,
    options: EngineOptions | None,
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
    options = options or EngineOptions()
    if model is None and options.engine != "api" and is_gossip(table):
        model = GOSSIP
    file = given.path.resolve().name if given else CALIBRATION
    dimensions = ", ".join(pc.unique(table["dimension"]).to_pylist())
    drawn_by = next((name for name in IDS if name in table.column_names and not table[name].null_count), "sentence")
    texts = FileTexts(table, "sentence", drawn_by, file, "test set", TEST_SETS, {"dimensions": dimensions})
    return prepare_texts(model, measures, texts, options, store, context, display)


def is_gossip(table: pa.Table) -> bool:
    """Whether all dimensions of a test set are specifications of the embedded gossip."""
    ids = {specification.id for specification in gossip_specifications()}
    return set(table["dimension"].to_pylist()) <= ids


def _refuse_unmeasurable(table: pa.Table) -> None:
    """Read the groups before anything is scored: one group only or a repeated sentence cannot be measured."""
    read_dimensions(table.append_column("perplexity", pa.nulls(table.num_rows, pa.float64())))
