"""A chat model as judge, on a server of the tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluation.generation.chat_server import Body, ChatServer, asked, message

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.server.http import RequestError
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.engines.chat import ChatClassifier, read_label
from known import ignore

PROMPT = "Is this kind, curious or grumpy? Answer with one word.\n{text}"
NOTHING = [np.nan] * 3
Judge = Callable[[Callable[[str, Body], tuple[int, Any]]], tuple[Classifier, list[str], ChatServer]]


@pytest.fixture
def judge(card: Callable[..., Path], chat_server: Any) -> Judge:
    """Start a judge whose server answers with what a function gives for a text and the request."""
    file = card(engine="chat", activation="none", model="judge-1", prompt=PROMPT)

    def start(answering: Callable[[str, Body], tuple[int, Any]]) -> tuple[Classifier, list[str], ChatServer]:
        server = chat_server(lambda body, turn: answering(asked(body).split("\n", 1)[1], body))
        notices: list[str] = []
        settings = ModelSettings(api_concurrency=2, api_retries=0, api_timeout=20)
        classifier = ChatClassifier(CARDS.read(str(file)), server.base, settings, notices.append)
        return classifier, notices, server

    return start


def test_an_answer_must_be_a_label() -> None:
    labels = ("kind", "curious", "grumpy")
    thought = "<think>kind or\ngrumpy?</think>\n\ncurious"
    for answer, label in (("kind", 0), (" **Curious.**\n", 1), ('"GRUMPY"', 2), (thought, 1)):
        np.testing.assert_array_equal(read_label(answer, labels), np.eye(3)[label])
    for answer in ("not kind", "kind or curious", "<think>kind"):
        np.testing.assert_array_equal(read_label(answer, labels), NOTHING)


def test_each_text_is_asked_about_once(judge: Judge) -> None:
    answers = {"a": "kind", "b {text}": "Curious", "c": "what?", "d": None}
    classifier, notices, server = judge(lambda text, body: (200, message(answers[text])))
    values = classifier.probabilities(["a", "b {text}", "a", "c", "d", None], ignore)
    np.testing.assert_array_equal(values, [[1, 0, 0], [0, 1, 0], [1, 0, 0], NOTHING, NOTHING, NOTHING])
    assert notices == ["made-up: 2 of 4 answers are not a label"]
    assert server.paths == ["/v1/chat/completions"] * 4
    body = next(body for body in server.bodies if asked(body).endswith("\na"))
    assert (body["model"], body["temperature"]) == ("judge-1", 0)
    assert body["messages"] == [{"role": "user", "content": PROMPT.replace("{text}", "a")}]


def test_a_withheld_answer_is_missing_and_refused_settings_are_left_out(judge: Judge) -> None:
    def answering(text: str, body: Body) -> tuple[int, Any]:
        if "max_tokens" in body:
            return 400, {"error": "Unsupported parameter: 'max_tokens'"}
        for name in ("seed", "temperature"):
            if name in body:
                return 422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
        return 200, {"choices": []} if text == "bad" else message("kind")

    classifier, notices, server = judge(answering)
    values = classifier.probabilities(["bad", "a", "b"], ignore)
    np.testing.assert_array_equal(values, [NOTHING, [1, 0, 0], [1, 0, 0]])
    (left_out,) = [said for said in notices if "does not take" in said]
    assert {"seed", "temperature"} <= {*left_out.replace(":", "").split()}
    assert "1 of 3 answers are not a label" in notices[-1]
    assert server.bodies[-1]["max_completion_tokens"] == 512


def test_errors_before_the_first_answer_end_the_run_and_later_ones_are_missing_answers(judge: Judge) -> None:
    classifier, notices, _ = judge(lambda text, body: (200, message("kind")) if text == "a" else (400, {"error": "no"}))
    with pytest.raises(RequestError, match="400"):
        classifier.probabilities(["b"], ignore)
    np.testing.assert_array_equal(classifier.probabilities(["a"], ignore), [[1, 0, 0]])
    np.testing.assert_array_equal(classifier.probabilities(["b"], ignore), [NOTHING])
    assert "1 of 1 answers are not a label" in notices[-1]


def test_the_address_is_needed(card: Callable[..., Path]) -> None:
    file = card(engine="chat", activation="none", model="judge-1", prompt=PROMPT)
    with pytest.raises(EvaluationError, match="give its server's address with --classifier-api-base"):
        start_classifier(str(file), print)
