"""Scores and responses of replicas on a Ray cluster, equal to those of one machine."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.engines import start_generator, start_scorer, store_of, stored
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, Responses, respond_all
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.ray import RayGenerator
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

pytestmark = pytest.mark.long
SHORT = Decoding(id="short", method="sample", max_new_tokens=8, top_p=0.95, source="a test")
TEXTS = [f"I'm a {d} {n} {i}." for i in range(40) for d in ("tall", "Deaf") for n in ("guy", "woman", "kid")]
ASKED = TEXTS[:32]
REQUESTS = PromptRequests(ASKED * 2, ["I like tea.", ""] * len(ASKED), np.repeat([0, 1], len(ASKED)).astype(np.int32))
HERE = ModelSettings(device="cpu")
ON_ONE = ModelSettings(device="cpu", engine="ray", replicas=1)
ON_TWO = ModelSettings(device="cpu", engine="ray", replicas=2)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000)
    yield ray
    ray.shutdown()


def killing(cluster: Any, model: RayGenerator) -> tuple[list[int], Callable[[int], None]]:
    """A progress function that kills the first replica in its third call, and the numbers that it was called with."""
    first = cluster.get(model.cluster.replicas[0].__ray_call__.remote(lambda _: os.getpid()))
    counted: list[int] = []

    def count(done: int) -> None:
        counted.append(done)
        if len(counted) == 3:
            os.kill(first, signal.SIGKILL)

    return counted, count


@pytest.fixture(scope="module")
def scorer(cluster: Any, tiny_gpt2: Path) -> Scorer:
    """The tiny model on a replica."""
    return start_scorer(str(tiny_gpt2), ignore, ON_ONE)


def test_a_cluster_gives_the_scores_of_one_machine(
    scorer: Scorer, tiny_gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = start_scorer(str(tiny_gpt2), ignore).score(whole(TEXTS), ignore)
    assert_same_scores(scorer.score(whole(TEXTS), ignore), local)

    monkeypatch.setattr(scorer, "block_size", 8)
    counted: list[int] = []
    assert_same_scores(stored(scorer, tmp_path, ignore).score(whole(TEXTS), counted.append), local)
    assert sorted(store_of(scorer, tmp_path, ignore).read()["text"].to_pylist()) == sorted(TEXTS)
    assert sum(counted) == len(TEXTS)


def test_a_model_that_cannot_be_loaded_or_takes_every_cpu_is_one_line(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=rf"^{tmp_path}/nothing: no such model folder$"):
        start_scorer(str(tmp_path / "nothing"), ignore, ON_ONE)
    with pytest.raises(EvaluationError, match="leave one free"):
        start_generator(None, ignore, SHORT, 3, settings=ON_TWO.model_copy(update={"replicas": 3}))


def test_an_error_of_a_replica_is_one_line(scorer: Scorer) -> None:
    long = whole(["tall " * 5000])
    for ask in (lambda: scorer.probe(long), lambda: scorer.score(long, ignore)):
        with pytest.raises(ModelError, match=r"^the model reads at most [\d,]+ tokens") as caught:
            ask()
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "api", "api_base": "http://127.0.0.1:9/v1"}, "--engine api needs --model, the server's name"),
        ({"engine": "ray", "ray_address": "127.0.0.1:9"}, "no Ray cluster at 127.0.0.1:9: .*refused"),
        ({"engine": "ray", "ray_address": "ray://127.0.0.1:9"}, "no Ray cluster at ray://127.0.0.1:9: .*refused"),
    ],
)
def test_settings_that_do_not_fit_an_engine(settings: dict[str, Any], message: str) -> None:
    if settings["engine"] == "ray":
        pytest.importorskip("ray")
    with pytest.raises(EvaluationError, match=message):
        start_generator(None, ignore, SHORT, 0, settings=ModelSettings(**settings))
    with pytest.raises(EvaluationError, match=message):
        start_scorer(None, ignore, ModelSettings(**settings))


def test_a_cluster_that_does_not_let_in_may_want_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    refused = getattr(ray.exceptions, "AuthenticationError", ray.exceptions.RayError)  # its base before Ray had tokens
    refusals = {
        ConnectionError("Failed to connect"): r"^no Ray cluster at auto: Failed to connect; .* set RAY_AUTH_MODE=token",
        refused("no token was found"): r"^no Ray cluster at auto: no token was found",
    }
    for raised, said in refusals.items():
        monkeypatch.setattr(ray, "init", Mock(side_effect=raised))
        with pytest.raises(EvaluationError, match=said):
            start_scorer(None, ignore, ModelSettings(engine="ray", ray_address="auto"))


def assert_same_scores(scores: Scores, expected: Scores) -> None:
    np.testing.assert_allclose(scores.nll, expected.nll, atol=1e-4, rtol=0)
    assert scores.tokens.tolist() == expected.tokens.tolist()


def assert_same_responses(responses: Responses, expected: Responses) -> None:
    assert responses.text == expected.text
    assert responses.finish == expected.finish
    assert responses.tokens.tolist() == expected.tokens.tolist()


def test_a_cluster_gives_the_responses_of_one_machine_though_a_worker_is_killed(
    cluster: Any, tiny_gpt2: Path, tmp_path: Path
) -> None:
    here = start_generator(str(tiny_gpt2), ignore, SHORT, 3, settings=HERE)
    local = respond_all(REQUESTS, here, ignore)
    generator = start_generator(str(tiny_gpt2), ignore, SHORT, 3, settings=ON_TWO)
    assert isinstance(generator, RayGenerator)
    assert (generator.identity, generator.settings) == (here.identity, here.settings), "they share a store"
    assert generator.probe(REQUESTS) == here.probe(REQUESTS)

    counted, kill_one = killing(cluster, generator)
    assert_same_responses(respond_all(REQUESTS, stored(generator, tmp_path, ignore), kill_one), local)
    assert sum(counted) == len(REQUESTS) == store_of(generator, tmp_path, ignore).read().num_rows
    assert len(counted) >= 16
