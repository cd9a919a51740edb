"""Find the terms that each group could have in the places of mentions, as tokens of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import Mention, TargetTerm, target_finder
from holisticbias_eval.corpus.swapping import counterpart
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.losses.term_readings import TermReadings
from holisticbias_eval.mitigation.method import GroupTask, TokenBatch
from holisticbias_eval.stereotypes.agreement import in_case, with_article

if TYPE_CHECKING:
    import torch

CUT = "cut off with the end of its text"
"""The reason of a mention for which a batch has no tokens."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A text of a batch: its token ids, and their positions in the padded batch."""

    index: int
    ids: Sequence[int]
    positions: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Choice:
    """The texts with each group's term in the place of one mention, and the place that the mention has in its text."""

    row: int
    offered: Sequence[Alternative]
    written: Alternative


class TermReader:
    """Finds the mentions of a task's groups in batches, and the tokens of each group's term in their places.

    ``compared`` counts the mentions that could be compared, ``skipped`` the others by reason.
    """

    def __init__(self, task: GroupTask, tokenizer: Any) -> None:
        self._task = task
        self._tokenizer = tokenizer
        self._special = frozenset(tokenizer.all_special_ids)
        self.compared = 0
        self.skipped: Counter[str] = Counter()

    def prepare(self, batch: TokenBatch) -> Mapping[str, torch.Tensor]:
        """The index tensors that ``term_log_probabilities`` needs; see ``TermReadings.tensors``."""
        choices = [choice for row, text in enumerate(batch.texts) for choice in self._choices(row, text)]
        texts = [one.text for choice in choices for one in (choice.written, *choice.offered)]
        encoded = iter(encode(self._tokenizer, texts))
        rows = [_row(i, *each) for i, each in enumerate(zip(batch.input_ids, batch.attention_mask, strict=True))]
        readings = TermReadings()
        for choice in choices:
            written, offered = next(encoded), [next(encoded) for _ in choice.offered]
            reason = self._read(choice, written, offered, rows[choice.row], readings)
            if reason:
                self.skipped[reason] += 1
            else:
                self.compared += 1
        return readings.tensors(self._tokenizer.pad_token_id or 0)

    def _choices(self, row: int, text: str) -> Iterator[_Choice]:
        groups = self._task.groups
        for mention in target_finder(self._task.specification).find(text):
            if mention.of.group not in groups:
                self.skipped["of a group that takes no part"] += 1
                continue
            offered = alternatives(text, mention, self._task.specification, groups)
            if len(offered) < 2:
                self.skipped["no other group has a term that fits its place"] += 1
                continue
            yield _Choice(row, offered, Alternative(mention.of.group, text, mention.start, mention.stop))

    def _read(
        self, choice: _Choice, written: TextTokens, offered: list[TextTokens], row: _Row, readings: TermReadings
    ) -> str | None:
        """Add the tokens of a mention's alternatives, or return the reason for which it cannot be compared."""
        places = [(one.start, one.stop) for one in (choice.written, *choice.offered)]
        aligned = align([written, *offered], places)
        own, terms = aligned.terms[0], aligned.terms[1:]
        lead = _lead(row.ids, written.ids, self._special)
        if lead is None:
            return "its text has other tokens in the batch"
        first = lead + aligned.head
        if first == 0:
            return "no token before the term"
        if first + len(own) > len(row.ids):
            return CUT
        if first + max(map(len, terms)) - 1 > self._tokenizer.model_max_length:
            return "another term is too long for the model's window"
        if any(self._tokenizer.unk_token_id in term for term in terms):
            return "a term is unknown to the tokenizer"
        readings.add(row.index, row.ids, row.positions, first, terms, terms.index(own) if own in terms else None)
        return None


def _row(index: int, ids: torch.Tensor, mask: torch.Tensor) -> _Row:
    positions = mask.nonzero()[:, 0].tolist()
    return _Row(index, ids[mask > 0].tolist(), positions)


def _lead(ids: Sequence[int], text: Sequence[int], special: Collection[int]) -> int | None:
    """The number of special tokens before a text's tokens in a row; null if the row has other tokens."""
    for lead, before in enumerate([None, *ids]):
        if before is not None and before not in special:
            return None
        shared = min(len(text), len(ids) - lead)
        if shared and list(ids[lead : lead + shared]) == list(text[:shared]):
            return lead
    return None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A text with a term of ``group`` in the place of a mention, at the characters ``start`` to ``stop``."""

    group: str
    text: str
    start: int
    stop: int


def alternatives(
    text: str, mention: Mention[TargetTerm], specification: Specification, groups: Collection[str]
) -> list[Alternative]:
    """The text with the term of each of ``groups`` in the place of a mention, in the order of the specification.

    Terms are chosen as in rewriting, see ``counterpart``: adjectives beside adjectives, plurals beside
    plurals. A term of the mention's own group is unchanged; a word form becomes its term. "a" and "an" follow the
    term, and its capitals are those of the mention. Groups without a term are left out, and so is a term whose article
    is not known.
    """
    terms = {name: counterpart(text, mention, specification, name) for name in groups}
    return [
        made
        for group in specification.groups
        if (term := terms.get(group.name)) is not None
        and (made := _replaced(text, mention, group.name, term)) is not None
    ]


def _replaced(text: str, mention: Mention[TargetTerm], group: str, term: str) -> Alternative | None:
    if term == mention.of.term:
        return Alternative(group, text, mention.start, mention.stop)
    found = text[mention.start : mention.stop]
    other = in_case(found, mention.of.term, term, text[: mention.start])
    if text == text.lower():
        other = other.lower()
    before = with_article(text[: mention.start], term, in_capitals=len(other) > 1 and other.isupper())
    if before.unknown:
        return None
    start = len(before.before)
    return Alternative(group, before.before + other + text[mention.stop :], start, start + len(other))


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The tokens of a text without special tokens, and the characters of each."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]

    def at(self, start: int, stop: int) -> list[int]:
        """The ids of the tokens that share a character with a place in the text."""
        return [i for i, (begin, end) in zip(self.ids, self.offsets, strict=True) if begin < stop and end > start]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The tokens in which texts differ: after ``head`` equal tokens, those of each text's term."""

    head: int
    terms: tuple[tuple[int, ...], ...]


def encode(tokenizer: Any, texts: Sequence[str]) -> list[TextTokens]:
    """Encode texts; raises ``MitigationError`` if the tokenizer does not say where its tokens stand."""
    if not getattr(tokenizer, "is_fast", False):
        raise MitigationError("the tokenizer gives no character offsets: use a model with a fast tokenizer")
    if not texts:
        return []
    encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return [TextTokens(*each) for each in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]


def align(texts: Sequence[TextTokens], places: Sequence[tuple[int, int]]) -> Aligned:
    """The tokens of the terms at ``places`` of texts that are equal elsewhere, except for an article before the term.

    The tokens before the term that all texts share are the head; those after it that all share are left out. What is
    between is the term of each text: it has the same characters around the term in every text, whatever the tokenizer
    joins to a term on either side, and it includes the article if that differs.
    """
    before = min(_count(end <= start for _, end in text.offsets) for text, (start, _) in _zip(texts, places))
    after = min(_count(begin >= stop for begin, _ in text.offsets[::-1]) for text, (_, stop) in _zip(texts, places))
    head = _shared([text.ids[:before] for text in texts])
    tail = _shared([text.ids[::-1][:after] for text in texts])
    return Aligned(head, tuple(tuple(text.ids[head : len(text.ids) - tail]) for text in texts))


def _zip(
    texts: Sequence[TextTokens], places: Sequence[tuple[int, int]]
) -> Iterable[tuple[TextTokens, tuple[int, int]]]:
    return zip(texts, places, strict=True)


def _count(true_at_first: Iterable[bool]) -> int:
    return sum(1 for _ in takewhile(bool, true_at_first))


def _shared(sequences: Sequence[Sequence[int]]) -> int:
    """The number of items at the beginning that all sequences share."""
    return _count(len(set(items)) == 1 for items in zip(*sequences, strict=False))
