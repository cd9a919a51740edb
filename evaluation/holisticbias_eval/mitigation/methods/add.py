"""Attribute Distance Debiasing: the groups' terms become equally similar to negative attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import attribute_finder
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.corpus_texts import corpus_sentences, training_table
from holisticbias_eval.mitigation.method import AuxiliaryLoss, Method, MethodInfo, Task, TokenBatch
from holisticbias_eval.mitigation.term_tokens import encode

if TYPE_CHECKING:
    import torch

_BEFORE, _AFTER = "the ", " are"
"""A term's tokens are those that it has between other words."""


class Add(Method):
    """Train on the corpus, with a loss on unequal cosines of the groups' terms to the negative attributes of a text."""

    info = MethodInfo(
        "add",
        "Attribute Distance Debiasing (ADD)",
        "Add a loss that makes the embeddings of the groups' terms equally similar to those of negative attributes.",
        "Zhao et al. 2024, section 4.1",
    )

    def training_texts(self, examples: pa.Table, task: Task) -> pa.Table:
        """The sentences of the corpus; raises ``MitigationError`` if none has a negative attribute."""
        sentences = corpus_sentences(examples, task)
        negative = _negative_sets(task.specification)
        finder = attribute_finder(task.specification)
        found = sum(any(m.of.attribute_set in negative for m in finder.find(text)) for text in sentences)
        if not found:
            raise MitigationError(
                f"no sentence of the corpus has a negative attribute of {task.specification.id}, which add needs"
            )
        left_out = len(examples) - len(sentences)
        return training_table(sentences, corpus=len(sentences), left_out=left_out, with_attribute=found)

    def auxiliary_loss(self, task: Task, tokenizer: Any) -> AddLoss:
        """The mean difference of the groups' cosines to the negative attributes of a batch."""
        return AddLoss(task, tokenizer)


class AddLoss(AuxiliaryLoss):
    """The loss of ADD over the negative attributes in a batch, on the model's input embeddings.

    The vector of a term is the mean of the embeddings of its tokens. ``compared`` counts attributes, ``skipped`` the
    mentions of attributes that were cut off with the end of their text.
    """

    def __init__(self, task: Task, tokenizer: Any) -> None:
        self._specification = task.specification
        self._negative = _negative_sets(task.specification)
        self._tokenizer = tokenizer
        self._targets = _target_tokens(task, tokenizer)
        self.compared = 0
        self.skipped: Counter[str] = Counter()

    def prepare(self, batch: TokenBatch) -> Mapping[str, torch.Tensor]:
        """The tokens of the attributes in the batch, where they stand, and those of every group's terms.

        ``attributes``, shape ``[attributes, tokens]``; ``targets``, shape ``[groups, slots, tokens]``; -1 is padding.
        """
        found = list[list[int]]()
        for i, text in enumerate(batch.texts):
            places = list(zip(batch.input_ids[i].tolist(), batch.offsets[i].tolist(), strict=True))
            for mention in attribute_finder(self._specification).find(text):
                if mention.of.attribute_set not in self._negative:
                    continue
                tokens = [token for token, (start, stop) in places if start < mention.stop and stop > mention.start]
                whole = any(stop >= mention.stop for _, (_, stop) in places)
                if whole and tokens:
                    found.append(tokens)
                else:
                    self.skipped["cut off with the end of its text"] += 1
        self.compared += len(found)
        return {"attributes": _padded(found), "targets": self._targets}

    def loss(self, model: Any, logits: torch.Tensor, prepared: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The mean difference of cosines; see ``objectives.add``."""
        from holisticbias_eval.mitigation.objectives.add import add_loss

        attributes, targets = (prepared[key].to(logits.device) for key in ("attributes", "targets"))
        if not len(attributes):
            return logits[:0].sum()
        embeddings = model.get_input_embeddings()
        return add_loss(_mean(embeddings, targets), (targets >= 0).any(-1), _mean(embeddings, attributes))


def _mean(embeddings: Any, tokens: torch.Tensor) -> torch.Tensor:
    """The mean embedding of tokens over the last axis, in float32 at least; 0 if there is no token."""
    import torch

    vectors = embeddings(tokens.clamp(min=0))
    vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
    real = (tokens >= 0)[..., None]
    mean: torch.Tensor = (vectors * real).sum(-2) / real.sum(-2).clamp(min=1)
    return mean


def _negative_sets(specification: Specification) -> frozenset[str]:
    negative = frozenset(chosen.name for chosen in specification.attributes if chosen.valence == "negative")
    if not negative:
        raise MitigationError(
            f"{specification.id}: add needs negative attributes: state valence: negative for a set of attributes"
        )
    return negative


def _target_tokens(task: Task, tokenizer: Any) -> torch.Tensor:
    """The tokens of the terms, shape ``[groups, slots, tokens]``, for slots with terms of two groups or more."""
    chosen = [i for i, group in enumerate(task.specification.groups) if group.name in task.groups]
    slots = [[slot.terms[i] for i in chosen] for slot in task.specification.slots]
    slots = [terms for terms in slots if len([term for term in terms if term]) > 1]
    if not slots:
        raise MitigationError(f"{task.specification.id}: no slot has terms of two groups that take part")
    terms = [slot[i] or "" for i in range(len(chosen)) for slot in slots]
    encoded = encode(tokenizer, [f"{_BEFORE}{term}{_AFTER}" for term in terms])
    places = [(len(_BEFORE), len(_BEFORE) + len(term)) for term in terms]
    tokens = [text.at(*place) if term else [] for text, term, place in zip(encoded, terms, places, strict=True)]
    return _padded(tokens).view(len(chosen), len(slots), -1)


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    import torch

    longest = max(map(len, rows), default=0)
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows], dtype=torch.long)
