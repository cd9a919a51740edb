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
from holisticbias_eval.corpus.calibration import calibration_split, calibration_test_set
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.split_folder import is_split, read_part, write_split
from holisticbias_eval.corpus.splitting import Split, SplitSettings, split_examples
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.measures.perplexities.dimensions import WITH_HELD_OUT
from holisticbias_eval.mitigation.corpus_texts import counts_of
from holisticbias_eval.mitigation.method import Method, Task
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.models.embedded.gossip import GOSSIP, MANY, UNTOUCHED
from holisticbias_eval.pipeline.mitigation_training import Lesson
from holisticbias_eval.progress import Notice
from holisticbias_eval.results.mitigation import sign_specification

TEST_SET = "test-set.parquet"


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
        parts = [test.filter(pc.or_(trained, pc.invert(own)))]
        everything = test.filter(own)
        if parts[0].num_rows < test.num_rows:
            name = pa.array([transfer_dimension(self.specification)] * everything.num_rows, pa.string())
            parts.append(everything.set_column(test.column_names.index("dimension"), "dimension", name))
        return _write_sentences(pa.concat_tables(parts), place / TEST_SET, overwrite=overwrite)


def _write_sentences(sentences: pa.Table, path: Path, *, overwrite: bool) -> Path:
    """Write a test set, unless it is there already; other sentences are replaced only if ``overwrite``."""
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

    Raises ``CorpusError``, and ``MitigationError`` if a split is of other specifications.
    """
    settings = SplitSettings(seed=seed)
    if path is None:
        return _calibration(specification, settings)
    if is_split(path):
        train = _of(read_part(path, "train"), specification, path, others=True)
        validation = _of(read_part(path, "validation"), specification, path)
        return SplitCorpus(path.name, train, validation, specification, settings, folder=path)
    return split_corpus(path.name, read_examples(path, specification), specification, settings, notice)


def _calibration(specification: Specification, settings: SplitSettings) -> SplitCorpus:
    """The invented sentences, with the test sentences of both of their specifications."""
    if specification.id not in (MANY, UNTOUCHED):
        raise MitigationError(
            f"name sentences about {specification.id} with --corpus: holisticbias corpus retrieve finds some"
        )
    made = replace(calibration_split(specification.id), test=calibration_test_set())
    return SplitCorpus(GOSSIP, made.train, made.validation, specification, settings, split=made)


def split_corpus(
    name: str, examples: pa.Table, specification: Specification, settings: SplitSettings, notice: Notice
) -> SplitCorpus:
    """Split a table of examples; raises ``CorpusError`` if it has too few."""
    made = split_examples(examples, specification, settings)
    sizes = (len(made.train), len(made.validation), len(made.test))
    notice(f"{name} is split into {sizes[0]:,} training, {sizes[1]:,} validation and {sizes[2]:,} test sentences")
    if made.without_sentences:
        drawn, missing = ", ".join(made.drawn_from), ", ".join(made.without_sentences)
        notice(
            f"Test and validation are drawn from {drawn}: no sentence about {missing} can be rewritten for every group"
        )
    return SplitCorpus(name, made.train, made.validation, specification, settings, split=made)


def corpus_lesson(
    method: Method, corpus: SplitCorpus, specification: Specification, groups: tuple[str, ...], tokenizer: Any
) -> Lesson:
    """The lesson of a method: its texts of the training part, and validation sentences about training groups.

    Raises ``MitigationError`` if the corpus has no sentence that the method can use.
    """

    def task(settings: TrainingSettings) -> Task:
        return Task(specification, groups, settings.weight, settings.lm_weight)

    texts = method.training_texts(corpus.train, task(TrainingSettings()))
    validation = corpus.validation.filter(pc.is_in(corpus.validation["group"], value_set=pa.array(groups)))
    if not validation.num_rows:
        raise MitigationError(f"the validation part of {corpus.name} has no sentence about {', '.join(groups)}")
    by_group = pa.table({"group": validation["group"], "text": validation["sentence"]})
    return Lesson(
        method,
        corpus.name,
        texts,
        by_group.select(["text"]),
        by_group,
        lambda settings: method.auxiliary_loss(task(settings), tokenizer),
        sign_specification(specification, groups),
        counts_of(texts),
    )


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
