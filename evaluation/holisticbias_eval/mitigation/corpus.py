"""Corpora for mitigation: examples or a split, the groups that take part, and what a method trains on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.inputs import refuse_unreadable
from holisticbias.output import new_file
from holisticbias.release.bounded import check_parquet
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.calibration import MANY, UNTOUCHED, calibration_split, calibration_test_set, neutral_lines
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.split_folder import is_split, read_part, write_split
from holisticbias_eval.corpus.splitting import Split, split_examples
from holisticbias_eval.errors import MitigationError, about_rows_of
from holisticbias_eval.measures.perplexities.dimensions import WITH_HELD_OUT
from holisticbias_eval.mitigation.measuring import Measuring, with_neutral_text
from holisticbias_eval.mitigation.method import CorpusMethod, GroupTask, Method
from holisticbias_eval.mitigation.record import sign_specification
from holisticbias_eval.mitigation.settings import GridSettings, GroupSettings, TrainingSettings
from holisticbias_eval.mitigation.training import Lesson
from holisticbias_eval.models.embedded import GOSSIP
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.loading.load import LoadedModel
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


class CorpusLessons:
    """Training texts from sentences about groups; the sentences of the test part are measured.

    The sentences are a folder that ``corpus split`` wrote, a table of examples, which is split, or by default the
    calibration's invented ones. Raises ``EvaluationError`` if they cannot be used.
    """

    def __init__(self, given: Given, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self._given, self._display = given, given.display
        self._opening = find_opening(loaded.tokenizer, given.running.first_token)
        asked = given.read(GroupSettings)
        self._specification = with_held_out(read_specification(asked.specification or MANY), asked.hold_out)
        self._groups = training_groups(self._specification, split_names(asked.groups))
        if unknown := unknown_terms(self._specification, loaded.tokenizer):
            self._display.notice(
                f"the tokenizer cannot write {len(unknown):,} terms of {self._specification.id} "
                f"({', '.join(unknown[:5])}): what is measured for them says little"
            )
        self._file = asked.examples
        self._name = GOSSIP if self._file is None else self._file.name
        self._settings = SplitSettings(seed=given.read(TrainingSettings).seed)
        self._made: Split | None = None
        with self._display.step(f"Reading {self._file or 'the invented sentences'}"):
            self._train, self._validation = self._read()

    def _read(self) -> tuple[pa.Table, pa.Table]:
        """The training and the validation part."""
        file, specification = self._file, self._specification
        if file is not None and is_split(file):
            train = _of(read_part(file, "train"), specification, file, others=True)
            return train, _of(read_part(file, "validation"), specification, file)
        if file is not None:
            with about_rows_of(file):
                made = split_examples(read_examples(file, specification), specification, self._settings)
            train, validation, test = len(made.train), len(made.validation), len(made.test)
            self._display.notice(
                f"{self._name} is split into {train:,} training, {validation:,} validation and {test:,} test sentences"
            )
            if made.missing_groups:
                self._display.notice(made.missing_groups)
        elif specification.id in (MANY, UNTOUCHED):
            made = replace(calibration_split(specification.id), test=calibration_test_set())
        else:
            raise MitigationError(
                f"name sentences about {specification.id} with --examples: holisticbias corpus retrieve finds some"
            )
        self._made = made
        return made.train, made.validation

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
        groups = self._groups
        task = GroupTask(self._specification, groups)
        texts, counts = cast("CorpusMethod", method).training_texts(self._train, task)
        validation = self._validation.filter(pc.is_in(self._validation["group"], value_set=pa.array(groups)))
        if not validation.num_rows:
            raise MitigationError(f"the validation part of {self._name} has no sentence about {', '.join(groups)}")
        by_group = pa.table({"group": validation["group"], "text": validation["sentence"]})
        self._display.notice(f"{method.info.title}: {texts.num_rows:,} texts to train on{_not_rewritten(counts)}")
        return Lesson(
            method,
            self._name,
            texts,
            by_group.select(["text"]),
            by_group,
            lambda: method.auxiliary_loss(task, self.loaded.tokenizer),
            sign_specification(self._specification, groups),
            counts,
            self._opening.settings,
            self._given.running.first_token,
        )

    def measuring(self, measuring: Measuring, shared: Path, *, overwrite: bool) -> Measuring:
        """Write the sentences to measure into a folder, and measure them."""
        test_set = self._write_test_set(shared, overwrite=overwrite)
        if self._file is None:
            measuring = with_neutral_text(measuring, neutral_lines(), shared / "neutral.txt")
        return replace(measuring, values={**measuring.values, "test_set": test_set})

    def _write_test_set(self, place: Path, *, overwrite: bool) -> Path:
        """Write the sentences to measure to ``test-set.parquet`` in a folder, and a split that was made here beside it.

        Those about the groups of the training are a dimension with the specification's id; those about all groups, if
        there are others, are another one (Zhao et al. 2024, section 5.3). Raises ``MitigationError`` if the folder has
        other sentences, unless ``overwrite``.
        """
        made = self._made
        test = read_part(self._file or place, "test") if made is None else made.test
        own = pc.equal(test["dimension"], self._specification.id)
        trained = pc.is_in(test["group"], value_set=pa.array(self._groups))
        sentences, everything = test.filter(pc.or_(trained, pc.invert(own))), test.filter(own)
        if sentences.num_rows < test.num_rows:
            name = pa.array([f"{self._specification.id}{WITH_HELD_OUT}"] * everything.num_rows, pa.string())
            everything = everything.set_column(test.column_names.index("dimension"), "dimension", name)
            sentences = pa.concat_tables([sentences, everything])
        path, split = place / TEST_SET, place / "split"
        is_there = path.is_file() and not overwrite
        if is_there:
            advice = "name another folder with --out, or use --overwrite"
            with refuse_unreadable(path, MitigationError, advice):
                old = check_parquet(path).read()
            if not old.equals(sentences):
                raise MitigationError(f"{path} has other sentences: {advice}")
        if made is not None and (overwrite or not is_split(split)):
            place.mkdir(parents=True, exist_ok=True)
            write_split(made, split, self._specification, self._settings, self._name)
        if not is_there:
            with new_file(path) as file:
                pq.write_table(sentences, file, compression="zstd")
        return path


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
