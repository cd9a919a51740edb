"""Choices of a chat server: by log-probabilities, by sampling, and answers that are neither letter."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.engines import store_of
from holisticbias_eval.models.model import ModelSignature, PairScorer
from holisticbias_eval.models.server.chooser import SAMPLES, ChatChooser
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Progress
from holisticbias_eval.tasks.pair_modes import PairRequests, pair_requests
from known import ignore
from quiet import QUIET

Answering = Callable[[Mapping[str, Any]], tuple[int, Any]]


def reply(content: str, listed: Mapping[str, float] | None = None) -> Mapping[str, Any]:
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": content}}
    if listed is not None:
        top = [{"token": token, "logprob": math.log(p)} for token, p in listed.items()]
        choice["logprobs"] = {"content": [{"token": content, "logprob": -0.1, "top_logprobs": top}]}
    return {"choices": [choice]}


@pytest.fixture
def start(chat_server: Any) -> Callable[[Answering], str]:
    """Start a server; returns its address."""
    return lambda answering: str(chat_server(lambda body, turn: answering(body)).base)


def choose(base: str, *questions: str) -> list[list[float]]:
    chooser = ChatChooser("m", base, ModelSettings(api_retries=1))
    found: list[list[float]] = chooser.score(pa.table({"question": questions}), lambda _: None).tolist()
    return found


LISTED = [
    ("A", {"A": 0.5, " A": 0.1, "b": 0.3, "The": 0.1}, (0.6, 0.3)),  # all spellings count
    ("A", {"A": 0.9, "The": 0.01}, (0.9, 0.01)),  # a letter that is not listed has the lowest probability
    ("No", {"No": 0.9}, None),  # an answer without a letter is missing
    ("A", {"A": 1.5}, (1.0, 1.0)),  # a probability above 1 is 1
]
Chances = tuple[float, float] | None


def expected(chances: Chances) -> Any:
    return pytest.approx([math.nan] * 2 if chances is None else [math.log(p) for p in chances], nan_ok=True)


@pytest.mark.parametrize(("content", "listed", "chances"), LISTED)
def test_log_probabilities(
    start: Callable[[Answering], str], content: str, listed: Mapping[str, float], chances: Chances
) -> None:
    assert choose(start(lambda body: (200, reply(content, listed))), "q")[0] == expected(chances)


def without_log_probabilities(body: Mapping[str, Any]) -> tuple[int, Any]:
    return 200, reply("**B**, because" if body.get("seed", 0) < 4 else "A.")


def refusing_log_probabilities(body: Mapping[str, Any]) -> tuple[int, Any]:
    return (400, {"error": "logprobs is not supported"}) if "logprobs" in body else (200, reply("I cannot say"))


def failing_with_log_probabilities(body: Mapping[str, Any]) -> tuple[int, Any]:
    """As llama-cpp-python's server."""
    failure = {"error": {"message": "logprobs is not supported for models created with logits_all=False"}}
    return (500, failure) if "logprobs" in body else (200, reply("A"))


def refusing_seeds(body: Mapping[str, Any]) -> tuple[int, Any]:
    for name in ("logprobs", "seed", "temperature"):
        if name in body:
            return 422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
    return 200, reply("A")


def test_a_server_is_sampled(start: Callable[[Answering], str]) -> None:
    sampled = choose(start(without_log_probabilities), "q")
    assert sampled[0] == expected((1.5 / (SAMPLES + 1), 4.5 / (SAMPLES + 1)))
    assert choose(start(refusing_log_probabilities), "q")[0] == expected(None)
    assert choose(start(failing_with_log_probabilities), "q")[0] == expected((5.5 / 6, 0.5 / 6))
    assert choose(start(refusing_seeds), "q")[0] == expected((5.5 / 6, 0.5 / 6))


@pytest.mark.parametrize("refusal", [(400, {"error": "policy"}), (403, {"error": "it was flagged"})])
def test_a_refused_question_is_missing(start: Callable[[Answering], str], refusal: tuple[int, Any]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        return refusal if "bad" in body["messages"][0]["content"] else (200, reply("A", {"A": 0.7, "B": 0.2}))

    assert choose(start(answering), "bad", "good") == [expected(None), expected((0.7, 0.2))]


@pytest.mark.parametrize("content", [{"choices": {}}, {"choices": [{"text": "A", "logprobs": {"content": "A"}}]}])
def test_an_answer_of_another_form_is_asked_for_again_and_then_one_line(
    start: Callable[[Answering], str], content: Any
) -> None:
    answers = iter([content, content])
    good = reply("A", {"A": 0.7, "B": 0.2})
    assert choose(start(lambda body: (200, next(answers, good))), "q")[0] == expected((0.7, 0.2))
    with pytest.raises(ModelError, match="not a completion: it must be a list"):
        choose(start(lambda body: (200, content)), "q")


SIZE = 200


class Chooser(PairScorer):
    """Answers by the length of the question, NaN for some, and fails after ``most`` questions."""

    def __init__(self, most: int = 10**9) -> None:
        self.most, self.asked = most, 0

    keys, block, kind = ("question",), 64, "causal"
    identity = ModelSignature.unknown("m", "behind a server")
    settings: Mapping[str, str] = {"server": "s"}

    def score(self, texts: pa.Table, progress: Progress) -> Floats:
        questions = texts["question"].to_pylist()
        if self.asked + len(questions) > self.most:
            raise KeyboardInterrupt
        self.asked += len(questions)
        sizes = np.array([len(q) for q in questions], float)
        return np.column_stack((np.where(sizes % 7 == 0, np.nan, -1 / sizes), -sizes))


def ask(chooser: Chooser, folder: Path | None) -> pa.Table:
    pairs = pa.table({
        "sentence": [f"a dromel {'x' * i}" for i in range(SIZE)],
        "other_sentence": [f"a tazzin {'y' * (i * 3)}" for i in range(SIZE)],
        "stereotyped": ["sentence"] * SIZE,
    })  # fmt: skip
    requests = pair_requests(chooser, pairs, store_of(chooser, folder, ignore) if folder else None)
    return requests.answer(QUIET).table


def test_choices_go_on_after_an_interruption(tmp_path: Path) -> None:
    whole = ask(Chooser(), None)
    with pytest.raises(KeyboardInterrupt):
        ask(Chooser(most=150), tmp_path)
    second = Chooser()
    found = ask(second, tmp_path)
    assert found.equals(whole)
    assert second.asked == 2 * SIZE - 128  # two blocks of 64 were kept
    third = Chooser()
    assert ask(third, tmp_path).equals(whole)
    assert third.asked == 0


def test_another_model_has_its_own_scores(tmp_path: Path) -> None:
    choosers = [Chooser(), Chooser()]
    choosers[1].identity = ModelSignature.unknown("n", "behind a server")
    stores = [store_of(chooser, tmp_path, ignore) for chooser in choosers]
    assert stores[0].folder != stores[1].folder


def test_repeated_keys_and_nothing(tmp_path: Path) -> None:
    chooser = Chooser()
    for store in (store_of(chooser, tmp_path, ignore), None):
        for texts in ([], ["a", "bcd", "a"]):
            asked = pa.table({"question": pa.array(texts, pa.large_string())})
            requests = PairRequests(chooser, asked, lambda scores: pa.table({"second": scores[:, 1]}), store)
            found = requests.answer(QUIET).table["second"].to_pylist()
            assert found == [-len(text) for text in texts]
