"""Choices of a chat server: by log-probabilities, by sampling, and answers that are neither letter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.server.chooser import SAMPLES, ChatChooser
from holisticbias_eval.models.settings import ModelSettings

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


def test_log_probabilities_of_all_spellings_count(start: Callable[[Answering], str]) -> None:
    base = start(lambda body: (200, reply("A", {"A": 0.5, " A": 0.1, "b": 0.3, "The": 0.1})))
    assert choose(base, "q")[0] == pytest.approx([math.log(0.6), math.log(0.3)])


def test_a_letter_that_is_not_listed_has_the_lowest_probability(start: Callable[[Answering], str]) -> None:
    base = start(lambda body: (200, reply("A", {"A": 0.9, "The": 0.01})))
    assert choose(base, "q")[0] == pytest.approx([math.log(0.9), math.log(0.01)])


def test_an_answer_without_a_letter_is_missing(start: Callable[[Answering], str]) -> None:
    base = start(lambda body: (200, reply("No", {"No": 0.9})))
    assert all(math.isnan(value) for value in choose(base, "q")[0])


def test_a_server_without_log_probabilities_is_sampled(start: Callable[[Answering], str]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        return 200, reply("**B**, because" if body.get("seed", 0) < 4 else "A.")

    found = choose(start(answering), "q")[0]
    assert found == pytest.approx([math.log(1.5 / (SAMPLES + 1)), math.log(4.5 / (SAMPLES + 1))])


def test_a_server_that_refuses_log_probabilities_is_sampled(start: Callable[[Answering], str]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        return (400, {"error": "logprobs is not supported"}) if "logprobs" in body else (200, reply("I cannot say"))

    assert all(math.isnan(value) for value in choose(start(answering), "q")[0])


def test_a_refused_question_is_missing(start: Callable[[Answering], str]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        refused = "bad" in body["messages"][0]["content"]
        return (400, {"error": "policy"}) if refused else (200, reply("A", {"A": 0.7, "B": 0.2}))

    found = choose(start(answering), "bad", "good")
    assert math.isnan(found[0][0])
    assert found[1] == pytest.approx([math.log(0.7), math.log(0.2)])


def test_a_withheld_answer_is_missing(start: Callable[[Answering], str]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        withheld = "bad" in body["messages"][0]["content"]
        return (403, {"error": "it was flagged"}) if withheld else (200, reply("A", {"A": 0.7, "B": 0.2}))

    found = choose(start(answering), "bad", "good")
    assert math.isnan(found[0][0])
    assert found[1] == pytest.approx([math.log(0.7), math.log(0.2)])


def test_a_server_that_refuses_a_seed_is_sampled_without_one(start: Callable[[Answering], str]) -> None:
    def answering(body: Mapping[str, Any]) -> tuple[int, Any]:
        for name in ("logprobs", "seed", "temperature"):
            if name in body:
                return 422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
        return 200, reply("A")

    assert choose(start(answering), "q")[0] == pytest.approx([math.log(5.5 / 6), math.log(0.5 / 6)])


def test_an_answer_of_another_form_is_one_line(start: Callable[[Answering], str]) -> None:
    with pytest.raises(ModelError, match="not a completion"):
        choose(start(lambda body: (200, {"choices": {}})), "q")
