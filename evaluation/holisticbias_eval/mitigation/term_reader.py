"""Find the terms that each group could have in the places of mentions, as tokens of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.mitigation.alternatives import Alternative, alternatives
from holisticbias_eval.mitigation.method import Task, TokenBatch
from holisticbias_eval.mitigation.term_readings import TermReadings
from holisticbias_eval.mitigation.term_tokens import TextTokens, align, encode

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

    def __init__(self, task: Task, tokenizer: Any) -> None:
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
