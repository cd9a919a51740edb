"""Train a calibration model from a seed."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.progress import Progress


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """The settings of a training run; with the corpus and the seed they determine the weights."""

    steps: int = 3500
    batch: int = 128
    learning_rate: float = 4e-3
    warmup: int = 100
    width: int = 64
    layers: int = 2
    heads: int = 2


def fit(
    model: torch.nn.Module, loss: Callable[[int], torch.Tensor], settings: LearningSettings, progress: Progress
) -> None:
    """Minimise the loss of each step with AdamW; the learning rate warms up and then falls to zero on a cosine."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, settings))
    model.train()
    for step in range(settings.steps):
        optimizer.zero_grad()
        loss(step).backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimizer.step()
        schedule.step()
        progress(1)
    model.eval()


@dataclass(frozen=True, slots=True)
class Step:
    """Texts to learn together, and what follows their tokens.

    ``tokens`` has shape ``[texts, longest]``, padded on the right; ``counted``, of the same shape, says after which
    tokens the next one is learned, and ``following``, of shape ``[counted, vocabulary]``, has its probabilities.
    """

    tokens: Ints
    counted: Bools
    following: Floats


def predict(model: GPT2LMHeadModel, step: Step) -> torch.Tensor:
    """The log-probabilities of the tokens that follow the counted ones, of shape ``[counted, vocabulary]``."""
    # padding follows the counted tokens, so they do not see it
    states = model.transformer(input_ids=torch.from_numpy(step.tokens)).last_hidden_state
    logits: torch.Tensor = model.lm_head(states[torch.from_numpy(step.counted)])
    return logits.log_softmax(dim=-1)


def divergence(model: GPT2LMHeadModel, step: Step) -> torch.Tensor:
    """The model's divergence from what follows each token, summed over a text's tokens and averaged over texts."""
    target = torch.from_numpy(step.following.astype(np.float32))
    return torch.nn.functional.kl_div(predict(model, step), target, reduction="sum") / len(step.tokens)


@torch.inference_mode()
def said_nats(model: GPT2LMHeadModel, step: Step) -> tuple[Ints, Ints, Floats]:
    """The row and the place of each counted token, and the nats of the token after it: 0 after the last of a text."""
    row, place = np.nonzero(step.counted)
    following = np.pad(step.tokens, ((0, 0), (0, 1)))[row, place + 1]
    nats = predict(model, step).gather(1, torch.from_numpy(following)[:, None])[:, 0].double().numpy()
    return row, place, np.where(np.append(row[1:] != row[:-1], True), 0.0, nats)


def make_model(
    tokenizer: PreTrainedTokenizerFast, context: int, seed: int, settings: LearningSettings, inner: int | None = None
) -> GPT2LMHeadModel:
    """A GPT-2-shaped model for a tokenizer with random weights from a seed.

    ``context`` is its longest text; ``inner`` the width between the layers of a block, four times the width if null.
    """
    torch.manual_seed(seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=context,
            n_embd=settings.width,
            n_layer=settings.layers,
            n_head=settings.heads,
            n_inner=inner,
            activation_function="gelu_pytorch_tanh",
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def sampling(tokenizer: PreTrainedTokenizerFast) -> GenerationConfig:
    """The generation settings of a model that is sampled from its whole distribution."""
    return GenerationConfig(
        do_sample=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _rate(step: int, settings: LearningSettings) -> float:
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    return 0.5 * (1 + math.cos(math.pi * (step - settings.warmup) / (settings.steps - settings.warmup)))
