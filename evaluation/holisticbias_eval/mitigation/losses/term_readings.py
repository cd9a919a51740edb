"""Index tensors that say which tokens of which texts make up the terms of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class _Token:
    """A token to read: the row and position of the logits that predict it, its id, and the term that it is part of."""

    row: int
    position: int
    token: int
    mention: int
    term: int


@dataclass(frozen=True, slots=True)
class _Further:
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
            self._batch += [
                _Token(row, positions[first + j - 1], token, mention, i) for j, token in enumerate(term[:in_batch])
            ]
            if rest := [_Token(0, first + j, token, mention, i) for j, token in enumerate(term[in_batch:])]:
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

        most = max(self._terms, default=0)
        further = sorted(self._further, key=lambda text: len(text.ids))
        longest = {text.row: text for text in sorted(further, key=lambda text: text.before)}
        places = {row: i for i, row in enumerate(longest)}
        rest = [replace(token, row=i) for i, text in enumerate(further) for token in text.tokens]
        return {
            "present": torch.arange(most)[None] < torch.tensor(self._terms, dtype=torch.long)[:, None],
            **_texts([text.ids for text in further], padding, "extra_"),
            **_texts([text.ids[: text.before] for text in longest.values()], padding, "prefix_"),
            "extra_before": torch.tensor([text.before for text in further], dtype=torch.long),
            "extra_prefix": torch.tensor([places[text.row] for text in further], dtype=torch.long),
            **_columns(self._batch, most, ""),
            **_columns(rest, most, "extra_"),
        }


def _texts(rows: Sequence[Sequence[int]], padding: int, prefix: str) -> dict[str, torch.Tensor]:
    import torch

    width = max(map(len, rows), default=0)
    padded = [[*ids, *[padding] * (width - len(ids))] for ids in rows]
    real = [[1] * len(ids) + [0] * (width - len(ids)) for ids in rows]
    return {
        f"{prefix}ids": torch.tensor(padded, dtype=torch.long),
        f"{prefix}mask": torch.tensor(real, dtype=torch.long),
    }


def _columns(tokens: Sequence[_Token], most: int, prefix: str) -> dict[str, torch.Tensor]:
    import torch

    columns = {
        "row": [token.row for token in tokens],
        "position": [token.position for token in tokens],
        "token": [token.token for token in tokens],
        "cell": [token.mention * most + token.term for token in tokens],
    }
    return {f"{prefix}{name}": torch.tensor(values, dtype=torch.long) for name, values in columns.items()}
