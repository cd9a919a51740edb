"""The embedded model trained on its corpus, from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from holisticbias_eval.models.embedded.corpus import Indexes
from holisticbias_eval.models.embedded.tokenizer import CONTEXT
from holisticbias_eval.models.embedded.tree import NOWHERE, PrefixTree

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a training run does; with the corpus and the seed it decides the weights."""

    steps: int = 3500
    batch: int = 128
    learning_rate: float = 4e-3
    warmup: int = 100
    width: int = 64
    layers: int = 2
    heads: int = 2


def train(
    tree: PrefixTree, tokenizer: PreTrainedTokenizerFast, seed: int, settings: Settings, progress: Progress
) -> GPT2LMHeadModel:
    """A model fitted to a corpus by Adam, the rate rising to its height and falling to nothing on a cosine.

    Sentences are drawn for every step, and the model learns after each of their
    prefixes the corpus's own distribution of the next token, not the one token
    that was drawn: the same optimum, without the noise of the draw, which would
    pass for bias. ``progress`` is told of each step. One seed gives the same weights on
    the same machine; other processors and thread counts may differ in the last bits.
    """
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(_config(tokenizer, settings))
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, settings))
    model.train()
    drawn = tree.corpus.draw(settings.steps * settings.batch, np.random.default_rng(seed))
    for texts in drawn.reshape(settings.steps, settings.batch):
        optimizer.zero_grad()
        _divergence(model, tree, texts).backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimizer.step()
        schedule.step()
        progress(1)
    return model.eval()


def measure_divergence(model: GPT2LMHeadModel, tree: PrefixTree, seed: int) -> float:
    """How far a model is from its corpus: the Kullback-Leibler divergence in nats a sentence, over 8,192 drawn ones."""
    drawn = tree.corpus.draw(8192, np.random.default_rng(seed)).reshape(16, -1)
    with torch.inference_mode():
        return float(np.mean([float(_divergence(model, tree, texts)) for texts in drawn]))


def _divergence(model: GPT2LMHeadModel, tree: PrefixTree, texts: Indexes) -> torch.Tensor:
    """The divergence of the model from the tree at each token, summed over a text's tokens and averaged over texts."""
    nodes = tree.nodes[texts]
    longest = int((nodes != NOWHERE).sum(axis=1).max())
    nodes = nodes[:, :longest]
    counted = torch.from_numpy(nodes != NOWHERE)
    # padding comes after what is counted, so that nothing counted sees it
    states = model.transformer(input_ids=torch.from_numpy(tree.tokens[texts, :longest])).last_hidden_state[counted]
    predicted = model.lm_head(states).log_softmax(dim=-1)
    target = torch.from_numpy(tree.following[nodes[nodes != NOWHERE]].toarray().astype(np.float32))
    return torch.nn.functional.kl_div(predicted, target, reduction="sum") / len(texts)


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
