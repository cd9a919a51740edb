"""The benchmarks run on any model and tokenizer. Their timings are not checked: tests run in parallel."""

import math
import time
from typing import Any

import pytest

import generation
import scoring
from tiny_models import TEXTS, first_samples, tiny_loaded


def test_a_sample_is_the_draw_nearest_to_the_whole() -> None:
    shared = [[1, 2, 3, 4, 5, i] for i in range(40)]
    held = {"shares much": shared, "shares nothing": [[i, i, i] for i in range(100, 120)], "short": [[7, 8], [7, 9]]}
    everything = [row for rows in held.values() for row in rows]
    ratios = {name: scoring.tokens_per_node(rows) for name, rows in held.items()}
    whole = scoring.tokens_per_node(everything)
    assert min(abs(ratio / whole - 1) for ratio in ratios.values()) > scoring.NEAR
    found, of_the_whole = scoring.sample(held, 1)
    nearest = min(ratios, key=lambda name: abs(ratios[name] / whole - 1))
    assert (found, of_the_whole) == (held[nearest], whole)
    found, of_the_whole = scoring.sample(held, 5)
    assert (sorted(found), of_the_whole) == (sorted(everything), whole)


def test_every_contender_gives_the_same_sums_and_a_ratio(gpt2: Any, tokenizer: Any) -> None:
    texts = [f"I'm a {word} {noun}." for word in ("tall", "Deaf", "naïve") for noun in ("guy", "woman", "veteran")]
    tokens = [[tokenizer.bos_token_id, *tokenizer(t, add_special_tokens=False)["input_ids"]] for t in texts]
    figures = scoring.measure(gpt2, tokens, 1, list(scoring.CONTENDERS), time.perf_counter)
    assert figures["max_abs_diff"] < 1e-4
    for key in ("vs_evaluate", "vs_lm_eval", "vs_bucketed", "vs_tree_bound", "error_ratio"):
        assert 0 < figures[key] < math.inf
    assert 0 < figures["error"] < 1e-4
    assert 0 < figures["plain_error"] < 1e-4


@pytest.mark.nightly
def test_every_figure_of_generation_is_a_number() -> None:
    figures = generation.measure(tiny_loaded("llama"), first_samples(TEXTS[:3]), 1, time.perf_counter, few=1)
    assert figures["same_in_any_batch"] == 1.0
    for key in ("vs_one_by_one", "vs_batched", "vs_generate_batch", "tokens_per_second"):
        assert 0 < figures[key] < math.inf
    assert figures["peak_mb_over_model"] >= 0
