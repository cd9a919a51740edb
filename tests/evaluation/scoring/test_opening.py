from typing import Any

import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.likelihood.spans import whole
from known import ignore
from tiny_models import as_loaded, surround

from .small_models import make_tokenizer, plain_part

CHATML = (
    "{% for m in messages %}{{ '<s>' + m['role'] + ':' + m['content'] | trim + '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<s>assistant:' }}{% endif %}"
)
ALTERNATING = (
    "{% if messages[0]['role'] != 'user' %}{{ raise_exception('the user begins') }}{% endif %}"
    "{% for m in messages %}{{ '[' + m['role'] + '] ' + m['content'] }}{% endfor %}"
)
DATED = "{{ 'Today: ' + strftime_now('%d %b %Y') + '\n' }}" + CHATML
MUTE = "{% for m in messages %}{{ m['role'] }}{% endfor %}"
SEPARATOR = {"bos_token": "<s>", "eos_token": "<s>"}
TURN = {"bos_token": "<s>", "eos_token": "</s>"}
END = "<|endoftext|>"
CHAT = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}
BOTH_TURN = {"bos_token": "<|im_end|>", "eos_token": "<|im_end|>"}
SMOLLM = CHAT | {"unk_token": END}
QWEN = {"eos_token": "<|im_end|>", "pad_token": END}
LLAMA = {"eos_token": "<|eot_id|>", "pad_token": "<|end_of_text|>"}
# turns of these templates are opened or closed with tokens whose names do not say so
CLOSED = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '<|finis|>' }}{% endfor %}"
REFUSING = "{{ raise_exception('no') }}{{ '<|finis|>' }}"
OPENED_ONCE = "{{ '<|finis|>' }}{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}{% endfor %}"


@pytest.mark.parametrize(
    ("special", "prepended", "first_token", "tokens", "reason"),
    [
        (SEPARATOR, "", "auto", ["<s>"], "given the token '<s>', which marks the start of documents in training"),
        (TURN, "", "auto", ["</s>"], "given the token '</s>', which ends documents in training"),
        (TURN, "<s>", "auto", ["<s>"], "given the token '<s>', which the tokenizer prepends"),
        (TURN, "<unk>", "auto", ["<unk>"], "given the token '<unk>', which the tokenizer prepends"),
        ({}, "", "auto", [], "not counted: the tokenizer has no token that separates documents"),
        ({"bos_token": "<s>"}, "", "auto", [], "not counted: the tokenizer has no token that separates documents"),
        (SMOLLM, "", "auto", [END], f"given the token '{END}', which separates documents in training"),
        (SMOLLM, "<|im_start|>", "auto", [END], f"given the token '{END}', which separates documents in training"),
        (SMOLLM, "<|im_start|>", "published", [], "not counted: as in the perplexities published for GPT-2"),
        (QWEN, "", "auto", [END], f"given the token '{END}', which separates documents in training"),
        (QWEN | {"bos_token": END}, "", "auto", [END], f"'{END}', which marks the start of documents in training"),
        (LLAMA, "", "auto", ["<|end_of_text|>"], "given the token '<|end_of_text|>', which separates documents"),
        (CHAT, "", "auto", [], "not counted: the tokenizer has no token that separates documents; chat turns have "),
        (BOTH_TURN, "", "auto", [], "chat turns have <|im_end|>"),
        (SEPARATOR, "", "published", [], "not counted: as in the perplexities published for GPT-2"),
        (TURN, "<s>", "published", ["<s>"], "given the token '<s>', which the tokenizer prepends"),
        (SEPARATOR, "", "none", [], "not counted: left out with --first-token"),
        (TURN, "<s>", "none", [], "not counted: left out with --first-token"),
        (TURN, "", "</s>", ["</s>"], "given the token '</s>', chosen with --first-token"),
    ],
)
def test_the_first_token_is_one_that_the_tokenizer_prepends_or_that_separates_documents(
    special: dict[str, str], prepended: str, first_token: str, tokens: list[str], reason: str
) -> None:
    tokenizer = make_tokenizer(**special)
    if prepended:
        surround(tokenizer, f"{prepended} $A")
    opening = find_opening(tokenizer, first_token)
    assert list(opening.tokens) == tokenizer.convert_tokens_to_ids(tokens)
    assert reason in opening.settings["first_token"]


def test_a_token_that_closes_turns_of_a_chat_does_not_stand_before_a_text() -> None:
    def before(end: str, template: str | None = None) -> Any:
        tokenizer = make_tokenizer(eos_token=end)
        tokenizer.chat_template = template
        return tokenizer.convert_ids_to_tokens(find_opening(tokenizer).tokens)

    for template, tokens in ((CLOSED, []), (REFUSING, []), (OPENED_ONCE, ["<|finis|>"]), (None, ["<|finis|>"])):
        assert before("<|finis|>", template) == tokens, template
    assert before("</s>", CHATML) == ["</s>"]
    for end in ("<end_of_turn>", "[|endofturn|]", "<|END_OF_TURN_TOKEN|>", "<|return|>"):
        assert before(end) == [], end


def test_a_first_token_that_the_model_does_not_know_is_refused(gpt2: Any) -> None:
    tokenizer = make_tokenizer(pad_token=END)
    with pytest.raises(ModelError, match=r"has no weights for the token '<\|endoftext\|>'.*--first-token none"):
        CausalScorer(as_loaded(gpt2, tokenizer), ignore)


@pytest.mark.parametrize(
    ("template", "role", "text"),
    [
        (CHATML, "user", "<s>user:"),
        (CHATML, "assistant", "<s>assistant:"),
        (ALTERNATING, "user", "[user] "),
        (ALTERNATING, "assistant", "[user] [assistant] "),
        (DATED, "user", "Today: 01 Jan 2026\n<s>user:"),
        ("\n{{ '' }}" + CHATML, "user", "\n<s>user:"),
    ],
)
def test_a_sentence_is_scored_within_a_turn_without_the_template(
    gpt2: Any, template: str, role: str, text: str
) -> None:
    tokenizer = make_tokenizer(**TURN)
    tokenizer.chat_template = template
    opening = find_opening(tokenizer, chat=role)
    assert (opening.text, opening.tokens) == (text, ())
    assert role in opening.settings["chat"]
    sentences = ["I'm a Deaf woman.", "I love Deaf women.", "I'm a Deaf woman"]
    scores = CausalScorer(as_loaded(gpt2, tokenizer), ignore, opening=opening).score(whole(sentences), ignore)
    for i, sentence in enumerate(sentences):
        inside = plain_part(gpt2, tokenizer, text + sentence, len(text), len(text + sentence))
        assert scores.nll[i] == pytest.approx(sum(inside), abs=1e-4)
        assert scores.tokens[i] == len(inside)
        assert scores.bytes[i] == len(sentence)


def test_an_opening_that_cannot_be_is_refused() -> None:
    tokenizer = make_tokenizer(**TURN)
    with pytest.raises(ModelError, match="has no chat template"):
        find_opening(tokenizer, chat="user")
    with pytest.raises(ModelError, match=r"no token '<nothing>'; its special tokens: </s>, <s>"):
        find_opening(tokenizer, "<nothing>")
    tokenizer.chat_template = MUTE
    with pytest.raises(ModelError, match="has no turn for the user"):
        find_opening(tokenizer, chat="user")
    tokenizer.chat_template = CHATML
    with pytest.raises(ModelError, match="leave --first-token out"):
        find_opening(tokenizer, "<s>", chat="user")
