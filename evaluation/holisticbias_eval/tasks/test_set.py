"""Sentences of a test set about several groups, which differ in the group's term alone."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.digest import table_digest
from holisticbias_eval.corpus.calibration import calibration_test_set
from holisticbias_eval.corpus.published import is_published, read_group_perplexities, read_test_sets
from holisticbias_eval.errors import SelectionError, about_rows_of
from holisticbias_eval.measures.perplexities.dimensions import IDS, Dimension, read_dimensions
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.settings import scoring_uses
from holisticbias_eval.prompts.contexts import NOTHING_LEFT, Unscored, count_unscored, differ_first
from holisticbias_eval.prompts.sentences import AskedSentences
from holisticbias_eval.settings import Settings, Use, setting
from holisticbias_eval.stereotypes.specifications import calibration_model
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import file_in
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.scored import ContextSettings, ScoredTask, SpanRequests, find_context
from holisticbias_eval.tasks.sources import TaskSource, file_source
from holisticbias_eval.tasks.task import Given

CALIBRATION = "calibration-many"
"""The name of the default test set in a run."""
TEST_FILE = "test.parquet"
"""The test part in the folder of a split."""
ALL = "all"
"""The dimension of a table without the column ``dimension``."""
TEST_SET = Form(
    "sentences",
    (
        Field("dimension", "name", default=lambda _, rows: pa.array([ALL] * rows)),
        *columns("name", "group", "sentence", need=True),
        *columns("label", *IDS, "original_group", "target", "attribute", "attribute_set"),
    ),
    blank_is_missing=True,
)
PERPLEXITIES = Form(
    "perplexities",
    (*TEST_SET.fields, Field("perplexity", "number", need=True), *columns("number", "nll", "tokens")),
    blank_is_missing=True,
)
"""``sentence`` is an id that groups share, or the text of the sentence; ``IDS`` then say which belong together."""
_DIFFERING = ("text that differs between groups", "texts that differ between groups")


def read_group_scores(source: Path) -> pa.Table:
    """Read perplexities, which may be missing; without ``dimension`` all rows are of one.

    A published file or folder is read with the files of its other groups; see ``published.read_group_perplexities``.
    Raises ``TableError`` and ``CorpusError``.
    """
    return read_group_perplexities(source) if is_published(source) else PERPLEXITIES.read(source)


def read_test_set(path: Path) -> pa.Table:
    """Read the sentences to score from a file, from ``test.parquet`` in the folder of a split, or from published files.

    Raises ``TableError`` and ``CorpusError``.
    """
    if not (path / TEST_FILE).is_file() and is_published(path):
        return read_test_sets(path).drop_columns(["perplexity"])
    advice = "make it with holisticbias corpus split, or name a file of sentences"
    return TEST_SET.read(file_in(path, TEST_FILE, advice))


class TestSetSettings(Settings):
    """The test set."""

    __test__ = False  # the name begins as pytest's classes do
    group = "Sentences about several groups"

    test_set: Path | None = setting(
        None,
        "File of sentences for group_perplexity, with the columns dimension, group and sentence, or the folder of a "
        "split. Without --measures, group_perplexity is measured. Default: the calibration's.",
        metavar="PATH",
    )


class TestSetTask(ScoredTask):
    """The sentences of a file; every sentence is scored whole."""

    __test__ = False
    name = "test_set"
    subject = "sentences of a test set"
    named_by = (TestSetSettings, "test_set")
    tables: ClassVar = {"group_sentences": read_group_scores}
    uses = (Use(TestSetSettings), Use(ContextSettings), *scoring_uses())

    def source(self, given: Given) -> TaskSource:
        """Read the file, by default the gossip's test set, for which the gossip is the default model.

        A test set that cannot be measured is refused, before anything is scored.
        """
        path = given.read(TestSetSettings).test_set
        with given.display.step(f"Reading {path}" if path else "Making the test set of the calibration"):
            table = read_test_set(path) if path else calibration_test_set()
            with about_rows_of(path or Path(CALIBRATION)):
                _dimensions(table)
        file = path.resolve().name if path else CALIBRATION
        dimensions = ", ".join(pc.unique(table["dimension"]).to_pylist())
        about = {**find_context(given).settings, self.name: file, "dimensions": dimensions}
        own = calibration_model(table["dimension"].to_pylist())
        return file_source(table, file, table_digest(table), "test set", about, default_model=own)

    def ask(self, source: TaskSource, model: Scorer, given: Given) -> SpanRequests:
        """Draw the contexts, and leave out sentences that differ in their first word alone if it is not scored."""
        table, context = source.content, find_context(given)
        drawn_by = next((name for name in IDS if name in table.column_names and not table[name].null_count), "sentence")
        contexts = context.draw(table[drawn_by].to_pylist(), joined=model.context_in_text)
        unscored = count_unscored(contexts, first_token_scored=model.first_token_scored)
        if unscored.texts:
            table, unscored = without_first_words(table)
            contexts = [""] * table.num_rows
        asked = AskedSentences(table, whole(table["sentence"].to_pylist(), contexts))
        left, store = source.content.num_rows - unscored.left_out, given.stored(model, "scores")
        return SpanRequests(asked, model, store, count=left, settings=unscored.settings, skipped=unscored.skipped)


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


def _dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    """The dimensions of a test set without perplexities."""
    return read_dimensions(table.append_column("perplexity", pa.nulls(table.num_rows, pa.float64())))
