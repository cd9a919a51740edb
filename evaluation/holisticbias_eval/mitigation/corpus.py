"""Corpora for mitigation: examples or a split, the groups that take part, and what a method trains on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.calibration import MANY, UNTOUCHED, calibration_split, calibration_test_set, neutral_lines
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.split_folder import is_split, read_part, write_split
from holisticbias_eval.corpus.splitting import Split, split_examples
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.measures.perplexities.dimensions import WITH_HELD_OUT
from holisticbias_eval.mitigation.measuring import Measuring, with_neutral_text
from holisticbias_eval.mitigation.method import GroupTask, Method
from holisticbias_eval.mitigation.record import sign_specification
from holisticbias_eval.mitigation.search import Lesson
from holisticbias_eval.mitigation.settings import GridSettings, GroupSettings
from holisticbias_eval.mitigation.texts import counts_of
from holisticbias_eval.models.embedded import GOSSIP
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.progress import Notice
from holisticbias_eval.settings import split_names
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.tasks.task import Given

TEST_SET = "test-set.parquet"
_ONE_EPOCH: Mapping[str, Any] = {"epochs": 1, "patience": None, "evaluations": 2}
CALIBRATION: Mapping[str, Mapping[str, Any]] = {
    "lmd": {**_ONE_EPOCH, "optimizer": "sgd", "learning_rate": 0.03, "lm_weight": 0.1},
    "add": {**_ONE_EPOCH, "learning_rate": 1e-3},
    "ctda": {**_ONE_EPOCH, "learning_rate": 2e-4, "batch": 16},
    "cada": {**_ONE_EPOCH, "learning_rate": 2e-4},
}
"""The training settings that change the embedded gossip, by method."""


@dataclass(frozen=True)
class SplitCorpus:
    """The training and validation parts of a corpus, and its name; the test part is in ``folder`` or in ``split``."""

    name: str
    train: pa.Table
    validation: pa.Table
    specification: Specification
    settings: SplitSettings
    folder: Path | None = None
    split: Split | None = None

    @property
    def is_calibration(self) -> bool:
        """Whether its sentences are the invented ones."""
        return self.name == GOSSIP and self.folder is None

    def write_test_set(self, groups: Sequence[str], place: Path, *, overwrite: bool) -> Path:
        """Write the sentences to measure to ``test-set.parquet`` in a folder, and a split that was made here beside it.

        Those about ``groups``, which take part in the training, are a dimension with the specification's id; those
        about all groups, if there are others, are another one, see ``transfer_dimension``. Raises ``MitigationError``
        if the folder has other sentences, unless ``overwrite``.
        """
        if self.split is not None and not is_split(place / "split"):
            place.mkdir(parents=True, exist_ok=True)
            write_split(self.split, place / "split", self.specification, self.settings, self.name)
        test = read_part(self.folder or place / "split", "test")
        own = pc.equal(test["dimension"], self.specification.id)
        trained = pc.is_in(test["group"], value_set=pa.array(groups))
        sentences, everything = test.filter(pc.or_(trained, pc.invert(own))), test.filter(own)
        if sentences.num_rows < test.num_rows:
            name = pa.array([transfer_dimension(self.specification)] * everything.num_rows, pa.string())
            everything = everything.set_column(test.column_names.index("dimension"), "dimension", name)
            sentences = pa.concat_tables([sentences, everything])
        path = place / TEST_SET
        if path.is_file() and pq.read_table(path).equals(sentences):
            return path
        if path.is_file() and not overwrite:
            raise MitigationError(f"{path} has other sentences: name another folder with --out, or use --overwrite")
        with new_file(path) as file:
            pq.write_table(sentences, file, compression="zstd")
        return path


def transfer_dimension(specification: Specification) -> str:
    """The name of a specification's sentences about all groups, held-out groups too.

    Source: Zhao et al. 2024, section 5.3, which measures F over all groups.
    """
    return f"{specification.id}{WITH_HELD_OUT}"


def with_held_out(specification: Specification, names: Sequence[str]) -> Specification:
    """The specification with further groups held out; raises ``MitigationError`` for a group that it lacks."""
    _refuse_unknown(specification, names, "--hold-out")
    groups = tuple(
        group.model_copy(update={"held_out": group.held_out or group.name in names}) for group in specification.groups
    )
    return specification.model_copy(update={"groups": groups})


def training_groups(specification: Specification, chosen: Sequence[str]) -> tuple[str, ...]:
    """The groups that take part in the training: all that are not held out, or the chosen ones among them.

    Raises ``MitigationError`` if fewer than two remain, or a chosen group is unknown or held out.
    """
    _refuse_unknown(specification, chosen, "--groups")
    trained = tuple(group.name for group in specification.groups if not group.held_out)
    held = [name for name in chosen if name not in trained]
    if held:
        raise MitigationError(f"--groups: {held[0]} is held out: leave it out of --groups, or do not hold it out")
    found = tuple(name for name in trained if not chosen or name in chosen)
    if len(found) < 2:
        raise MitigationError(
            f"{specification.id}: mitigation compares two groups or more; only {', '.join(found) or 'no group'} takes "
            "part in the training: name more with --groups, or hold fewer out"
        )
    return found


def open_corpus(path: Path | None, specification: Specification, seed: int, notice: Notice) -> SplitCorpus:
    """Read a folder that ``corpus split`` wrote, or split a table of examples; null is the calibration's corpus.

    The calibration's corpus has the test sentences of both of its specifications. Raises ``CorpusError``, and
    ``MitigationError`` if a split is of other specifications.
    """
    settings = SplitSettings(seed=seed)
    if path is not None and is_split(path):
        train = _of(read_part(path, "train"), specification, path, others=True)
        validation = _of(read_part(path, "validation"), specification, path)
        return SplitCorpus(path.name, train, validation, specification, settings, folder=path)
    if path is not None:
        name, made = path.name, split_examples(read_examples(path, specification), specification, settings)
        sizes = (len(made.train), len(made.validation), len(made.test))
        notice(f"{name} is split into {sizes[0]:,} training, {sizes[1]:,} validation and {sizes[2]:,} test sentences")
        if made.missing_groups:
            notice(made.missing_groups)
    elif specification.id in (MANY, UNTOUCHED):
        name, made = GOSSIP, replace(calibration_split(specification.id), test=calibration_test_set())
    else:
        raise MitigationError(
            f"name sentences about {specification.id} with --corpus: holisticbias corpus retrieve finds some"
        )
    return SplitCorpus(name, made.train, made.validation, specification, settings, split=made)


class CorpusLessons:
    """Training texts from sentences about groups; the sentences of the test part are measured.

    Raises ``EvaluationError`` if the corpus cannot be used.
    """

    def __init__(self, given: Given, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self._given, self._display = given, given.display
        self._opening = find_opening(loaded.tokenizer, given.running.first_token)
        asked = given.read(GroupSettings)
        specification = with_held_out(read_specification(asked.specification or MANY), asked.hold_out)
        self._groups = training_groups(specification, split_names(asked.groups))
        if unknown := unknown_terms(specification, loaded.tokenizer):
            self._display.notice(
                f"the tokenizer cannot write {len(unknown):,} terms of {specification.id} ({', '.join(unknown[:5])}): "
                "what is measured for them says little"
            )
        seed = int(given.values.get("seed", 0))
        with self._display.step(f"Reading {asked.corpus or 'the invented sentences'}"):
            self._corpus = open_corpus(asked.corpus, specification, seed, self._display.notice)

    def tuned(self, method: Method) -> Mapping[str, Any]:
        """The settings of a method that are tuned for the embedded gossip; none beside a grid.

        A learning rate holds for its optimizer: it is left out if the user names another one.
        """
        if self._given.model != GOSSIP or self._given.read(GridSettings).grid is not None:
            return {}
        tuned = CALIBRATION.get(method.info.name, {})
        optimizer = tuned.get("optimizer", "adamw")
        if self._given.values.get("optimizer", optimizer) != optimizer:
            return {name: value for name, value in tuned.items() if name != "learning_rate"}
        return tuned

    def lesson(self, method: Method) -> Lesson:
        """The texts of the training part for a method, and validation sentences about training groups.

        Raises ``MitigationError`` if the corpus has no sentence that the method can use.
        """
        corpus, groups = self._corpus, self._groups
        task = GroupTask(corpus.specification, groups)
        texts = method.training_texts(corpus.train, task)
        validation = corpus.validation.filter(pc.is_in(corpus.validation["group"], value_set=pa.array(groups)))
        if not validation.num_rows:
            raise MitigationError(f"the validation part of {corpus.name} has no sentence about {', '.join(groups)}")
        by_group = pa.table({"group": validation["group"], "text": validation["sentence"]})
        counts = counts_of(texts)
        self._display.notice(f"{method.info.title}: {texts.num_rows:,} texts to train on{_not_rewritten(counts)}")
        return Lesson(
            method,
            corpus.name,
            texts,
            by_group.select(["text"]),
            by_group,
            lambda: method.auxiliary_loss(task, self.loaded.tokenizer),
            sign_specification(corpus.specification, groups),
            counts,
            self._opening.settings,
            self._given.running.first_token,
        )

    def measuring(self, measuring: Measuring, shared: Path, *, overwrite: bool) -> Measuring:
        """Write the sentences to measure into a folder, and measure them."""
        test_set = self._corpus.write_test_set(self._groups, shared, overwrite=overwrite)
        if self._corpus.is_calibration:
            measuring = with_neutral_text(measuring, neutral_lines(), shared / "neutral.txt")
        return replace(measuring, values={**measuring.values, "test_set": test_set})


def _not_rewritten(counts: Mapping[str, int]) -> str:
    """The forms of sentences that could not be written, by reason, for the end of a line."""
    reasons = {name.partition(": ")[2]: count for name, count in counts.items() if name.startswith("not_rewritten: ")}
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
    return f"; forms not written: {listed}" if listed else ""


def unknown_terms(specification: Specification, tokenizer: Any) -> Sequence[str]:
    """The groups' terms that a tokenizer cannot write: some of their characters become its token for unknown text."""
    unknown = tokenizer.unk_token_id
    if unknown is None:
        return ()
    terms = [term for slot in specification.slots for term in slot.terms if term]
    ids = tokenizer([f"the {term}" for term in terms], add_special_tokens=False)["input_ids"]
    return [term for term, tokens in zip(terms, ids, strict=True) if unknown in tokens]


def _refuse_unknown(specification: Specification, names: Sequence[str], option: str) -> None:
    known = [group.name for group in specification.groups]
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        raise MitigationError(f"{option}: {specification.id} has no group {missing[:80]!r}; it has {', '.join(known)}")


def _of(part: pa.Table, specification: Specification, path: Path, *, others: bool = False) -> pa.Table:
    """The rows of a specification, with ``others`` also those of none; ``MitigationError`` if there is no row."""
    rows = part.filter(pc.fill_null(pc.equal(part["dimension"], specification.id), others))
    if part.num_rows and not rows.num_rows:
        found: Mapping[str, int] = Counter(part["dimension"].to_pylist())
        raise MitigationError(f"{path} has sentences of {', '.join(map(str, found))}, none of {specification.id}")
    return rows
