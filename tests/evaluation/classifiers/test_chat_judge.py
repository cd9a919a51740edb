"""A chat model as judge, on a server of the tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.classifiers.chat_judge import read_label
from holisticbias_eval.classifiers.engines import start_classifier
from holisticbias_eval.classifiers.stored import classify_texts
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.settings import ModelSettings

Reply = Callable[[dict[str, Any]], tuple[int, Any]]
PROMPT = "Is this kind, curious or grumpy? Answer with one word.\n{text}"


class Server:
    """Answers requests with ``reply``, and keeps their bodies."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.reply: Reply = lambda body: (200, content("kind"))
        outer = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # else each answer waits for an acknowledgement

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({**body, "path": self.path})
                status, answer = outer.reply(body)
                sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name is fixed
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def content(text: str | None) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def asked_text(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"]).split("\n", 1)[1]


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.stop()


@pytest.fixture
def judge(card: Callable[..., Path], server: Server) -> Callable[..., tuple[Any, list[str]]]:
    file = card(engine="chat", activation="none", model="judge-1", prompt=PROMPT)

    def start() -> tuple[Any, list[str]]:
        notices: list[str] = []
        options = ModelSettings(api_concurrency=2, api_retries=0, api_timeout=20)
        return start_classifier(str(file), notices.append, api_base=server.base, settings=options), notices

    return start


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("kind", [1, 0, 0]),
        (" **Curious.**\n", [0, 1, 0]),
        ('"GRUMPY"', [0, 0, 1]),
        ("<think>kind or\ngrumpy?</think>\n\ncurious", [0, 1, 0]),
        ("not kind", None),
        ("kind or curious", None),
        ("", None),
        ("<think>kind", None),
    ],
)
def test_an_answer_must_be_a_label(answer: str, expected: list[int] | None) -> None:
    found = read_label(answer, ("kind", "curious", "grumpy"))
    np.testing.assert_array_equal(found, [np.nan] * 3 if expected is None else expected)


def test_each_text_is_asked_about_once(judge: Callable[..., Any], server: Server) -> None:
    answers = {"a": "kind", "b {text}": "Curious", "c": "what?", "d": None}
    server.reply = lambda body: (200, content(answers[asked_text(body)]))
    classifier, notices = judge()
    values = classify_texts(classifier, ["a", "b {text}", "a", "c", "d", None], None, lambda done: None)
    nothing = [np.nan] * 3
    np.testing.assert_array_equal(values, [[1, 0, 0], [0, 1, 0], [1, 0, 0], nothing, nothing, nothing])
    assert notices == ["made-up: 2 of 4 answers are not a label"]
    assert len(server.asked) == 4
    body = next(body for body in server.asked if asked_text(body) == "a")
    assert (body["path"], body["model"], body["temperature"]) == ("/v1/chat/completions", "judge-1", 0)
    assert body["messages"] == [{"role": "user", "content": PROMPT.replace("{text}", "a")}]


def test_a_refused_text_has_no_probabilities(judge: Callable[..., Any], server: Server) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        return (400, {"error": "content policy"}) if asked_text(body) == "bad" else (200, content("kind"))

    server.reply = reply
    classifier, _ = judge()
    classify_texts(classifier, ["first"], None, lambda done: None)
    values = classify_texts(classifier, ["bad", "b"], None, lambda done: None)
    np.testing.assert_array_equal(values, [[np.nan] * 3, [1, 0, 0]])


def test_a_server_that_knows_the_newer_limit_only(judge: Callable[..., Any], server: Server) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        old = "max_tokens" in body
        return (400, {"error": "Unsupported parameter: 'max_tokens'"}) if old else (200, content("kind"))

    server.reply = reply
    classifier, _ = judge()
    values = classify_texts(classifier, ["a", "b", "c"], None, lambda done: None)
    assert values[:, 0].tolist() == [1, 1, 1]
    assert server.asked[-1]["max_completion_tokens"] == 512


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (200, b"<html>", "its answer is not a completion"),
        (200, {"choices": {}}, "its answer is not a completion"),
        (200, {"choices": [{"finish_reason": "stop"}]}, "neither a message nor a text"),
        (404, {"error": "no such model"}, "answers with 404: .*no such model"),
        (401, {}, r"asks for a key: set \$HOLISTICBIAS_API_KEY"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(
    status: int, answer: Any, message: str, judge: Callable[..., Any], server: Server
) -> None:
    server.reply = lambda body: (status, answer)
    classifier, _ = judge()
    with pytest.raises(EvaluationError, match=message):
        classify_texts(classifier, ["a", "b"], None, lambda done: None)


def test_the_address_is_needed(card: Callable[..., Path]) -> None:
    file = card(engine="chat", activation="none", model="judge-1", prompt=PROMPT)
    with pytest.raises(EvaluationError, match="give its server's address with --api-base"):
        start_classifier(str(file), print)


def test_a_withheld_answer_is_missing_and_refused_settings_are_left_out(
    judge: Callable[..., Any], server: Server
) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        for name in ("seed", "temperature"):
            if name in body:
                return 422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
        return (200, {"choices": []}) if "bad" in asked_text(body) else (200, content("kind"))

    server.reply = reply
    classifier, notices = judge()
    values = classify_texts(classifier, ["bad", "a", "b"], None, lambda done: None)
    np.testing.assert_array_equal(values, [[np.nan] * 3, [1, 0, 0], [1, 0, 0]])
    (left_out,) = [said for said in notices if "does not take" in said]
    assert {"seed", "temperature"} <= {*left_out.replace(":", "").split()}
    assert "1 of 3 answers are not a label" in notices[-1]
