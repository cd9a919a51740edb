"""Servers like Mistral's, Azure's and OpenRouter's: refused settings, withheld answers, errors in a 200."""

from typing import Any

import pytest

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.generation.decoding import DECODINGS, Decoding
from holisticbias_eval.models.generation.requests import respond_all
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

from .chat_server import Body, echo, generator, message, only, prompts

Answer = tuple[int, Any]
PROMPTS = [f"I'm a blicket {i}." for i in range(6)]
PLAIN = Decoding(id="plain", method="sample", max_new_tokens=40, source="a test")
COLD, NUCLEUS = (PLAIN.model_copy(update=change) for change in ({"temperature": 0.7}, {"top_p": 0.9}))
BOTH = "repeat_penalty 1.0, repetition_penalty 1.0"
COOLER = PLAIN.model_copy(update={"temperature": 0.7, "top_p": 0.9})


def mistral(body: Body, turn: int) -> Answer:
    """Forbids what it does not know, all at once, and names each."""
    known = {"model", "messages", "temperature", "top_p", "max_tokens", "response_format"}
    extra = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"} for name in body.keys() - known]
    return (422, {"object": "error", "detail": extra}) if extra else (200, message("one"))


def reasoning(body: Body, turn: int) -> Answer:
    """As OpenAI's reasoning models: the default temperature alone, and no other limit."""
    for name in ("top_k", "min_p", "repetition_penalty", "repeat_penalty"):
        if name in body:
            return 400, {"error": {"message": f"Unrecognized request argument supplied: {name}"}}
    if "max_tokens" in body:
        return 400, {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    for name in ("temperature", "top_p"):
        if name in body:
            return 400, {"error": {"message": f"Unsupported value: '{name}'. Only the default (1) is supported."}}
    return 200, message("one")


def either(body: Body, turn: int) -> Answer:
    """As Anthropic's: temperature or top_p."""
    if "temperature" in body and "top_p" in body:
        return 400, {"error": "`temperature` and `top_p` cannot both be specified for this model."}
    return 200, message("one")


def older(body: Body, turn: int) -> Answer:
    """Knows one name of the penalty, and refuses the other."""
    refused = "repeat_penalty" in body
    return (400, {"error": "unknown field repeat_penalty"}) if refused else (200, message("one"))


def mute(body: Body, turn: int) -> Answer:
    """Refuses without a name."""
    return (400, {"error": "bad request"}) if {"seed", "top_p", "min_p"} & body.keys() else (200, message("one"))


@pytest.mark.parametrize(
    ("server", "decoding", "sent", "not_sent"),
    [
        (mistral, PLAIN, "temperature 1.0, top_p 1.0", "top_k 0, min_p 0.0, repetition_penalty 1.0, seed"),
        (reasoning, PLAIN, "seed", "top_k 0, min_p 0.0, repetition_penalty 1.0, temperature 1.0, top_p 1.0"),
        (either, COLD, f"min_p 0.0, {BOTH}, temperature 0.7, top_k 0, seed", "top_p 1.0"),
        (either, NUCLEUS, f"min_p 0.0, {BOTH}, top_k 0, top_p 0.9, seed", "temperature 1.0"),
        (older, PLAIN, "min_p 0.0, repetition_penalty 1.0, temperature 1.0, top_k 0, top_p 1.0, seed", None),
        (mute, PLAIN, "", "top_k 0, min_p 0.0, repetition_penalty 1.0, temperature 1.0, top_p 1.0, seed"),
        (echo, PLAIN, f"min_p 0.0, {BOTH}, temperature 1.0, top_k 0, top_p 1.0, seed", None),
    ],
)  # fmt: skip
def test_neutral_settings_that_a_server_refuses_are_left_out_and_signed(
    server: Any, decoding: Decoding, sent: str, not_sent: str | None, chat_server: Any
) -> None:
    """The names of stored responses depend on both texts: a setting with two names is listed once."""
    notices: list[str] = []
    made = generator(chat_server(server).base, decoding, notice=notices.append)
    assert made.settings["sent"] == sent
    assert made.settings.get("not_sent") == not_sent
    assert [f"does not take {made.settings['not_sent']}: its own" in said for said in notices] == (
        [True] if not_sent else []
    )
    assert respond_all(prompts("Hi."), made, ignore).finish == ["stop"]


def unknown(body: Body, turn: int) -> Answer:
    return 404, {"error": f"no model, try {turn}"}


def test_the_decisive_refusal_is_shown(chat_server: Any) -> None:
    both = r"cannot both be specified.*does not take temperature and top_p, choose a --decoding without"
    with pytest.raises(EvaluationError, match=both):
        generator(chat_server(either).base, COOLER)
    value = r"Unsupported value: 'temperature'.*if it does not take temperature, choose"
    with pytest.raises(EvaluationError, match=value):
        generator(chat_server(reasoning).base, COOLER)
    with pytest.raises(EvaluationError, match=r"top_k.*if it does not take top_k, choose a --decoding without it"):
        generator(chat_server(mistral).base, DECODINGS.read("bold-gpt2"))
    with pytest.raises(EvaluationError, match=r"answers with 404: .*no model, try \d\d?"):
        generator(chat_server(unknown).base, PLAIN)


WITHHELD: list[Answer] = [
    (200, {"choices": [], "usage": {"completion_tokens": 0}}),
    (200, {"choices": [{"index": 0, "message": None, "finish_reason": "content_filter"}]}),
    (200, {"choices": [{"index": 0, "finish_reason": "content_filter"}]}),
    (200, message(None, "content_filter", 0)),
    (400, {"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (403, {"error": {"code": 403, "message": "Your input was flagged", "metadata": {"flagged_input": "blicket"}}}),
    (403, {"error": {"message": "The model requires moderation"}}),
    (200, {"error": {"code": 403, "message": "Your input was flagged"}}),
    (200, {"error": {"code": "content_filter", "message": "The prompt was filtered"}}),
]


@pytest.mark.parametrize("answer", WITHHELD)
def test_a_withheld_answer_is_filtered_and_the_run_goes_on(answer: Answer, chat_server: Any) -> None:
    def answering(body: Body, turn: int) -> Answer:
        return answer if "blicket 2" in str(body) else echo(body, turn)

    found = respond_all(prompts(*PROMPTS), generator(chat_server(answering).base), ignore)
    assert found.finish == ["stop", "stop", "filtered", "stop", "stop", "stop"]
    assert found.text[2] == ""


def test_a_403_about_the_key_ends_the_run(chat_server: Any) -> None:
    for status, answer in ((403, {"error": "no access"}), (200, {"error": {"code": 403, "message": "no access"}})):
        with pytest.raises(ModelError, match="HOLISTICBIAS_API_KEY"):
            generator(chat_server(lambda body, turn, s=status, a=answer: (s, a)).base)


def test_a_neutral_setting_that_is_refused_later_ends_the_run(chat_server: Any) -> None:
    """Responses before and after would differ."""
    made = generator(chat_server(only({"error": "top_k is unknown"}, 400)).base, PLAIN)
    with pytest.raises(ModelError, match=r"answers with 400: .*top_k"):
        respond_all(prompts("Hi."), made, ignore)


@pytest.mark.parametrize(
    "busy",
    [
        {"error": {"code": 429, "message": "Rate limit exceeded"}},
        {"error": {"code": "502", "message": "Provider returned error"}},
        {"choices": [{"error": {"code": 502, "message": "Upstream"}, "message": {"content": ""}}]},
    ],
)
def test_an_error_inside_an_answer_is_waited_for(busy: Any, chat_server: Any) -> None:
    def answering(body: Body, turn: int) -> Answer:
        return (200, busy) if turn % 3 else echo(body, turn)

    options = ModelSettings(api_concurrency=1, api_retries=4, api_wait=0.05)
    found = respond_all(prompts(*PROMPTS), generator(chat_server(answering).base, options=options), ignore)
    assert [text.rpartition(" ")[0] for text in found.text] == PROMPTS
    with pytest.raises(ModelError, match=r"answers with (429|502)"):
        generator(chat_server(lambda body, turn: (200, busy)).base)


def test_a_query_of_an_address_is_sent_with_each_request(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLISTICBIAS_API_KEY", "secret-key-123")
    server = chat_server(echo)
    base = f"{server.base}/openai/deployments/tiny?api-version=2024-10-21"
    made = generator(base)
    assert set(server.paths) == {"/v1/openai/deployments/tiny/chat/completions?api-version=2024-10-21"}
    assert made.settings["server"] == base
    keys = {(headers.get("api-key"), headers.get("Authorization")) for headers in server.headers}
    assert keys == {("secret-key-123", "Bearer secret-key-123")}
