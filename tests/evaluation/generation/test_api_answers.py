"""Answers of a server on this machine, in part hostile, and the responses in them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.requests import respond_all
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

from .chat_server import (
    CUT,
    Body,
    echo,
    generator,
    is_trial,
    message,
    one,
    only,
    prompts,
)

PROMPTS = [f"I'm a blicket {i}." for i in range(7)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (message("  Hello. "), ("Hello.", "stop", 5, "")),
        (message("Hello", "length", 40), ("Hello", "length", 40, "")),
        (message(None, "content_filter", 0), ("", "filtered", 0, "")),
        (message("Hel", "content_filter"), ("Hel", "filtered", 5, "")),
        (message(None, refusal="I cannot."), ("", "refused", 5, "I cannot.")),
        (message("Hm", refusal="No.", reasoning="First"), ("", "refused", 5, "First\nNo.")),
        (message("Hello", reasoning_content="Think."), ("Hello", "stop", 5, "Think.")),
        (message("Hello", reasoning={"steps": 3}), ("Hello", "stop", 5, "")),
        (message("<think>\nA plan.\n</think>\nHello"), ("Hello", "stop", 5, "A plan.")),
        (message("A plan.</think>Hello"), ("Hello", "stop", 5, "A plan.")),
        (message("<think>A long", "length"), ("", "length", 5, "A long")),
        (message([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]), ("Hello", "stop", 5, "")),
        (message(None), ("", "stop", 5, "")),
        (message("", None, None), ("", "stop", 0, "")),
        (message("Hello", ["odd"], -3), ("Hello", "stop", 0, "")),
        (message("Hello", tokens=10**30), ("Hello", "stop", 0, "")),
        (message("\ud800 <script>\x00"), ("? <script>\x00", "stop", 5, "")),
        ({"choices": [{"message": {"content": "Hi", "extra": [1]}}], "usage": None}, ("Hi", "stop", 0, "")),
    ],
)
def test_the_parts_of_an_answer(content: Any, expected: tuple[str, str, int, str], chat_server: Any) -> None:
    assert one(only(content), chat_server) == expected


def test_a_long_text_is_kept_whole(chat_server: Any) -> None:
    text, *_ = one(only(message("blicket" * 400_000)), chat_server)
    assert len(text) == 7 * 400_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html><body>Bad\ngateway</body></html>", "is not a completion: Expecting value"),
        (b"", "is not a completion"),
        (b"\xff\xfe", "is not a completion"),
        (b"[" * 100_000, "is not a completion"),
        ({"choices": {}}, "is not a completion"),
        ({"choices": [{"finish_reason": "stop"}]}, "neither a message nor a text"),
        ({"choices": [{"message": {"content": 5}}]}, "is not a completion"),
        ({"error": "overloaded"}, "the key is missing"),
        ([], "is not a completion"),
    ],
)
def test_an_unusable_answer_is_asked_for_again_and_then_one_clear_line(
    content: Any, reason: str, chat_server: Any
) -> None:
    seen: list[int] = []

    def answering(body: Body, turn: int) -> tuple[int, Any]:
        seen.append(turn)
        return 200, message("one") if is_trial(body) or len(seen) > 3 else content

    assert one(answering, chat_server)[0] == "one", "two unusable answers do no harm"
    with pytest.raises(ModelError, match=reason) as raised:
        one(only(content), chat_server)
    assert "\n" not in str(raised.value)


def test_a_busy_server_and_a_broken_connection_are_tried_again(chat_server: Any) -> None:
    def answering(body: Body, turn: int) -> tuple[int, Any]:
        return [(429, {"error": "slow down"}), (200, CUT), echo(body, turn)][turn % 3]

    found = respond_all(
        prompts(*PROMPTS),
        generator(chat_server(answering).base, options=ModelSettings(api_retries=20, api_wait=0.05)),
        ignore,
    )
    assert [text.rpartition(" ")[0] for text in found.text] == PROMPTS
    with pytest.raises(ModelError, match="does not answer"):
        one(lambda body, turn: (200, message("one") if is_trial(body) else CUT), chat_server)


@pytest.mark.parametrize(
    ("status", "content", "expected"),
    [
        (400, {"error": {"code": "content_filter", "message": "The response was filtered"}}, None),
        (400, {"error": "too long\n\x1b[31m"}, r"answers with 400: .*too long"),
        (401, {}, "HOLISTICBIAS_API_KEY"),
        (500, b"<html>\n oops", "answers with 500: <html> oops$"),
    ],
)
def test_a_refused_request_is_a_filtered_response_or_one_clear_line(
    status: int, content: Any, expected: str | None, chat_server: Any
) -> None:
    def answering(body: Body, turn: int) -> tuple[int, Any]:
        return (200, message("one")) if is_trial(body) else (status, content)

    if expected is None:
        assert one(answering, chat_server) == ("", "filtered", 0, "")
        return
    with pytest.raises(ModelError, match=expected) as raised:
        one(answering, chat_server)
    assert not re.search(r"[\n\x1b]", str(raised.value))
