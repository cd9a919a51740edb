"""The embedded model trained on its corpus, from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from holisticbias_eval.embedded.corpus import Corpus
from holisticbias_eval.embedded.tokenizer import CONTEXT

Tokens = npt.NDArray[np.int64]
_IGNORED = -100


@dataclass(frozen=True, slots=True)
class Settings:
    """What a training run does; with the corpus and the seed it decides the weights."""

    steps: int = 1500
    batch: int = 512
    learning_rate: float = 4e-3
    warmup: int = 100
    width: int = 64
    layers: int = 2
    heads: int = 2


def train(corpus: Corpus, tokenizer: PreTrainedTokenizerFast, seed: int, settings: Settings) -> GPT2LMHeadModel:
    """A model fitted to a corpus by Adam, the rate rising to its height and falling to nothing on a cosine.

    Sentences are drawn anew for every step. One seed gives the same weights on
    the same machine; other processors and thread counts may differ in the last bits.
    """
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(_config(tokenizer, settings))
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, settings))
    model.train()
    for tokens in _batches(_encode(corpus, tokenizer), corpus, seed, settings):
        optimizer.zero_grad()
        _loss(model, tokens).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def _config(tokenizer: PreTrainedTokenizerFast, settings: Settings) -> GPT2Config:
    return GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=CONTEXT,
        n_embd=settings.width,
        n_layer=settings.layers,
        n_head=settings.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _rate(step: int, settings: Settings) -> float:
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    return 0.5 * (1 + np.cos(np.pi * (step - settings.warmup) / (settings.steps - settings.warmup)))


def _encode(corpus: Corpus, tokenizer: PreTrainedTokenizerFast) -> Tokens:
    """Texts between two boundaries, one a row, padded on the right with ignored places."""
    rows = tokenizer(corpus.texts.to_pylist(), return_attention_mask=False)["input_ids"]
    tokens = np.full((len(rows), max(map(len, rows)) + 2), _IGNORED)
    tokens[:, 0] = tokenizer.bos_token_id
    for row, ids in zip(tokens, rows, strict=True):
        row[1 : len(ids) + 2] = [*ids, tokenizer.eos_token_id]
    return tokens


def _batches(tokens: Tokens, corpus: Corpus, seed: int, settings: Settings) -> Iterator[torch.Tensor]:
    drawn = corpus.draw(settings.steps * settings.batch, np.random.default_rng(seed))
    for indexes in drawn.reshape(settings.steps, settings.batch):
        yield torch.from_numpy(tokens[indexes])


def _loss(model: GPT2LMHeadModel, tokens: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of a token after those before it; padding comes after, so none is seen."""
    logits = model(input_ids=tokens[:, :-1].clamp(min=0)).logits
    targets = tokens[:, 1:]
    counted = targets != _IGNORED
    return torch.nn.functional.cross_entropy(logits[counted], targets[counted])
