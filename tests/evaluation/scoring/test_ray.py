from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.local import ScoringOptions, load_scorer
from holisticbias_eval.models.likelihood.ray_engine import RayScorer
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.likelihood.stored import StoredScorer, score_store

pytestmark = pytest.mark.long
TEXTS = [f"I'm a {d} {n} {i}." for i in range(40) for d in ("tall", "Deaf") for n in ("guy", "woman", "kid")]


def ignore(message: object) -> None:
    pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000)
    yield ray
    ray.shutdown()


def test_a_cluster_gives_the_rows_and_values_of_one_machine_though_a_worker_is_killed(
    cluster: Any, gpt2_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(EvaluationError, match="leave one free"):
        RayScorer(str(gpt2_folder), ScoringOptions(device="cpu"), ignore, replicas=3)

    local = load_scorer(str(gpt2_folder), ignore).score(whole(TEXTS), ignore)
    scorer = RayScorer(str(gpt2_folder), ScoringOptions(device="cpu"), ignore, replicas=2)
    assert_same(scorer.score(whole(TEXTS), ignore), local)

    scorer.block_size = 8
    store = score_store(tmp_path, scorer, "digest", ignore)
    processes = [cluster.get(replica.process.remote()) for replica in scorer.replicas]
    counted: list[int] = []

    def kill_one(done: int) -> None:
        counted.append(done)
        if len(counted) == 3:
            os.kill(processes[0], signal.SIGKILL)

    assert_same(StoredScorer(scorer, store).score(whole(TEXTS), kill_one), local)
    assert sorted(store.read()["text"].to_pylist()) == sorted(TEXTS)
    assert sum(counted) == len(TEXTS)
    assert cluster.get(scorer.replicas[0].process.remote()) != processes[0]


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_an_address_without_a_cluster_is_one_line(address: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(EvaluationError, match=rf"no Ray cluster at {address}: .*refused"):
        RayScorer(None, ScoringOptions(), ignore, address)


def assert_same(found: Scores, expected: Scores) -> None:
    np.testing.assert_allclose(found.nll, expected.nll, atol=1e-4, rtol=0)
    assert found.tokens.tolist() == expected.tokens.tolist()
