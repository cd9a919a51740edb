"""Split examples into training, validation and test, where the last two have every sentence for every group."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.corpus.swapping import Swapped, swap_for_all_groups
from holisticbias_eval.corpus.usable import Row, usable_examples
from holisticbias_eval.errors import CorpusError

COLUMNS = ("dimension", "sentence_id", "group", "original_group", "target", "attribute", "attribute_set", "sentence")
SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])
SHARE = 0.15
"""Share of the smallest group's sentences for the test, and for the validation, if no number is given."""


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """How many sentences of each group go to test and validation (null: 15% of the smallest group's), and the seed.

    ``apart`` leaves sentences out of the training that differ from a test or validation sentence in the group alone.
    """

    test: int | None = None
    validation: int | None = None
    seed: int = 0
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """The three parts, with ``COLUMNS``, and the counts of ``split.json``.

    ``groups`` has for each group of the specification the numbers of its rows in each part, ``originals`` the numbers
    of sentences of people in each part by their own group, ``left_out`` the examples that are in none by reason,
    ``kept_from_test`` the training sentences that cannot be rewritten for every group by reason.
    """

    train: pa.Table
    validation: pa.Table
    test: pa.Table
    labelled: bool
    originals: Mapping[str, Mapping[str, int]]
    groups: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, int]
    kept_from_test: Mapping[str, int]
    repeated_forms: int
    shared_forms: int


@dataclass(frozen=True, slots=True)
class _Sentence:
    """An example, and its versions for all groups; without versions it cannot be tested, and ``reason`` says why.

    ``form`` is equal for sentences that differ in the group alone: the version for the first group.
    """

    row: Row
    form: str
    versions: Mapping[str, Swapped] | None = None
    reason: str | None = None


def split_examples(examples: pa.Table, specification: Specification, settings: SplitSettings) -> Split:
    """Split the biased examples of a specification; examples without any labels all count as biased.

    Test and validation draw equal numbers of sentences from each group that is not held out, at random, and have each
    sentence once for every group, held-out groups too, with the terms of its mentions swapped by slot. A sentence whose
    form, the text without its group, is drawn already is drawn only if the group has no other. The rest is training, as
    it is; sentences that mention held-out groups are left out. The draw depends on the seed and the texts, and not on
    their order. Source: Zhao et al. 2024, section 2 and table 8. Raises ``CorpusError``.
    """
    rows, left_out, labelled = usable_examples(examples, specification)
    trained = [group.name for group in specification.groups if not group.held_out]
    if len(trained) < 2:
        raise CorpusError(f"{specification.id} has fewer than two groups that are not held out")
    sentences = [_rewritten(row, specification) for row in rows]
    drawn, repeated_forms = _draw(sentences, trained, settings, specification.id)
    used = {sentence.row["id"] for part in drawn for sentence in part}
    forms = {sentence.form for part in drawn for sentence in part}
    rest = [sentence for sentence in sentences if sentence.row["id"] not in used]
    shared = [sentence for sentence in rest if sentence.form in forms]
    if settings.apart:
        left_out["same form as a test or validation sentence"] = len(shared)
        rest = [sentence for sentence in rest if sentence.form not in forms]
    test, validation = (_versions(part, specification) for part in drawn)
    train = pa.Table.from_pylist([_as_it_is(sentence.row, specification) for sentence in rest], SCHEMA)
    parts = {"train": train, "validation": validation, "test": test}
    return Split(
        train=train,
        validation=validation,
        test=test,
        labelled=labelled,
        originals={name: _originals(table) for name, table in parts.items()},
        groups={
            group.name: {name: table["group"].to_pylist().count(group.name) for name, table in parts.items()}
            for group in specification.groups
        },
        left_out={reason: count for reason, count in left_out.items() if count},
        kept_from_test=dict(Counter(sentence.reason for sentence in rest if sentence.reason)),
        repeated_forms=repeated_forms,
        shared_forms=0 if settings.apart else len(shared),
    )


def _rewritten(row: Row, specification: Specification) -> _Sentence:
    """The sentence with its versions, or the reason why it has none."""
    text = row["text"] or ""
    found = swap_for_all_groups(text, specification)
    versions = {group: version for group, version in found.items() if version is not None}
    if len(versions) == len(found):
        return _Sentence(row, next(iter(versions.values())).text.casefold(), versions)
    without = next(group for group in found if group not in versions)
    mentions = any(True for _ in target_finder(specification).find(text))
    return _Sentence(row, text.casefold(), None, f"no version for {without}" if mentions else "no term of a group")


def _draw(
    sentences: Iterable[_Sentence], groups: Sequence[str], settings: SplitSettings, name: str
) -> tuple[tuple[list[_Sentence], list[_Sentence]], int]:
    """The sentences of test and validation, and how many have the form of another: the groups take turns."""
    waiting = {
        group: sorted(
            (one for one in sentences if one.versions and one.row["group"] == group),
            key=lambda one: _order(settings.seed, one.row["text"] or ""),
        )
        for group in groups
    }
    sizes = _sizes({group: len(found) for group, found in waiting.items()}, settings, name)
    parts: tuple[list[_Sentence], list[_Sentence]] = ([], [])
    forms: set[str] = set()
    repeated = 0
    for part, size in zip(parts, sizes, strict=True):
        for _ in range(size):
            for own in waiting.values():
                place = next((i for i, one in enumerate(own) if one.form not in forms), 0)
                repeated += own[place].form in forms
                forms.add(own[place].form)
                part.append(own.pop(place))
    return parts, repeated


def _sizes(found: Mapping[str, int], settings: SplitSettings, name: str) -> tuple[int, int]:
    """The numbers of a group's sentences in test and validation."""
    default = max(1, math.floor(SHARE * min(found.values())))
    test = default if settings.test is None else settings.test
    validation = default if settings.validation is None else settings.validation
    if min(found.values()) < test + validation:
        counts = ", ".join(f"{group} {count:,}" for group, count in found.items())
        raise CorpusError(
            f"{name}: the test needs {test:,} and the validation {validation:,} sentences of each group that can be "
            f"rewritten for every group; there are {counts}: give smaller numbers, or more examples"
        )
    return test, validation


def _order(seed: int, text: str) -> bytes:
    return hashlib.sha256(json.dumps([seed, text]).encode()).digest()


def _versions(sentences: Iterable[_Sentence], specification: Specification) -> pa.Table:
    rows = [
        _row(sentence.row, specification, group, version.target, version.text)
        for sentence in sentences
        for group, version in (sentence.versions or {}).items()
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _as_it_is(row: Row, specification: Specification) -> Row:
    target = row["target"] or next(
        (mention.of.term for mention in target_finder(specification).find(row["text"] or "")), None
    )
    return _row(row, specification, row["group"], target, row["text"])


def _row(row: Row, specification: Specification, group: str | None, target: str | None, text: str | None) -> Row:
    return {
        "dimension": specification.id,
        "sentence_id": row["id"],
        "group": group,
        "original_group": row["group"],
        "target": target,
        "attribute": row["attribute"],
        "attribute_set": row["attribute_set"],
        "sentence": text,
    }


def _originals(part: pa.Table) -> Mapping[str, int]:
    """The number of sentences of a part by the group that they were written about."""
    own = dict(_pairs(part))
    return dict(sorted(Counter(own.values()).items()))


def _pairs(part: pa.Table) -> Iterator[tuple[str, str]]:
    yield from zip(part["sentence_id"].to_pylist(), part["original_group"].to_pylist(), strict=True)
