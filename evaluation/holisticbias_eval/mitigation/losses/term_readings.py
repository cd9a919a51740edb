"""Index tensors that say which tokens of which texts make up the terms of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class _Token(NamedTuple):
    """A token to read: the row and position of the logits that predict it, its id, and the term that it is part of."""

    row: int
    position: int
    token: int
    mention: int
    term: int


class _Further(NamedTuple):
    """A text to read: a row's first ``before`` tokens and a term, and the tokens to score in it."""

    row: int
    before: int
    ids: Sequence[int]
    tokens: Sequence[_Token]


@dataclass(slots=True)
class TermReadings:
    """The tokens of the terms in the places of mentions: in the batch, or in further texts that the model must read."""

    _terms: list[int] = field(default_factory=list)
    _batch: list[_Token] = field(default_factory=list)
    _further: list[_Further] = field(default_factory=list)

    def add(
        self,
        row: int,
        ids: Sequence[int],
        positions: Sequence[int],
        first: int,
        terms: Sequence[Sequence[int]],
        own: int | None,
    ) -> None:
        """Add a mention: its ``terms`` stand after the ``first`` tokens of a row, whose own term is at index ``own``.

        ``own`` is null if the row has another word there. The first token of each term, and every token of the row's
        own, is read from the batch. For the other tokens the model must read the row's first tokens and the term.
        """
        mention = len(self._terms)
        self._terms.append(len(terms))
        for i, term in enumerate(terms):
            in_batch = len(term) if i == own else 1
            for j, token in enumerate(term[:in_batch]):
                self._batch.append(_Token(row, positions[first + j - 1], token, mention, i))
            rest = [_Token(0, first + j, token, mention, i) for j, token in enumerate(term[in_batch:])]
            if rest:
                self._further.append(_Further(row, first, [*ids[:first], *term[:-1]], rest))

    def tensors(self, padding: int) -> Mapping[str, torch.Tensor]:
        """The readings as tensors.

        ``present``, shape ``[mentions, terms]``: whether there is such a term. ``row``, ``position``, ``token`` and
        ``cell``, each of shape ``[tokens]``: tokens to read from the batch's logits; ``cell`` is an index of
        ``present``, flattened. ``extra_ids`` and ``extra_mask``, shape ``[texts, length]``: further texts, shortest
        first and padded at the end, with ``extra_row``, ``extra_position``, ``extra_token`` and ``extra_cell``. The
        first ``extra_before`` tokens of a further text are those of row ``extra_prefix`` of ``prefix_ids`` and
        ``prefix_mask``, shape ``[prefixes, length]``.
        """
        import torch

        def whole(values: Sequence[int]) -> torch.Tensor:
            return torch.tensor(values, dtype=torch.long)

        most = max(self._terms, default=0)
        further = sorted(self._further, key=lambda text: len(text.ids))
        longest = {text.row: text for text in sorted(further, key=lambda text: text.before)}
        places = {row: i for i, row in enumerate(longest)}
        tensors = {
            "present": torch.arange(most)[None] < whole(self._terms)[:, None],
            "extra_before": whole([text.before for text in further]),
            "extra_prefix": whole([places[text.row] for text in further]),
        }
        rest = [token._replace(row=i) for i, text in enumerate(further) for token in text.tokens]
        for prefix, tokens in (("", self._batch), ("extra_", rest)):
            for name in ("row", "position", "token"):
                tensors[prefix + name] = whole([getattr(token, name) for token in tokens])
            tensors[f"{prefix}cell"] = whole([token.mention * most + token.term for token in tokens])
        before = [text.ids[: text.before] for text in longest.values()]
        for prefix, rows in (("extra_", [text.ids for text in further]), ("prefix_", before)):
            width = max(map(len, rows), default=0)
            padded = [[*ids, *[padding] * (width - len(ids))] for ids in rows]
            tensors[f"{prefix}ids"] = torch.tensor(padded, dtype=torch.long)
            tensors[f"{prefix}mask"] = (torch.arange(width)[None] < whole(list(map(len, rows)))[:, None]).long()
        return tensors
