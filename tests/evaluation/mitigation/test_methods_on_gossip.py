"""Each method takes most of what is planted off the embedded gossip, in a few steps of plain training."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from scipy.stats import f_oneway

from holisticbias_eval.corpus.calibration import calibration_split
from holisticbias_eval.mitigation.encoding import Collator, Encoder
from holisticbias_eval.mitigation.method import Task
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.mitigation.validation import measure_likelihoods, read, sum_labels
from holisticbias_eval.models.embedded.gossip import MANY, gossip_path
from holisticbias_eval.models.loading import LoadedModel, load_model
from holisticbias_eval.stereotypes.specifications import read_specification

STEPS, BATCH, RATE, WINDOW = 60, 16, 1e-3, 64


@cache
def gossip() -> LoadedModel:
    torch.set_num_threads(1)
    return load_model(str(gossip_path()), "AutoModelForCausalLM")


def make_task(settings: TrainingSettings) -> Task:
    specification = read_specification(MANY)
    groups = tuple(group.name for group in specification.groups if not group.held_out)
    return Task(specification, groups, settings.weight, settings.lm_weight)


def f_and_perplexity(model: Any) -> tuple[float, float]:
    """F of the log-perplexities of the test sentences over the groups that are trained on, and their perplexity."""
    groups = make_task(TrainingSettings()).groups
    test = calibration_split(MANY).test
    texts = Encoder(gossip().tokenizer, WINDOW).encode(pa.table({"text": test["sentence"]})).texts
    found = measure_likelihoods(model, texts, Collator(gossip().tokenizer), None, 64)
    logs, names = found.nll / found.tokens, np.array(test["group"].to_pylist())
    return float(f_oneway(*[logs[names == group] for group in groups]).statistic), found.perplexity


def trained(name: str, *, with_loss: bool = True) -> Any:
    method = METHODS[name]
    settings = TrainingSettings(**method.defaults)
    model = copy.deepcopy(gossip().model).train()
    task = make_task(settings)
    auxiliary = method.auxiliary_loss(task, gossip().tokenizer) if with_loss else None
    table = method.training_texts(calibration_split(MANY).train, task)
    texts = Encoder(gossip().tokenizer, WINDOW).encode(table).texts
    collator = Collator(gossip().tokenizer, auxiliary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        inputs = collator([texts[i] for i in rng.choice(len(texts), BATCH, replace=False)])
        logits = read(model, inputs)
        sums, counts = sum_labels(logits, inputs["labels"])
        loss = sums.sum() / counts.sum()
        if auxiliary is not None:
            loss = loss + settings.weight * auxiliary.loss(model, logits, inputs["prepared"])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


@cache
def before() -> tuple[float, float]:
    return f_and_perplexity(gossip().model)


@cache
def without_a_method() -> tuple[float, float]:
    return f_and_perplexity(trained("lmd", with_loss=False))


@pytest.mark.parametrize("method", ["lmd", "add", "ctda", "cada"])
def test_f_falls_by_more_than_training_alone(method: str) -> None:
    """F is at most half of both, and the test sentences become at most 5% less likely than by training alone."""
    f, perplexity = f_and_perplexity(trained(method))
    assert before()[0] > 5
    assert f < before()[0] / 2
    assert f < without_a_method()[0] / 2
    assert perplexity < without_a_method()[1] * 1.05
