"""Attribute Distance Debiasing: the groups' terms become equally similar to negative attributes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Tensor
from holisticbias_eval.corpus.mentions import attribute_finder
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.losses.term_reader import CUT, encode, padded
from holisticbias_eval.mitigation.method import COMPARED, AuxiliaryLoss, GroupTask, LossMethod, MethodInfo, TokenBatch
from holisticbias_eval.mitigation.texts import TrainingTexts, corpus_sentences, corpus_texts

_BEFORE, _AFTER = "the ", " are"
"""A term is tokenized between other words, with a blank before it."""


class Add(LossMethod):
    """Train on the corpus, with a loss on unequal cosines of the groups' terms to the negative attributes of a text."""

    info = MethodInfo(
        "add",
        "Attribute Distance Debiasing (ADD)",
        "Zhao et al. 2024, section 4.1",
    )
    defaults: ClassVar[Mapping[str, Any]] = {"weight": 30.0}

    def training_texts(self, examples: pa.Table, task: GroupTask) -> TrainingTexts:
        """The sentences of the corpus; raises ``MitigationError`` if none has a negative attribute."""
        sentences = corpus_sentences(examples, task)
        negative = _negative_sets(task.specification)
        finder = attribute_finder(task.specification)
        found = sum(any(m.of.attribute_set in negative for m in finder.find(text)) for text in sentences)
        if not found:
            raise MitigationError(
                f"no sentence of the corpus has a negative attribute of {task.specification.id}, which add needs"
            )
        return corpus_texts(examples, sentences, with_attribute=found)

    def auxiliary_loss(self, task: GroupTask, tokenizer: Any) -> "AddLoss":
        """The mean difference of the groups' cosines to the negative attributes of a batch."""
        return AddLoss(task, tokenizer)


class AddLoss(AuxiliaryLoss):
    """The loss of ADD over the negative attributes in a batch, in the space in which the model predicts words.

    The vector of an attribute is the model's last hidden state at its last token, in its text. The vector of a group's
    term is the mean of the output embeddings of its tokens. A logit is the inner product of such vectors, so that equal
    cosines make no group's term likelier after the attribute.
    """

    def __init__(self, task: GroupTask, tokenizer: Any) -> None:
        self._specification = task.specification
        self._negative = _negative_sets(task.specification)
        self._tokenizer = tokenizer
        self._targets = _target_tokens(task, tokenizer)
        self._compared = self._cut = 0

    def prepare(self, batch: TokenBatch) -> Mapping[str, Tensor]:
        """The attributes in the batch, where they stand, and the tokens of every group's terms.

        ``row`` and ``position``, shape ``[attributes]``: of the last token of each in ``input_ids`` and
        ``attention_mask``, which are those of the batch; ``targets``, shape ``[groups, slots, tokens]``, -1 is padding.
        """
        import torch

        found = list[tuple[int, int]]()
        for row, text in enumerate(batch.texts):
            places = batch.offsets[row].tolist()
            for mention in attribute_finder(self._specification).find(text):
                if mention.of.attribute_set in self._negative:
                    last = [i for i, (start, stop) in enumerate(places) if start < mention.stop <= stop][-1:]
                    self._cut += not last
                    found += [(row, i) for i in last]
        self._compared += len(found)
        return {
            "row": torch.tensor([row for row, _ in found], dtype=torch.long),
            "position": torch.tensor([position for _, position in found], dtype=torch.long),
            "input_ids": batch.input_ids,
            "attention_mask": batch.attention_mask,
            "targets": self._targets,
        }

    def loss(self, model: Any, logits: Tensor, prepared: Mapping[str, Tensor]) -> Tensor:
        """The mean difference of cosines; see ``add_loss``."""
        if not len(prepared["row"]):
            return logits[:0].sum()
        targets = prepared["targets"]
        terms = _mean(model.get_output_embeddings().weight, targets)
        return add_loss(terms, (targets >= 0).any(-1), _attribute_vectors(model, prepared).to(terms.dtype))

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of negative attributes compared, and of attributes cut off with the end of their text."""
        return {COMPARED: self._compared, **({CUT: self._cut} if self._cut else {})}


def add_loss(targets: Tensor, present: Tensor, attributes: Tensor) -> Tensor:
    """Mean difference, over pairs of groups, of the cosines of their terms to an attribute; between 0 and 2.

    ``targets``, shape ``[groups, slots, d]``: the vectors of the groups' terms, aligned by slot; ``present``, shape
    ``[groups, slots]``: whether the group has a term; ``attributes``, shape ``[attributes, d]``. At least one slot has
    two terms or more.

        L = mean over attributes a, slots s and pairs i < j of  |cos(t_is, a) - cos(t_js, a)|

    The sum of the paper is, for each attribute, this mean times twice the number of pairs in all slots: with a mean,
    a weight has the same effect for any number of groups and slots. Source: Zhao et al. 2024, section 4.1.
    """
    import torch
    from torch.nn.functional import normalize

    cosines = torch.einsum("gsd,ad->ags", normalize(targets, dim=-1), normalize(attributes, dim=-1))
    first, second = torch.triu_indices(len(targets), len(targets), offset=1, device=targets.device)
    both = present[first] & present[second]
    mean: torch.Tensor = (cosines[:, first] - cosines[:, second]).abs()[:, both].mean()
    return mean


def _attribute_vectors(model: Any, prepared: Mapping[str, Tensor]) -> Tensor:
    """The last hidden states at the attributes; texts without one, and what follows the last, are not read."""
    import torch

    rows, row = torch.unique(prepared["row"], return_inverse=True)
    length = int(prepared["position"].max()) + 1
    ids, mask = (prepared[name][rows, :length] for name in ("input_ids", "attention_mask"))
    states: Tensor = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    return states[row, prepared["position"]]


def _mean(weights: Tensor, tokens: Tensor) -> Tensor:
    """The mean vector of tokens over the last axis, in float32 at least; 0 if there is no token."""
    import torch

    vectors = weights[tokens.clamp(min=0)]
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


def _target_tokens(task: GroupTask, tokenizer: Any) -> Tensor:
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
    return padded(tokens, -1).view(len(chosen), len(slots), -1)
