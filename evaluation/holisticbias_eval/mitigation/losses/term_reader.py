"""Find the terms that each group could have in the places of mentions, as tokens of a batch."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Tensor
from holisticbias_eval.corpus.mentions import TargetTerm, target_finder
from holisticbias_eval.corpus.swapping import counterpart
from holisticbias_eval.mitigation.method import GroupTask, TokenBatch
from holisticbias_eval.stereotypes.agreement import place_term
from holisticbias_eval.stereotypes.targets import Mention

CUT = "cut off with the end of its text"
"""The reason of a mention for which a batch has no tokens."""


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

    def prepare(self, batch: TokenBatch) -> Mapping[str, Tensor]:
        """The index tensors that ``term_log_probabilities`` needs; see ``_TermReadings.tensors``."""
        choices = [(row, texts) for row, text in enumerate(batch.texts) for texts in self._choices(text)]
        encoded = iter(encode(self._tokenizer, [made.text for _, texts in choices for made in texts]))
        readings = _TermReadings()
        for row, texts in choices:
            mask = batch.attention_mask[row]
            ids, positions = batch.input_ids[row][mask > 0].tolist(), mask.nonzero()[:, 0].tolist()
            first, terms, reason = self._terms(ids, texts, [next(encoded) for _ in texts], batch.window)
            if reason:
                self.skipped[reason] += 1
                continue
            own, *offered = terms
            readings.add(row, ids, positions, first, offered, offered.index(own) if own in offered else None)
            self.compared += 1
        return readings.tensors(self._tokenizer.pad_token_id or 0)

    def _choices(self, text: str) -> Iterator[list["Alternative"]]:
        """For each mention to compare: the text itself, then the texts with each group's term in its place."""
        groups = self._task.groups
        for mention in target_finder(self._task.specification).find(text):
            offered = alternatives(text, mention, self._task.specification, groups)
            if mention.of.group not in groups:
                self.skipped["of a group that takes no part"] += 1
            elif len(offered) < 2:
                self.skipped["no other group has a term that fits its place"] += 1
            else:
                yield [Alternative(text, mention.start, mention.stop), *offered]

    def _terms(
        self, ids: Sequence[int], texts: Sequence["Alternative"], tokens: Sequence["TextTokens"], window: int
    ) -> tuple[int, Sequence[tuple[int, ...]], str]:
        """The number of a row's tokens before the term, the terms' tokens, and the reason not to compare them."""
        head, terms = align(tokens, [(made.start, made.stop) for made in texts])
        own, *others = terms
        lead = _lead(ids, tokens[0].ids, self._special)
        first = (lead or 0) + head
        reasons = {
            "its text has other tokens in the batch": lead is None,
            "no token before the term": first == 0,
            CUT: first + len(own) > len(ids),
            "another term is too long for the model's window": first + max(map(len, others)) - 1 > window,
            "a term is unknown to the tokenizer": any(self._tokenizer.unk_token_id in term for term in others),
        }
        return first, terms, next((reason for reason, holds in reasons.items() if holds), "")


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
    """A text with a group's term in the place of a mention, at the characters ``start`` to ``stop``."""

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
    made = []
    for group in (group.name for group in specification.groups if group.name in groups):
        term = counterpart(text, mention, specification, group)
        if term == mention.of.term:
            made.append(Alternative(text, mention.start, mention.stop))
        elif term is not None and (placed := place_term(text, mention, term)) is not None:
            before, new = placed
            whole = before + new + text[mention.stop :]
            made.append(Alternative(whole, len(before), len(before) + len(new)))
    return made


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The tokens of a text without special tokens, and the characters of each."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]

    def at(self, start: int, stop: int) -> list[int]:
        """The ids of the tokens that share a character with a place in the text."""
        return [i for i, (begin, end) in zip(self.ids, self.offsets, strict=True) if begin < stop and end > start]


def encode(tokenizer: Any, texts: Sequence[str]) -> list[TextTokens]:
    """Encode texts with a tokenizer that says where its tokens stand."""
    if not texts:
        return []
    encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return [TextTokens(*each) for each in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]


def align(texts: Sequence[TextTokens], places: Sequence[tuple[int, int]]) -> tuple[int, list[tuple[int, ...]]]:
    """The length of the head, and the tokens of the terms at ``places`` of texts that are equal elsewhere.

    Only an article before the term may differ.

    The tokens before the term that all texts share are the head; those after it that all share are left out. What is
    between is the term of each text: it has the same characters around the term in every text, whatever the tokenizer
    joins to a term on either side, and it includes the article if that differs.
    """
    pairs = list(zip(texts, places, strict=True))
    before = min(_count(end <= start for _, end in text.offsets) for text, (start, _) in pairs)
    after = min(_count(begin >= stop for begin, _ in text.offsets[::-1]) for text, (_, stop) in pairs)
    head = _shared([text.ids[:before] for text in texts])
    tail = _shared([text.ids[::-1][:after] for text in texts])
    return head, [tuple(text.ids[head : len(text.ids) - tail]) for text in texts]


def _count(true_at_first: Iterable[bool]) -> int:
    return sum(1 for _ in takewhile(bool, true_at_first))


def _shared(sequences: Sequence[Sequence[int]]) -> int:
    """The number of items at the beginning that all sequences share."""
    return _count(len(set(items)) == 1 for items in zip(*sequences, strict=False))


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
class _TermReadings:
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

    def tensors(self, padding: int) -> Mapping[str, Tensor]:
        """The readings as tensors.

        ``present``, shape ``[mentions, terms]``: whether there is such a term. ``row``, ``position``, ``token`` and
        ``cell``, each of shape ``[tokens]``: tokens to read from the batch's logits; ``cell`` is an index of
        ``present``, flattened. ``extra_ids`` and ``extra_mask``, shape ``[texts, length]``: further texts, shortest
        first and padded at the end, with ``extra_row``, ``extra_position``, ``extra_token`` and ``extra_cell``. The
        first ``extra_before`` tokens of a further text are those of row ``extra_prefix`` of ``prefix_ids`` and
        ``prefix_mask``, shape ``[prefixes, length]``.
        """
        import torch

        def whole(values: Sequence[int]) -> Tensor:
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
            tensors[f"{prefix}ids"] = padded(rows, padding)
            tensors[f"{prefix}mask"] = padded([[1] * len(row) for row in rows], 0)
        return tensors


def padded(rows: Sequence[Sequence[Any]], filler: Any) -> Tensor:
    """Rows of whole numbers, or of pairs of them, as one tensor; shorter rows are filled at the end."""
    import torch

    longest = max(map(len, rows), default=0)
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], dtype=torch.long)
