"""Files of decodings, and the next token: the distribution is transformers', and no rounding changes a sure choice."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
import yaml
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.decoding import DECODINGS, Decoding
from holisticbias_eval.models.generation.requests import PromptRequests
from holisticbias_eval.models.generation.sampling import (
    blocked_after,
    choose_tokens,
    gumbel_noise,
    step_seeds,
    tokens_above,
)

GREEDY = Decoding(id="x", method="greedy", max_new_tokens=5, source="a test")


def sampling(**settings: Any) -> Decoding:
    return Decoding.model_validate({"id": "x", "method": "sample", "max_new_tokens": 5, "source": "a test", **settings})


def warped(scores: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """The distribution of transformers' own warpers."""
    ids: Any = None
    if decoding.temperature != 1.0:
        scores = transformers.TemperatureLogitsWarper(decoding.temperature)(ids, scores)
    if decoding.top_k:
        scores = transformers.TopKLogitsWarper(decoding.top_k)(ids, scores)
    if decoding.top_p:
        scores = transformers.TopPLogitsWarper(decoding.top_p)(ids, scores)
    return scores


@given(
    seed=st.integers(0, 2**31),
    vocabulary=st.sampled_from([3, 40, 700, 5000]),
    spread=st.sampled_from([0.1, 2.0, 20.0]),
    ties=st.booleans(),
    top_k=st.sampled_from([None, 1, 5, 600]),
    top_p=st.sampled_from([None, 0.1, 0.9, 1.0]),
    temperature=st.sampled_from([0.5, 1.0, 1.7]),
)
def test_the_choice_is_the_largest_sum_of_what_transformers_keeps(
    seed: int, vocabulary: int, spread: float, ties: bool, top_k: int | None, top_p: float | None, temperature: float
) -> None:
    decoding = sampling(top_k=top_k, top_p=top_p, temperature=temperature)
    scores = torch.randn((6, vocabulary), generator=torch.Generator().manual_seed(seed)) * spread
    scores = scores.round() if ties else scores
    scores[0, 0] = -torch.inf
    seeds = np.arange(seed, seed + 6, dtype=np.uint64)
    noise = gumbel_noise(seeds, np.tile(np.arange(vocabulary), (6, 1)))
    sums = warped(scores, decoding).double().numpy() + noise
    choice = choose_tokens(scores, decoding, seeds, margin=1e-4)
    expected = sums.argmax(1)
    # where a cut by top-p depends on rounding or on the order of equal scores, the choice is not called sure
    assert (choice.token == expected)[choice.sure].all()
    if top_p in {None, 1.0}:
        assert (choice.token == expected).all()
    if not ties and spread == 2.0:
        assert choice.sure.any()


@given(seed=st.integers(0, 2**31), top_k=st.sampled_from([None, 4, 50]), top_p=st.sampled_from([None, 0.3, 0.95]))
def test_a_sure_choice_stays_when_scores_change_by_less_than_the_margin(
    seed: int, top_k: int | None, top_p: float | None
) -> None:
    decoding, margin = sampling(top_k=top_k, top_p=top_p), 0.05
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn((64, 300), generator=random) * 2
    off = (torch.rand(scores.shape, generator=random) - 0.5) * margin
    seeds = np.arange(seed, seed + 64, dtype=np.uint64)
    choice = choose_tokens(scores, decoding, seeds, margin)
    assert (choice.token == choose_tokens(scores + off, decoding, seeds).token)[choice.sure].all()
    assert choice.sure.any()
    likeliest = choose_tokens(scores, GREEDY, seeds, margin)
    assert (likeliest.token == (scores + off).argmax(1).numpy())[likeliest.sure].all()


def test_draws_have_the_frequencies_of_the_distribution() -> None:
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    scores = torch.tensor(np.log(probabilities), dtype=torch.float32).repeat(20_000, 1)
    seeds = step_seeds(0, PromptRequests(["I'm a wug."], [""], np.zeros(1, np.int32)), 20_000)[0]
    drawn = np.bincount(choose_tokens(scores, sampling(), seeds).token, minlength=4) / 20_000
    assert np.abs(drawn - probabilities).max() < 4 * np.sqrt(0.25 / 20_000)
    among_two = np.bincount(choose_tokens(scores, sampling(top_k=2), seeds).token, minlength=4) / 20_000
    assert np.abs(among_two - [0.625, 0.375, 0, 0]).max() < 4 * np.sqrt(0.25 / 20_000)


def test_greedy_takes_the_first_of_equal_scores_and_is_not_sure_of_it() -> None:
    scores = torch.tensor([[0.0, 2.0, 2.0], [3.0, 1.0, 3.0], [0.0, 0.0, 5.0]])
    choice = choose_tokens(scores, GREEDY, np.zeros(3, np.uint64), 1e-3)
    assert choice.token.tolist() == [1, 0, 2]
    assert choice.sure.tolist() == [False, False, True]


@pytest.mark.parametrize("noise", [-5.0, 0.0, 3.0, 8.0, 40.0])
def test_no_token_with_much_noise_is_overlooked(noise: float) -> None:
    seed = np.uint64(11)
    every = gumbel_noise(np.array([seed]), np.arange(50_000)[None])[0]
    found = tokens_above(seed, 50_000, noise)
    assert set(np.flatnonzero(every >= noise)) <= set(found.tolist())
    assert len(found) <= (every >= noise - 1e-6).sum() + 2


def test_tokens_that_would_repeat_a_sequence() -> None:
    assert blocked_after([], 3) == blocked_after([1, 2], 3) == blocked_after([1, 2, 3, 2, 1], 3) == set()
    assert blocked_after([1, 2, 3, 1, 2], 3) == {3}
    assert blocked_after([1, 2, 3, 1, 2, 4, 1, 2], 3) == {3, 4}
    assert blocked_after([1, 1], 2) == blocked_after([1, 1, 1], 3) == {1}
    assert blocked_after([5, 6], 1) == {5, 6}


@pytest.mark.parametrize("name", DECODINGS.available())
def test_every_file_reads_and_has_the_id_of_its_name(name: str) -> None:
    assert DECODINGS.read(name).id == name


def test_the_settings_of_the_papers() -> None:
    for name, expected in {
        "holisticbias-dialogpt": {"method": "beam", "beams": 10, "min_new_tokens": 20, "blocked_ngram": 3},
        "holisticbias-blenderbot": {"method": "beam", "beams": 3, "min_new_tokens": 20, "blocked_ngram": 3},
        "bold-gpt2": {"method": "sample", "top_k": 40, "top_p": 0.95, "temperature": 1.0},
        "autobiastest": {"method": "sample", "temperature": 0.8, "top_k": 50, "top_p": 0.85, "max_new_tokens": 80},
        "sampled": {"method": "sample", "temperature": 1.0, "top_k": None},
    }.items():
        found = DECODINGS.read(name).model_dump()
        assert {key: found[key] for key in expected} == expected, name


SOUND = {"id": "own", "method": "sample", "max_new_tokens": 40, "source": "me"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "beam"}, "beams is for the method beam, which needs it"),
        ({"beams": 3}, "beams is for the method beam, which needs it"),
        ({"method": "greedy", "top_p": 0.9}, "temperature, top_k and top_p are for the method sample"),
        ({"method": "greedy", "temperature": 0.5}, "temperature, top_k and top_p are for the method sample"),
        ({"min_new_tokens": 41}, "min_new_tokens must not exceed max_new_tokens"),
        ({"max_new_tokens": 0}, "max_new_tokens: it must be at least 1"),
        ({"temperature": 0}, "temperature: it must be greater than 0"),
        ({"top_p": 1.5}, "top_p: it must be at most 1"),
        ({"source": None}, "source: it must be a text"),
        ({"repetition_penalty": 1.2}, "repetition_penalty: the key is not in the schema"),
    ],
)
def test_a_wrong_file_is_one_clear_line(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({**SOUND, **change}), "utf-8")
    with pytest.raises(EvaluationError, match=message) as raised:
        DECODINGS.read(str(path))
    assert str(raised.value).startswith(str(path))
