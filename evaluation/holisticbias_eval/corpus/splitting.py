"""Split examples into training, validation and test, where the last two have every sentence for every group."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.documents import digest_of
from holisticbias_eval.corpus.examples import LABEL, STATE
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.swapping import Swapped, swap_for_all_groups
from holisticbias_eval.errors import CorpusError, SelectionError

Row = Mapping[str, str | None]
_UNLABELLED = {"disagreed": "annotators disagree", "incomplete": "too few labels"}
COLUMNS = ("dimension", "sentence_id", "group", "original_group", "target", "attribute", "attribute_set", "sentence")
SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])
SHARE = 0.15
"""Share of the smallest group's sentences for the test, and for the validation, if no number is given."""


@dataclass(frozen=True, slots=True)
class Split:
    """The three parts, with ``COLUMNS``, and the counts of ``split.json``.

    ``groups`` has for each group of the specification the numbers of its rows in each part, ``originals`` the numbers
    of sentences of people in each part by their own group, ``left_out`` the examples that are in none by reason,
    ``kept_from_test`` the training sentences that cannot be rewritten for every group by reason. ``drawn_from`` are the
    groups whose sentences test and validation have, ``without_sentences`` groups for which none can be rewritten.
    """

    train: pa.Table
    validation: pa.Table
    test: pa.Table
    labelled: bool
    originals: Mapping[str, Mapping[str, int]]
    groups: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, int]
    kept_from_test: Mapping[str, int]
    drawn_from: Sequence[str]
    without_sentences: Sequence[str]
    repeated_forms: int
    shared_forms: int

    @property
    def missing_groups(self) -> str:
        """Says from which groups test and validation are drawn, if not from all; empty otherwise."""
        if not self.without_sentences:
            return ""
        drawn, missing = ", ".join(self.drawn_from), ", ".join(self.without_sentences)
        return (
            f"Test and validation are drawn from {drawn}: no sentence about {missing} can be rewritten for every group"
        )


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

    Test and validation draw equal numbers of sentences from each group that is not held out and has sentences that can
    be rewritten for every group, at random, and have each sentence once for every group, held-out groups too, with the
    terms of its mentions swapped by slot; a sentence about several groups is in neither. A sentence whose
    form, the text without its group, is drawn already is drawn only if the group has no other. The rest is training, as
    it is; sentences that mention held-out groups are left out. The draw depends on the seed and the texts, and not on
    their order. Source: Zhao et al. 2024, section 2 and table 8. Raises ``CorpusError``.
    """
    usable, left_out, labelled = usable_examples(examples, specification)
    trained = [group.name for group in specification.groups if not group.held_out]
    if len(trained) < 2:
        raise CorpusError(f"{specification.id} has fewer than two groups that are not held out")
    sentences = [_rewritten(row, specification) for row in usable]
    waiting = _waiting(sentences, trained, settings.seed)
    if not any(waiting.values()):
        why = _in_words(_reasons(sentences))
        raise SelectionError(
            f"no example can be rewritten for every group of {specification.id} ({why}): none to test on"
        )
    drawn_from = _drawn_from(waiting, settings, specification.id)
    drawn, repeated_forms = _draw({group: [*waiting[group]] for group in drawn_from}, settings, specification.id)
    used = {sentence.row["id"] for part in drawn for sentence in part}
    forms = {sentence.form for part in drawn for sentence in part}
    rest = [sentence for sentence in sentences if sentence.row["id"] not in used]
    shared = [sentence for sentence in rest if sentence.form in forms]
    if settings.apart:
        left_out["same form as a test or validation sentence"] = len(shared)
        rest = [sentence for sentence in rest if sentence.form not in forms]
    test, validation = ([row for sentence in part for row in _versions(sentence)] for part in drawn)
    train = [_as_it_is(sentence.row, specification) for sentence in rest]
    rows = {"train": train, "validation": validation, "test": test}
    common = {"dimension": specification.id}
    parts = {name: pa.Table.from_pylist([{**common, **row} for row in part], SCHEMA) for name, part in rows.items()}
    return Split(
        **parts,
        labelled=labelled,
        originals={name: _originals(table) for name, table in parts.items()},
        groups={
            group.name: {name: table["group"].to_pylist().count(group.name) for name, table in parts.items()}
            for group in specification.groups
        },
        left_out={reason: count for reason, count in left_out.items() if count},
        kept_from_test=dict(_reasons(rest)),
        drawn_from=drawn_from,
        without_sentences=[group for group, found in waiting.items() if not found],
        repeated_forms=repeated_forms,
        shared_forms=0 if settings.apart else len(shared),
    )


def _rewritten(row: Row, specification: Specification) -> _Sentence:
    """The sentence with its versions, or the reason why it has none."""
    text = row["text"] or ""
    found = swap_for_all_groups(text, specification)
    refused = {group: version for group, version in found.items() if isinstance(version, str)}
    versions = {group: version for group, version in found.items() if not isinstance(version, str)}
    if not refused:
        return _Sentence(row, _folded(next(iter(versions.values())).text), versions)
    group, reason = next(iter(refused.items()))
    whole = len(set(refused.values())) == 1 and len(refused) == len(found)
    return _Sentence(row, _folded(text), None, reason if whole else f"no version for {group}: {reason}")


def _folded(text: str) -> str:
    """A text without case and with one blank between words: texts that are equal then are the same sentence."""
    return " ".join(text.casefold().split())


def _reasons(sentences: Iterable[_Sentence]) -> Counter[str]:
    """The number of sentences that cannot be rewritten for every group, by reason."""
    return Counter(sentence.reason for sentence in sentences if sentence.reason)


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{reason}: {count:,}" for reason, count in counts.most_common())


def _waiting(sentences: Iterable[_Sentence], groups: Sequence[str], seed: int) -> Mapping[str, list[_Sentence]]:
    """The sentences of each group that can be rewritten for every group, in random order."""
    found: dict[str, list[_Sentence]] = {group: [] for group in groups}
    for one in sentences:
        if one.versions and one.row["group"] in found:
            found[one.row["group"]].append(one)
    return {group: sorted(own, key=lambda one: digest_of(seed, one.row["text"] or "")) for group, own in found.items()}


def _drawn_from(waiting: Mapping[str, Sequence[_Sentence]], settings: SplitSettings, name: str) -> Sequence[str]:
    """The groups to draw from; raises ``CorpusError`` for a named group that is unknown or held out."""
    unknown = next((group for group in settings.drawn_from if group not in waiting), None)
    if unknown is not None:
        raise CorpusError(
            f"{name}: test and validation cannot be drawn from {unknown[:80]!r}: name groups of {', '.join(waiting)}"
        )
    chosen = settings.drawn_from or [group for group, found in waiting.items() if found]
    return [group for group in waiting if group in chosen]


def _draw(
    waiting: Mapping[str, list[_Sentence]], settings: SplitSettings, name: str
) -> tuple[tuple[list[_Sentence], list[_Sentence]], int]:
    """The sentences of test and validation, taken out of ``waiting``, and how many have the form of another.

    The groups take turns.
    """
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
            f"rewritten for every group; there are {counts}: give smaller numbers, more examples, or other groups with "
            "--draw-from"
        )
    return test, validation


def _versions(sentence: _Sentence) -> Iterator[Row]:
    """The rows of a sentence, one for each group."""
    for group, version in (sentence.versions or {}).items():
        yield _row(sentence.row, group, version.target, version.text)


def _as_it_is(row: Row, specification: Specification) -> Row:
    text = row["text"] or ""
    target = row["target"] or next((mention.of.term for mention in target_finder(specification).find(text)), None)
    return _row(row, row["group"], target, row["text"])


def _row(row: Row, group: str | None, target: str | None, text: str | None) -> Row:
    kept = {name: row[name] for name in ("attribute", "attribute_set")}
    own = {"sentence_id": row["id"], "original_group": row["group"]}
    return {**own, "group": group, "target": target, **kept, "sentence": text}


def _originals(part: pa.Table) -> Mapping[str, int]:
    """The number of sentences of a part by the group that they were written about."""
    groups = dict(zip(part["sentence_id"].to_pylist(), part["original_group"].to_pylist(), strict=True))
    return dict(sorted(Counter(groups.values()).items()))


def usable_examples(examples: pa.Table, specification: Specification) -> tuple[list[Row], Counter[str], bool]:
    """The biased examples of groups that are not held out, once each; how many are left out, and why; if labelled.

    Without any label all examples count as biased. Raises ``CorpusError`` if none is left.
    """
    held_out = {group.name: group.held_out for group in specification.groups}
    labelled = _is_labelled(examples)
    left_out: Counter[str] = Counter()
    kept: dict[str, Row] = {}
    for row in examples.to_pylist():
        reason = _refusal(row, specification, held_out, labelled=labelled)
        key = _folded(row["text"])
        if reason is None and key in kept:
            reason = "repeated text"
        if reason is None:
            kept[key] = row
        else:
            left_out[reason] += 1
    if not kept:
        why = _in_words(left_out) or "the table is empty"
        raise SelectionError(
            f"no example of {specification.id} can be used ({why}): give biased examples of groups that are trained on"
        )
    return list(kept.values()), left_out, labelled


def _is_labelled(examples: pa.Table) -> bool:
    names = examples.column_names
    return LABEL in names and (STATE in names or examples[LABEL].null_count < len(examples))


def _refusal(
    row: Mapping[str, Any], specification: Specification, held_out: Mapping[str, bool], *, labelled: bool
) -> str | None:
    """The reason for leaving out an example, null to keep it."""
    own = {specification.id, specification.published_as, specification.id.rpartition(".")[2]}
    if row["dimension"] not in own:
        return "other dimension"
    if row["group"] not in held_out:
        return "group that the specification does not have"
    if labelled and row[LABEL] is None:
        return _UNLABELLED.get(str(row.get(STATE)), "no agreed label")
    if labelled and row[LABEL] == 0:
        return "not biased"
    if held_out[row["group"]]:
        return "held-out group"
    mentions = target_finder(specification).find(str(row["text"]))
    return "mentions a held-out group" if any(held_out[mention.of.group] for mention in mentions) else None
