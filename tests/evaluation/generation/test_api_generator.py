"""Responses of a server on this machine, whose answers are in part hostile."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.engines import store_of, stored
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.requests import SamenessRecord, SampledRecord, respond_all
from holisticbias_eval.models.server.generator import request_seed
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

from .chat_server import CUT, Body, echo, generator, is_trial, message, one, only, prompts

PROMPTS = [f"I'm a blicket {i}." for i in range(7)]


def test_a_request_says_everything_and_its_seed_depends_on_it_alone(chat_server: Any) -> None:
    server = chat_server(echo)
    made = generator(server.base, seed=3, conversation=ConversationOptions(system="Be brief."))
    found = respond_all(prompts(*PROMPTS[:2], persona="I like tea.\n I have dogs. ", samples=2), made, ignore)
    text = "I like tea.\nI have dogs.\nI'm a blicket 0."
    seeds = [request_seed(3, p, "I like tea.\n I have dogs. ", s) for p in PROMPTS[:2] for s in range(2)]
    assert found.text[0] == f"{text} {seeds[0]}"
    assert [int(answer.rpartition(" ")[2]) for answer in found.text] == seeds
    assert len(set(seeds)) == 4
    (body,) = [body for body in server.bodies if body["seed"] == seeds[0]]
    assert body == {
        "model": "tiny", "temperature": 1.0, "top_p": 0.95, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0,
        "repeat_penalty": 1.0, "seed": seeds[0], "max_completion_tokens": 40,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
    }  # fmt: skip
    assert set(server.paths) == {"/v1/chat/completions"}
    assert made.settings["seed"] == "3"
    assert made.settings["decoding_top_p"] == "0.95"
    sent = "min_p 0.0, repeat_penalty 1.0, repetition_penalty 1.0, temperature 1.0, top_k 0, top_p 0.95"
    assert made.settings["sent"].startswith(sent)
    assert json.loads(made.settings["conversation_text"])["messages"][1]["content"] == "{persona}\n{prompt}"


def test_a_completions_server_continues_a_text_up_to_a_line_break(chat_server: Any) -> None:
    def answering(body: Body, turn: int) -> tuple[int, Any]:
        return 200, {"choices": [{"text": " Nice!\nA: And you?", "finish_reason": "length"}]}

    server = chat_server(answering)
    made = generator(server.base, endpoint="completions")
    found = respond_all(prompts("Hi.", persona="I like tea."), made, ignore)
    assert (found.text, found.finish) == (["Nice!"], ["stop"]), "this server ignores the stop"
    assert server.bodies[-1]["prompt"] == "I like tea.\nA: Hi.\nB:"
    assert server.bodies[-1]["stop"] == ["\n"]
    assert server.bodies[-1]["max_tokens"] == 40
    assert set(server.paths) == {"/v1/completions"}


def test_the_limit_of_tokens_that_a_server_knows_is_found(chat_server: Any) -> None:
    def older(body: Body, turn: int) -> tuple[int, Any]:  # as llama-cpp-python's: it ignores what it does not know
        written = body.get("max_tokens", 100)
        return 200, message("one " * written, tokens=written)

    greedy = generator(chat_server(older).base, DECODINGS.read("greedy"))
    assert greedy.settings["sent"] == "repeat_penalty 1.0, repetition_penalty 1.0, temperature 0.0, seed"
    assert respond_all(prompts(*PROMPTS), greedy, ignore).tokens.tolist() == [40] * 7


@pytest.mark.parametrize(("dies", "budget", "reason"), [(5, 0, "500"), (None, 5, "budget of 5 requests is spent")])
def test_responses_made_before_the_end_are_kept_and_not_asked_for_again(
    dies: int | None, budget: int, reason: str, chat_server: Any, tmp_path: Path
) -> None:
    def answering(body: Body, turn: int) -> tuple[int, Any]:
        return (500, {"error": "no more memory"}) if dies and turn > dies else echo(body, turn)

    server = chat_server(answering)
    made = generator(server.base, options=ModelSettings(api_concurrency=2, api_retries=0, api_budget=budget))
    store = store_of(made, tmp_path, ignore)
    with pytest.raises(ModelError, match=reason):
        respond_all(prompts(*PROMPTS), stored(made, tmp_path, ignore), ignore)
    assert store.read().num_rows == 4, "one of the five requests was a trial"
    server.answering = echo
    again = generator(server.base)
    before = len(server.answered)
    found = respond_all(prompts(*PROMPTS), stored(again, tmp_path, ignore), ignore)
    assert [text.rpartition(" ")[0] for text in found.text] == PROMPTS
    assert sorted(server.answered[before:]) == sorted({*PROMPTS} - {*server.answered[:4]})


def test_responses_come_in_any_order_and_every_one_is_counted(chat_server: Any) -> None:
    made = generator(chat_server(echo).base)
    counted: list[int] = []
    rows: list[int] = []
    for found, responses in made.generate(prompts(*PROMPTS, samples=3), counted.append):
        rows += found.tolist()
        assert len(responses) == len(found)
    assert sorted(rows) == list(range(21))
    assert sum(counted) == 21
    assert list(made.generate(prompts(), ignore)) == []


def test_whether_a_seed_gives_the_same_response_again_is_tried(chat_server: Any) -> None:
    requests = prompts(*PROMPTS)
    assert generator(chat_server(echo).base).probe(requests) == SampledRecord(tried=4, same=4, varies=True)
    by_turn = generator(chat_server(lambda body, turn: (200, message(f"{turn}"))).base)
    assert by_turn.probe(requests) == SampledRecord(tried=4, same=0, varies=True)
    assert by_turn.probe(prompts()) == SamenessRecord(tried=0, same=0)


def test_a_server_that_does_not_sample_is_noticed(chat_server: Any) -> None:
    """As `transformers serve`, if the model's own settings do not say that it samples."""
    notices: list[str] = []
    base = chat_server(lambda body, turn: (200, message("The likeliest."))).base
    greedy = generator(base, DECODINGS.read("greedy"), notice=notices.append)
    assert greedy.probe(prompts(*PROMPTS)) == SamenessRecord(tried=4, same=4)
    assert not notices
    found = generator(base, notice=notices.append).probe(prompts(*PROMPTS))
    assert found == SampledRecord(tried=4, same=4, varies=False)
    assert [said.startswith(f"{base} gives the same responses with another seed") for said in notices] == [True]


def test_a_change_of_the_server_is_said_once(chat_server: Any) -> None:
    def answering(body: Body, turn: int) -> tuple[int, Any]:
        return 200, {**message("one"), "system_fingerprint": f"fp_{turn % 2}\n" if turn > 1 else None}

    notices: list[str] = []
    made = generator(chat_server(answering).base, notice=notices.append, options=ModelSettings(api_concurrency=1))
    respond_all(prompts(*PROMPTS), made, ignore)
    assert notices == [
        "the server's configuration has changed from fp_0 to fp_1: responses before and after may differ"
    ]


@pytest.mark.parametrize(
    ("decoding", "more", "message"),
    [
        ("holisticbias-dialogpt", {}, "servers have no beam search, min_new_tokens, blocked_ngram, which the decoding"),
        ("sampled", {"conversation": ConversationOptions(separator="\n")}, "need --api-endpoint completions"),
        ("sampled", {"conversation": ConversationOptions(chat="off")}, "need --api-endpoint completions"),
        ("sampled", {"endpoint": "completions", "conversation": ConversationOptions(chat="on")}, "--api-endpoint chat"),
        (
            "sampled", {"endpoint": "completions", "conversation": ConversationOptions(system="x")},
            "--system is for chat templates",
        ),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_a_server(decoding: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        generator("http://127.0.0.1:9/v1", DECODINGS.read(decoding), **more)


def test_an_address_that_nothing_answers_at_is_one_line() -> None:
    with pytest.raises(ModelError, match="does not answer"):
        generator("http://127.0.0.1:9/v1", options=ModelSettings(api_retries=0))


@pytest.mark.parametrize("tokens", [90, None])
def test_a_server_that_ignores_every_limit_is_refused(tokens: int | None, chat_server: Any) -> None:
    long = message("one " * 90, tokens=tokens)
    with pytest.raises(ModelError, match=r"writes more than 40 tokens \(it ignores max_tokens\)"):
        generator(chat_server(lambda body, turn: (200, long)).base)
    with pytest.raises(ModelError, match="writes more than 40 tokens"):
        one(only(long), chat_server)


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
        (message('{"error": {"code": 429}}'), ('{"error": {"code": 429}}', "stop", 5, "")),
        (message("content_filter"), ("content_filter", "stop", 5, "")),
        (message("\ud800 <script>\x00"), ("\ufffd <script>\x00", "stop", 5, "")),
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

    options = ModelSettings(api_retries=20, api_wait=0.05)
    found = respond_all(prompts(*PROMPTS), generator(chat_server(answering).base, options=options), ignore)
    assert [text.rpartition(" ")[0] for text in found.text] == PROMPTS
    with pytest.raises(ModelError, match="does not answer"):
        one(only(CUT), chat_server)


@pytest.mark.parametrize(
    ("status", "content", "expected"),
    [
        (400, {"error": "too long\n\x1b[31m"}, r"answers with 400: .*too long"),
        (401, {}, "HOLISTICBIAS_API_KEY"),
        (500, b"<html>\n oops", "answers with 500: <html> oops$"),
    ],
)
def test_a_refused_request_is_one_clear_line(status: int, content: Any, expected: str, chat_server: Any) -> None:
    with pytest.raises(ModelError, match=expected) as raised:
        one(only(content, status), chat_server)
    assert not re.search(r"[\n\x1b]", str(raised.value))
