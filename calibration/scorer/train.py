"""Train the embedded model from its seed: it learns its corpus."""

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.texts import NOWHERE, PrefixTree
from calibration.tokenizer import CONTEXT
from calibration.training import LearningSettings, Step, divergence, fit, make_model
from holisticbias_eval.arrays import Ints
from holisticbias_eval.progress import Progress


def train(
    tree: PrefixTree, tokenizer: PreTrainedTokenizerFast, seed: int, settings: LearningSettings, progress: Progress
) -> GPT2LMHeadModel:
    """Fit a model to a corpus.

    Sentences are drawn for every step. After each of their prefixes the model
    learns the corpus's own distribution of the next token instead of the one
    token drawn: the optimum is the same, but without the noise of the draw, which
    would look like bias. ``progress`` is called after each step. One seed gives
    the same weights on the same machine; other processors and thread counts may
    differ in the last bits.
    """
    model = make_model(tokenizer, CONTEXT, seed, settings)
    drawn = tree.corpus.draw(settings.steps * settings.batch, np.random.default_rng(seed))
    texts = drawn.reshape(settings.steps, settings.batch)
    fit(model, lambda step: _divergence(model, tree, texts[step]), settings, progress)
    return model


def measure_divergence(model: GPT2LMHeadModel, tree: PrefixTree, seed: int) -> float:
    """Kullback-Leibler divergence of a model from its corpus, in nats per sentence, over 8,192 drawn sentences."""
    drawn = tree.corpus.draw(8192, np.random.default_rng(seed)).reshape(16, -1)
    with torch.inference_mode():
        return float(np.mean([float(_divergence(model, tree, texts)) for texts in drawn]))


def _divergence(model: GPT2LMHeadModel, tree: PrefixTree, texts: Ints) -> torch.Tensor:
    nodes = tree.nodes[texts]
    longest = int((nodes != NOWHERE).sum(axis=1).max())
    counted = nodes[:, :longest] != NOWHERE
    following = tree.following[nodes[:, :longest][counted]].toarray()
    return divergence(model, Step(tree.tokens[texts, :longest], counted, following))
