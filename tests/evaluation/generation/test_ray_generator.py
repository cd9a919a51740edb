"""Responses of replicas on a Ray cluster, equal to those of one machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.engines import GenerationEngine, start_generator
from holisticbias_eval.models.generation.local import GenerationOptions, load_generator
from holisticbias_eval.models.generation.ray_engine import RayGenerator
from holisticbias_eval.models.generation.requests import Requests, Responses
from holisticbias_eval.models.generation.stored import StoredGenerator, respond_all, response_store

pytestmark = pytest.mark.long
SHORT = Decoding(id="short", method="sample", max_new_tokens=8, top_p=0.95, source="a test")
TEXTS = [f"I'm a {d} {n} {i}." for i in range(8) for d in ("blicket", "doff") for n in ("guy", "kid")]
REQUESTS = Requests(TEXTS * 2, ["I like tea.", ""] * len(TEXTS), np.repeat([0, 1], len(TEXTS)).astype(np.int32))
ON_CPU = GenerationOptions(device="cpu")


def ignore(said: object) -> None:
    pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000)
    yield ray
    ray.shutdown()


def test_a_cluster_gives_the_responses_of_one_machine_though_a_worker_is_killed(
    cluster: Any, tiny_gpt2: Path, tmp_path: Path
) -> None:
    model = str(tiny_gpt2)
    with pytest.raises(EvaluationError, match="leave one free"):
        RayGenerator(model, ignore, SHORT, 3, options=ON_CPU, replicas=3)

    here = load_generator(model, ignore, SHORT, 3, options=ON_CPU)
    local = respond_all(REQUESTS, here, ignore)
    engine = GenerationEngine("ray", ON_CPU, replicas=2)
    generator = start_generator(model, ignore, SHORT, 3, options=engine)
    assert isinstance(generator, RayGenerator)
    assert (generator.identity, generator.settings) == (here.identity, here.settings), "they share a store"
    assert generator.probe(REQUESTS) == here.probe(REQUESTS)

    processes = [cluster.get(replica.process.remote()) for replica in generator.replicas]
    counted: list[int] = []

    def kill_one(done: int) -> None:
        counted.append(done)
        if len(counted) == 3:
            os.kill(processes[0], signal.SIGKILL)

    store = response_store(tmp_path, generator, ignore)
    assert_same(respond_all(REQUESTS, StoredGenerator(generator, store), kill_one), local)
    assert sum(counted) == len(REQUESTS) == store.read().num_rows
    assert len(counted) >= 16
    assert cluster.get(generator.replicas[0].process.remote()) != processes[0]


def test_a_model_that_cannot_be_loaded_is_one_line(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=rf"^{tmp_path}/nothing: no such model folder$"):
        RayGenerator(str(tmp_path / "nothing"), ignore, SHORT, 3, options=ON_CPU, replicas=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (GenerationEngine("api"), "needs --api-base, and --model"),
        (GenerationEngine("api", api_base="http://127.0.0.1:9/v1"), "needs --api-base, and --model"),
        (GenerationEngine("ray", ray_address="127.0.0.1:9"), "no Ray cluster at 127.0.0.1:9: .*refused"),
    ],
)
def test_options_that_do_not_fit_an_engine(options: GenerationEngine, message: str) -> None:
    if options.engine == "ray":
        pytest.importorskip("ray")
    with pytest.raises(EvaluationError, match=message):
        start_generator(None, ignore, SHORT, 0, options=options)


def assert_same(found: Responses, expected: Responses) -> None:
    assert found.text == expected.text
    assert found.finish == expected.finish
    assert found.tokens.tolist() == expected.tokens.tolist()
