"""Responses that survive a killed process, and of which nothing is made twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.generation.requests import Generator, Requests, Responses, respond_all, unique_requests
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.stored import stored
from holisticbias_eval.progress import Progress

from .chat_server import Body, asked, is_trial, message

HERE = ModelIdentity("tiny", "Invented", None, "0" * 64, 1, "float32")
RUN = """
import sys
from pathlib import Path
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.generation.decoding import FILES
from holisticbias_eval.models.generation.requests import respond_all
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from tests.evaluation.generation.test_stored_responses import numbered

settings = ModelSettings(api_concurrency=2)
generator = ApiGenerator("tiny", sys.argv[1], print, FILES.read("sampled"), 0, settings=settings)
generator.hold = 0.0
print(respond_all(numbered(40), stored(generator, Path(sys.argv[2]), print), lambda _: None).text)
"""


def ignore(said: object) -> None:
    pass


def numbered(count: int, samples: int = 1) -> Requests:
    """Prompts 0, 1, 2 ... with samples each; odd ones have a persona."""
    which = np.repeat(np.arange(count), samples)
    personas = ["I like tea." if i % 2 else "" for i in which]
    return Requests([f"I'm blicket {i}." for i in which], personas, np.tile(np.arange(samples), count).astype(np.int32))


class Counting(Generator):
    """Answers with its seed and the request, three at a time in reverse, and keeps what it was asked."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(HERE, "causal", {"seed": str(seed)})
        self.seed = seed
        self.asked: list[tuple[str, int]] = []

    def generate(self, requests: Requests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        for rows in np.array_split(np.arange(len(requests))[::-1], max(1, -(-len(requests) // 3))):
            some = requests.take(rows)
            self.asked += zip(some.prompt, some.sample.tolist(), strict=True)
            texts = [f"{self.seed} {p} {a} {s}" for p, a, s in zip(some.prompt, some.persona, some.sample, strict=True)]
            ends = ["length" if sample else "stop" for sample in some.sample]
            progress(len(rows))
            yield rows, Responses(texts, ends, some.sample + 7, [""] * len(rows))


def made(requests: Requests, folder: Path, seed: int = 0) -> tuple[Responses, list[tuple[str, int]]]:
    """The responses from a new process's point of view, and what had to be made."""
    generator = Counting(seed)
    counted: list[int] = []
    found = respond_all(requests, stored(generator, folder, ignore), counted.append)
    assert sum(counted) == len(requests)
    return found, generator.asked


def expected(requests: Requests, seed: int = 0) -> list[str]:
    rows = zip(requests.prompt, requests.persona, requests.sample, strict=True)
    return [f"{seed} {prompt} {persona} {sample}" for prompt, persona, sample in rows]


def test_more_samples_prompts_and_seeds_only_add(tmp_path: Path) -> None:
    steps = [
        (numbered(4), 0, 4),
        (numbered(4, 3), 0, 8),
        (numbered(6, 3), 0, 6),
        (numbered(2), 1, 2),
        (numbered(6, 2), 0, 0),
    ]
    for requests, seed, new in steps:
        found, asked_for = made(requests, tmp_path, seed)
        assert found.text == expected(requests, seed)
        assert found.finish == ["length" if sample else "stop" for sample in requests.sample]
        assert found.tokens.tolist() == (requests.sample + 7).tolist()
        assert len(set(asked_for)) == len(asked_for) == new


def test_a_persona_is_part_of_what_is_asked(tmp_path: Path) -> None:
    requests = numbered(3)
    made(requests, tmp_path)
    others = Requests(requests.prompt, ["I like tea."] * 3, requests.sample)
    assert sorted(made(others, tmp_path)[1]) == [("I'm blicket 0.", 0), ("I'm blicket 2.", 0)]


def test_a_damaged_shard_is_made_again(tmp_path: Path) -> None:
    requests = numbered(6)
    made(requests, tmp_path)
    shards = sorted(tmp_path.rglob("*.parquet"))
    assert len(shards) == 2
    shards[0].write_bytes(shards[0].read_bytes()[:-9])
    found, asked_for = made(requests, tmp_path)
    assert found.text == expected(requests)
    assert len(asked_for) == 3


def test_equal_requests_are_answered_once() -> None:
    requests = numbered(3).take(np.array([2, 0, 2, 1, 0]))
    distinct, rows = unique_requests(requests)
    assert distinct.prompt == ["I'm blicket 2.", "I'm blicket 0.", "I'm blicket 1."]
    assert rows.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("after", [3, 17])
def test_a_killed_process_loses_what_is_under_way(after: int, chat_server: Any, tmp_path: Path) -> None:
    reached, resume = threading.Event(), threading.Event()

    def answering(body: Body, turn: int) -> tuple[int, Any]:
        if not is_trial(body) and turn > after + 1:
            reached.set()
            resume.wait(30)
        return 200, message(f"To {asked(body)}")

    server = chat_server(answering)
    command = [sys.executable, "-c", RUN, server.base, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=Path(__file__).parents[3])
    assert reached.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    resume.set()
    before = len(server.bodies)
    again = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    requests = numbered(40)
    texts = [f"{persona}\n{prompt}".strip() for prompt, persona in zip(requests.prompt, requests.persona, strict=True)]
    assert again.stdout.strip() == str([f"To {text}" for text in texts])
    repeated = set(server.answered[: before - 1]) & {asked(body) for body in server.bodies[before:]}
    assert len(repeated) <= 4, "two requests were under way, and two answered but perhaps not yet written"
    assert len(server.answered) == 40 + len(repeated)
