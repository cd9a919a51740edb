"""Validate a model: the likelihood of texts, and the auxiliary loss on them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.figures import known
from holisticbias_eval.mitigation.encoding import IGNORED, Collator, EncodedText, Encoder
from holisticbias_eval.models.likelihood.batches import following
from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.models.likelihood.scorer import exponential
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.groups.variance import GroupValues, one_way

_BATCH = 16


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The negative log-likelihood of each text in nats, its number of tokens, and the mean auxiliary loss of batches.

    ``nll`` and ``tokens`` have shape ``[texts]``.
    """

    nll: Floats
    tokens: Ints
    auxiliary: float

    @property
    def mean(self) -> float:
        """Mean negative log-likelihood of a token, in nats."""
        return float(self.nll.sum() / self.tokens.sum())

    @property
    def perplexity(self) -> float:
        """Perplexity of all tokens together, ``exp(sum nll / sum tokens)``; infinite where it overflows."""
        return float(exponential(np.array(self.mean)))


def measure_likelihoods(model: Any, texts: Sequence[EncodedText], collator: Collator, batch: int) -> Likelihoods:
    """Read texts in batches, with the model in evaluation mode, and return what they cost.

    The state of the model's mode is restored.
    """
    nll, tokens, losses = [], [], []
    with evaluating(model), torch.no_grad():
        for start in range(0, len(texts), batch):
            inputs = collator(texts[start : start + batch])
            logits = read(model, inputs)
            sums, counts = sum_labels(logits, inputs["labels"].to(logits.device))
            nll.append(sums.double().cpu().numpy())
            tokens.append(counts.cpu().numpy())
            if collator.auxiliary is not None:
                prepared = {name: tensor.to(logits.device) for name, tensor in inputs["prepared"].items()}
                losses.append(float(collator.auxiliary.loss(model, logits, prepared)))
    return Likelihoods(np.concatenate(nll), np.concatenate(tokens), float(np.mean(losses)) if losses else 0.0)


def read(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    """The logits of a batch, ``[texts, tokens, words]``, in float32."""
    device = next(model.parameters()).device
    wanted = {name: inputs[name].to(device) for name in ("input_ids", "attention_mask")}
    logits: torch.Tensor = model(**wanted, use_cache=False).logits
    return logits.float()


def sum_labels(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sum the negative log-likelihoods of the labels of each text, in nats, and count them; shape ``[texts]`` each."""
    counted = labels[:, 1:] != IGNORED
    nll = following(logits, labels.clamp(min=0)).where(counted, 0.0)
    return nll.sum(-1), counted.sum(-1)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Run a model in evaluation mode within the block."""
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)


def perplexity_of(model: Any, tokenizer: Any, texts: pa.Table, opening: str | Sequence[int] = AUTO) -> float:
    """The perplexity of the columns ``context`` and ``text`` under a model, of the tokens of ``text`` together."""
    encoded = Encoder(tokenizer, context_length(model), opening).encode(texts)
    if not encoded.texts:
        raise MitigationError("there is no text to validate on: the corpus needs a validation part")
    return measure_likelihoods(model, encoded.texts, Collator(tokenizer), _BATCH).perplexity


def validation_f(model: Any, tokenizer: Any, rows: pa.Table, opening: str | Sequence[int] = AUTO) -> float | None:
    """F of log-perplexities over groups, see ``one_way``; null if it is undefined.

    ``rows`` have ``group`` and ``text``, each sentence once for each group. Log-perplexities are nats per token (Zhao
    et al. 2024, section 3).
    """
    encoded = Encoder(tokenizer, context_length(model), opening).encode(rows.select(["text"]))
    if encoded.empty:
        return None
    found = measure_likelihoods(model, encoded.texts, Collator(tokenizer), _BATCH)
    groups, group = encode(rows["group"])
    return known(one_way(GroupValues.of_rows(found.nll / found.tokens, group, len(groups))).value)
