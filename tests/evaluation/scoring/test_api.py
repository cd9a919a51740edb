"""A small server over a tiny model that speaks the completions protocol, with faults switched on one at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.engines import store_of, stored
from holisticbias_eval.models.likelihood.spans import parts, whole
from holisticbias_eval.models.server.alignment import align
from holisticbias_eval.models.server.scorer import ApiScorer
from holisticbias_eval.models.settings import ModelSettings
from known import ignore

from .small_models import assert_scores, make_tokenizer, plain_part, plain_values, plainly

TEXTS = ["I'm a tall guy.", "I'm a Deaf woman.", "I love señoras 🙂.", "Hi! I'm an elderly veteran."]
SHOWN = {
    "start token", "start token in the text", "start token not shown", "two start tokens", "other text",
    "start token at times",
}  # fmt: skip
"""Ways of servers to show the tokens of a prompt, which they read after ``<s>``."""
QUICK = ModelSettings(api_batch=3, api_concurrency=2, api_retries=2, api_wait=0.05)


class Server:
    """Answers like llama.cpp's and vLLM's servers, except for its ``fault``."""

    def __init__(self, model: Any, tokenizer: Any, fault: str) -> None:
        self.model, self.tokenizer, self.fault = model, tokenizer, fault
        self.server: Any = None

    @property
    def base(self) -> str:
        return str(self.server.base)

    @property
    def requests(self) -> int:
        return len(self.server.bodies)

    def likeliest(self, ids: list[int]) -> list[float]:
        """The log-probability of the likeliest token after each token but the last."""
        import torch

        with torch.no_grad():
            logits = self.model(torch.tensor([ids])).logits[0, :-1].double()
        values: list[float] = torch.log_softmax(logits, -1).amax(-1).tolist()
        return values

    def shown(self, prompt: str, ids: list[int], extra: int) -> tuple[list[str], Any, Any]:
        """The tokens as other servers show them, after a token that they put before the prompt, and their values."""
        pieces = [self.tokenizer.decode([i]) for i in ids]  # a part of a character as U+FFFD
        if self.fault == "other text":
            pieces[2] = "?"
        start = self.tokenizer.convert_tokens_to_ids("<s>")
        read = [start, *ids]
        values = [None, *(-plainly(self.model, read)).tolist()] + [-1.0] * extra
        likeliest = [None, *self.likeliest(read)] + [-0.5] * extra
        if self.fault == "two start tokens":
            return ["[x]", "<s>", *pieces, *["!"] * extra], [None, *values], [None, *likeliest]
        first = "" if self.fault == "start token not shown" else "<s>"
        if self.fault == "start token at times" and prompt.startswith("I love"):
            return [*pieces, *["!"] * extra], [None, *values[2:]], [None, *likeliest[2:]]
        return [first, *pieces, *["!"] * extra], values, likeliest

    def complete(self, prompt: str, body: dict[str, Any], turn: int) -> dict[str, Any]:
        encoded = self.tokenizer(prompt, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = encoded["input_ids"], [begin for begin, _ in encoded["offset_mapping"]]
        values: list[float | None] = [None, *(-plainly(self.model, ids)).tolist()]
        likeliest = [None, *self.likeliest(ids)]
        if self.fault == "after":  # as llama-cpp-python's server does
            likeliest = [None, *self.likeliest([*ids, 0])[1:]]
            values = [None, *(-plainly(self.model, ids + ids[-1:])[1:]).tolist()]
        extra = {"unlimited": 6, "0 means no limit": int(body["max_tokens"]) or 6}.get(self.fault, body["max_tokens"])
        tokens = [prompt[a:b] for a, b in zip(offsets, [*offsets[1:], len(prompt)], strict=True)] + ["!"] * extra
        offsets += [len(prompt) + i for i in range(extra)]
        values += [-1.0] * extra
        if self.fault in SHOWN:
            tokens, values, likeliest = self.shown(prompt, ids, extra)
            offsets = [0, *map(int, np.cumsum([len(token) for token in tokens])[:-1])]
        if self.fault == "first token":
            values[0] = -2.5
        if self.fault == "chance":
            values = [None, *(-v * (1 + turn) for v in range(1, len(values)))]
        if self.fault == "length":
            values = [None, *(-len(values) - v for v in range(1, len(values)))]
        if self.fault == "constant":
            values = [-1.0] * len(values)
        if self.fault == "missing values":
            values[3] = None
        token = "\ud83d" if self.fault == "half a character" else "x"
        top = None if self.fault == "no top" else [value if value is None else {token: value} for value in likeliest]
        logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets, "top_logprobs": top}
        text = "" if self.fault == "no echo" else prompt + "!" * extra
        text = f"<s> {text}" if self.fault == "start token in the text" else text
        return {"text": text, "logprobs": None if self.fault == "no logprobs" else logprobs}

    def answer(self, body: dict[str, Any], turn: int) -> tuple[int, Any]:
        fault, prompts = self.fault, body["prompt"]
        if fault == "busy" and turn % 2:
            return 429, {"error": "slow down"}
        if fault == "broken" or (fault == "dies" and turn > 7):
            return 500, {"error": "no more memory"}
        if fault == "key" and "Authorization" not in self.server.headers[-1]:
            return 401, {"error": "who are you"}
        if fault == "no lists" and isinstance(prompts, list):
            return 422, {"error": "prompt must be a string"}
        if fault == "one token at least" and not body["max_tokens"]:
            return 400, {"error": "max_tokens must be at least 1"}
        if fault == "not json" or (fault == "not json at times" and turn % 2):
            return 200, "hello"
        prompts = prompts if isinstance(prompts, list) else [prompts]
        choices = [{"index": i, **self.complete(p, body, turn)} for i, p in enumerate(prompts)]
        if fault == "byte order mark":
            return 200, b"\xef\xbb\xbf" + json.dumps({"choices": choices}).encode()
        return 200, {"choices": choices[:1] if fault == "first of a list" else choices[::-1]}


@pytest.fixture
def serve(gpt2: Any, chat_server: Any) -> Callable[[str], Server]:
    def start(fault: str) -> Server:
        made = Server(gpt2, make_tokenizer(), fault)
        made.server = chat_server(made.answer)
        return made

    return start


@pytest.mark.parametrize(
    "fault",
    [
        "", "no lists", "first of a list", "one token at least", "0 means no limit", "busy", "not json at times",
        "half a character", "byte order mark",
    ],
)  # fmt: skip
def test_what_a_server_can_do_without_is_worked_around(fault: str, serve: Any, gpt2: Any) -> None:
    server, tokenizer = serve(fault), make_tokenizer()
    notices: list[str] = []
    scorer = ApiScorer("tiny", server.base, notices.append, QUICK)
    texts = [*TEXTS, ""]
    scores = scorer.score(whole(texts), ignore)
    assert_scores(scores, plain_values(gpt2, tokenizer, texts, []))
    assert len(notices) == (fault in {"no lists", "first of a list"})
    assert "not counted" in scorer.settings["first_token"]


@pytest.mark.parametrize("shown", sorted(SHOWN - {"other text", "start token at times"}))
def test_tokens_are_aligned_with_the_text_however_a_server_shows_them(shown: str, serve: Any, gpt2: Any) -> None:
    """As vLLM with Llama, Gemma or Mistral: ``<s>`` is listed, offsets count it, and parts of characters are U+FFFD."""
    server, tokenizer = serve(shown), make_tokenizer()
    scorer = ApiScorer("tiny", server.base, ignore, QUICK)
    texts = [*TEXTS, "🙂 señora", ""]
    scores = scorer.score(whole(texts), ignore)
    start = tokenizer.convert_tokens_to_ids("<s>")
    assert_scores(scores, plain_values(gpt2, tokenizer, texts, [start]))
    assert scores.bytes.tolist() == [len(text.encode()) for text in texts]
    assert scorer.first_token_scored
    listed = {"start token not shown": "counted, as the server", "two start tokens": "given the tokens '[x]<s>'"}
    said = listed.get(shown, "counted, given the token '<s>', which the server prepends")
    assert said in scorer.settings["first_token"]
    phrase = scorer.score(parts([TEXTS[2]], ["señoras"], ["Hi! "]), ignore)
    inside = plain_part(gpt2, tokenizer, f"Hi! {TEXTS[2]}", 11, 18, [start])
    assert phrase.nll[0] == pytest.approx(sum(inside), abs=1e-4)
    assert phrase.bytes[0] == len("señoras".encode())


@pytest.mark.parametrize(
    ("prompt", "tokens", "most", "begins"),
    [
        ("Hi there", ["Hi", " there"], 1, [0, 2]),
        ("Hi there", ["Hi", " there", "!"], 1, [0, 2]),
        ("Hi there", ["Hi", " there", "!", "!"], 1, None),
        ("Hi there", ["Hi", " there", "!", "!"], 2, [0, 2]),
        ("Hi there", ["Hi", "there"], 1, [0, 2]),
        ("Hi there", [" Hi", " there", ""], 1, [0, 2]),
        ("Hithere", ["Hi", " there"], 1, None),
        ("Hi there", ["Hi", " the"], 1, None),
        ("Hi there", ["Hi", " therefore"], 1, None),
        ("Hi there", ["<s>", "Hi", " there"], 1, None),
        ("ñ🙂!", ["\ufffd", "\ufffd", "\ufffd", "\ufffd", "!", "x"], 1, [0, 0, 1, 1, 2]),
        ("ñ🙂!", ["ñ", "\ufffd\ufffd", "\ufffd!"], 0, [0, 1, 1]),
        ("ñ🙂!", ["ñ", "", "", "!", ""], 1, [0, 1, 1, 2]),
        ("ñ🙂!", ["ñ", "", "🙂", "!"], 1, [0, 1, 1, 2]),
        ("señor", ["se", "or"], 1, [0, 2]),
        ("señor", ["sen", "or"], 1, None),
        ("🙂!", [r"bytes:\xf0\x9f", r"bytes:\x99\x82", "!"], 0, [0, 0, 1]),
        ("🙂!", [r"bytes:\xf0\x9e", r"bytes:\x99\x82", "!"], 0, None),
        ("a\ufffdb", ["a", "\ufffd", "b"], 0, [0, 1, 2]),
        ("abc", ["\ufffd", "bc"], 0, None),
        ("a b ", ["a", "b", ""], 0, [0, 1, 3]),
        ("", ["x"], 1, []),
    ],
)
def test_alignment(prompt: str, tokens: list[str], most: int, begins: list[int] | None) -> None:
    found = align(prompt, tokens, most)
    assert (None if found is None else found.tolist()) == begins


@pytest.mark.parametrize("token", ["\ufffd", "", "🙂", "\ufffd" * 100])
def test_a_hostile_list_of_tokens_is_refused_soon(token: str) -> None:
    """Each token may end at several places: the number of ways to align them all grows exponentially."""
    assert align("🙂" * 1000 + "!", [token] * 1000 + ["?"] * 5, 1) is None


def test_the_first_token_can_be_left_out_or_sent_to_a_server(serve: Any, gpt2: Any) -> None:
    tokenizer = make_tokenizer()
    for chosen, before, said in (
        ("none", [], "not counted: left out with --first-token"),
        ("</s>", ["</s>"], "given the token '</s>', chosen with --first-token"),
    ):
        scorer = ApiScorer("tiny", serve("").base, ignore, QUICK.model_copy(update={"first_token": chosen}))
        values = plain_values(gpt2, tokenizer, TEXTS, tokenizer.convert_tokens_to_ids(before))
        assert_scores(scorer.score(whole(TEXTS), ignore), values)
        assert said in scorer.settings["first_token"]
        assert scorer.first_token_scored is (chosen != "none")


def test_a_first_token_that_a_server_reads_as_several_is_refused(serve: Any) -> None:
    with pytest.raises(ModelError, match=r"does not read '<\|other\|>' before a text as one token"):
        ApiScorer("tiny", serve("").base, ignore, ModelSettings(api_retries=0, first_token="<|other|>"))  # noqa: S106


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("no logprobs", "ignores logprobs"),
        ("no echo", "ignores echo"),
        ("unlimited", "ignores max_tokens"),
        ("chance", "different log-probabilities"),
        ("length", "the beginning of a prompt other log-probabilities"),
        ("constant", "all tokens the same"),
        ("missing values", "no log-probability"),
        ("after", "its log-probabilities are shifted"),
        ("no top", "which token is the likeliest"),
        ("broken", "answers with 500"),
        ("not json", "is not a completion"),
        ("key", "HOLISTICBIAS_API_KEY"),
        ("other text", "its tokens do not make up the prompt"),
        ("start token at times", "its tokens do not make up the prompt"),
    ],
)
def test_a_server_that_cannot_be_relied_upon_is_refused(fault: str, reason: str, serve: Any) -> None:
    with pytest.raises(ModelError, match=reason):
        ApiScorer("tiny", serve(fault).base, ignore, ModelSettings(api_retries=0)).score(whole(TEXTS), ignore)


def test_a_first_token_with_a_likelihood_is_counted(serve: Any) -> None:
    scorer = ApiScorer("tiny", serve("first token").base, ignore, QUICK)
    with_first, without = (s.score(whole(TEXTS), ignore) for s in (scorer, ApiScorer("t", serve("").base, ignore)))
    np.testing.assert_allclose(with_first.nll - without.nll, 2.5, atol=1e-6)
    assert (with_first.tokens - without.tokens).tolist() == [1] * 4


@pytest.mark.parametrize(("fault", "budget", "reason"), [("dies", 0, "500"), ("", 7, "budget of 7 requests")])
def test_what_was_scored_before_the_end_is_kept(
    fault: str, budget: int, reason: str, serve: Any, tmp_path: Path
) -> None:
    server = serve(fault)
    options = ModelSettings(api_batch=1, api_concurrency=1, api_retries=0, api_budget=budget)
    scorer = ApiScorer("tiny", server.base, ignore, options)
    scorer.block_size = 1
    store = store_of(scorer, tmp_path, ignore)
    with pytest.raises(ModelError, match=reason):
        stored(scorer, tmp_path, ignore).score(whole(TEXTS), ignore)
    assert store.read().num_rows == 2
    server.fault = ""
    again = ApiScorer("tiny", server.base, ignore, QUICK)
    done = server.requests
    assert len(stored(again, tmp_path, ignore).score(whole(TEXTS), ignore).nll) == 4
    assert server.requests == done + 1
