"""The embedded model trained on its corpus, from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from holisticbias_eval.embedded.corpus import Corpus
from holisticbias_eval.embedded.tokenizer import BOUNDARY, CONTEXT

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a training run does; with the corpus and the seed it decides the weights."""

    steps: int = 1000
    batch: int = 512
    learning_rate: float = 4e-3
    warmup: int = 100
    width: int = 64
    layers: int = 2
    heads: int = 2


def train(
    corpus: Corpus,
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    settings: Settings,
    progress: Progress = lambda _: None,
) -> GPT2LMHeadModel:
    """A model fitted to a corpus by Adam, the rate rising to its height and falling to nothing on a cosine.

    Sentences are drawn anew for every step; ``progress`` is told of each. One seed gives the same weights on
    the same machine; other processors and thread counts may differ in the last bits.
    """
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(_config(tokenizer, settings))
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, settings))
    model.train()
    for tokens in _batches(corpus, tokenizer, seed, settings):
        optimizer.zero_grad()
        _loss(model, tokens, tokenizer.pad_token_id).backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimizer.step()
        schedule.step()
        progress(1)
    return model.eval()


def _config(tokenizer: PreTrainedTokenizerFast, settings: Settings) -> GPT2Config:
    return GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=CONTEXT,
        n_embd=settings.width,
        n_layer=settings.layers,
        n_head=settings.heads,
        activation_function="gelu_pytorch_tanh",
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )


def _rate(step: int, settings: Settings) -> float:
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    return 0.5 * (1 + math.cos(math.pi * (step - settings.warmup) / (settings.steps - settings.warmup)))


def excess_nats(model: GPT2LMHeadModel, corpus: Corpus, tokenizer: PreTrainedTokenizerFast, seed: int) -> float:
    """How far a model is from its corpus: the Kullback-Leibler divergence in nats a sentence, over 8,192 drawn ones."""
    drawn = corpus.draw(8192, np.random.default_rng(seed))
    total = 0.0
    with torch.inference_mode():
        for indexes in drawn.reshape(16, -1):
            tokens = encode(corpus.texts.take(pa.array(indexes)).to_pylist(), tokenizer)
            predicted = int((tokens[:, 1:] != tokenizer.pad_token_id).sum())
            total += float(_loss(model, tokens, tokenizer.pad_token_id)) * predicted
    return (total + float(np.log(corpus.probabilities[drawn]).sum())) / len(drawn)


def _batches(
    corpus: Corpus, tokenizer: PreTrainedTokenizerFast, seed: int, settings: Settings
) -> Iterator[torch.Tensor]:
    drawn = corpus.draw(settings.steps * settings.batch, np.random.default_rng(seed))
    for indexes in drawn.reshape(settings.steps, settings.batch):
        yield encode(corpus.texts.take(pa.array(indexes)).to_pylist(), tokenizer)


def encode(texts: Sequence[str], tokenizer: PreTrainedTokenizerFast) -> torch.Tensor:
    """Texts between two boundaries as token numbers, padded on the right: shape ``[texts, longest]``."""
    bounded = [f"{BOUNDARY}{text}{BOUNDARY}" for text in texts]
    ids: torch.Tensor = tokenizer(bounded, padding=True, return_tensors="pt")["input_ids"]
    return ids


def _loss(model: GPT2LMHeadModel, tokens: torch.Tensor, padding: int) -> torch.Tensor:
    """The mean negative log-likelihood of a token after those before it; padding comes after, so none is seen."""
    counted = tokens[:, 1:] != padding
    states = model.transformer(input_ids=tokens[:, :-1]).last_hidden_state[counted]
    return torch.nn.functional.cross_entropy(model.lm_head(states), tokens[:, 1:][counted])
