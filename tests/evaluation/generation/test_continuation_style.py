"""The style in which models continue prompts, reasoning that is kept apart, and text that steers responses."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.models.engines import start_generator, store_of
from holisticbias_eval.models.generation.conversation import PLAIN, ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import DECODINGS, apart
from holisticbias_eval.models.generation.frame import STYLES, choose_control
from holisticbias_eval.models.generation.requests import respond_all
from known import ignore
from tiny_models import as_loaded, byte_tokenizer, first_samples, local_generator

from .test_conversation import CHATML, MISTRAL

STYLE = STYLES.read("continuation")
PROMPT = "The blicket is"
THINKING = CHATML.replace("{{ '<|im_start|>assistant\n' }}", "{{ '<|im_start|>assistant\n<think>\n' }}")


SYSTEM = f"<|im_start|>system\n{STYLE.system}<|im_end|>\n"
TURN = f"<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("template", "options", "expected"),
    [
        (None, {}, PROMPT),
        (CHATML, {"chat": "off"}, PROMPT),
        (CHATML, {}, SYSTEM + TURN),
        (MISTRAL, {}, f"<s>[INST] {STYLE.system}\n\n{PROMPT} [/INST]"),  # no place for a system prompt
    ],
)
def test_a_chat_model_is_asked_to_continue_and_another_continues_the_plain_text(
    template: str | None, options: dict[str, Any], expected: str
) -> None:
    tokenizer = byte_tokenizer(template)
    found = find_conversation(tokenizer, ConversationOptions(style=STYLE, **options), "causal")
    (ids,) = found.encoder.encode(first_samples([PROMPT]))
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == expected
    plain = expected == PROMPT
    assert found.keeps_blank == plain
    assert (found.settings["conversation"] == PLAIN) == plain
    assert (found.stops == ("\n",)) == plain


def test_refusals_are_found_by_their_beginning() -> None:
    assert all(map(STYLE.is_refusal, ("I'm sorry, but I can't help.", '"i cannot continue this', "**I am unable to")))
    assert not any(map(STYLE.is_refusal, ("tall.", "They said: I cannot", "")))


def test_a_turn_needs_the_place_of_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("id: own\nturn: Continue this.\nsource: me\n")
    with pytest.raises(EvaluationError, match=r"turn: write \{prompt\} once"):
        STYLES.read(str(tmp_path / "own.yaml"))


@pytest.mark.parametrize(("template", "kept"), [(CHATML, None), (THINKING, "kept apart from the response")])
def test_reasoning_that_a_template_opens_is_kept_apart(template: str, kept: str | None) -> None:
    made = byte_tokenizer(template)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(made), n_positions=800, n_embd=16, n_layer=1, n_head=2))
    local = local_generator(as_loaded(model, made), DECODINGS.read("sampled"))
    responses = respond_all(first_samples([PROMPT]), local, ignore)
    written, other = (responses.reasoning, responses.text) if kept else (responses.text, responses.reasoning)
    assert written[0]
    assert other == [""]
    assert local.settings.get("reasoning") == kept


def test_where_reasoning_ends() -> None:
    assert apart("Hm.</think> tall.", "opened") == ("tall.", "Hm.")
    assert apart("Hm, and then", "opened") == ("", "Hm, and then")
    assert apart("<think>Hm.</think>\ntall.", "marked") == ("tall.", "Hm.")
    assert apart("tall.", "marked") == ("tall.", "")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "<|user|>{prompt} no_bias<|assistant|>"),
        ({"chat": "off"}, "A: {prompt} no_bias\nB:"),
        ({"separator": "<|endoftext|>"}, "{prompt} no_bias<|endoftext|>"),
        ({"continuation": "{prompt}"}, "{prompt} no_bias"),
    ],
)
def test_text_around_a_prompt(options: dict[str, Any], text: str, tmp_path: Path) -> None:
    """The control follows the prompt in every form, is signed, and is part of the store's key."""
    decoding = DECODINGS.read("greedy")
    made = [
        start_generator(RESPONDER, print, decoding, 0, ConversationOptions(**options, control=control))
        for control in (" no_bias ", "")
    ]
    assert made[0].settings["conversation_text_without_persona"] == text
    assert made[0].settings["control"] == "no_bias"
    assert "control" not in made[1].settings
    stores = {store_of(generator, tmp_path, print).folder for generator in made}
    assert len(stores) == 2


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    """The responder in a folder whose record names a control."""
    folder = tmp_path / "tuned"
    shutil.copytree(SHIPPED[RESPONDER].folder, folder)
    (folder / "mitigation.json").write_text(json.dumps({"control": "no_bias"}))
    return folder


def test_a_models_own_control(tuned: Path) -> None:
    """It is the default, with a notice; an empty one leaves it out, and another replaces it."""
    notices: list[str] = []
    decoding, request = DECODINGS.read("greedy"), first_samples(["I'm a blicket."])
    own = start_generator(str(tuned), notices.append, decoding, 0)
    assert own.settings["control"] == "no_bias"
    assert ["'no_bias'" in notice for notice in notices] == [True]
    given = start_generator(RESPONDER, print, decoding, 0, ConversationOptions(control="no_bias"))
    texts = [respond_all(request, generator, ignore).text for generator in (own, given)]
    assert texts[0] == texts[1]
    assert choose_control(str(tuned), "", notices.append) == ""
    assert choose_control(str(tuned), "calm", notices.append) == "calm"
    for record in ('{"control": null}', "\ufeff{}"):  # of a method without a control
        (tuned / "mitigation.json").write_text(record)
        assert choose_control(str(tuned), None, print) == ""


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "it is not JSON .*; give --control, or '' for none"),
        ("[]", "it must have keys and values"),
        ('{"control": 3}', "control: it must be a text"),
        ('{"control": "a\\nb"}', "one line"),
        (json.dumps({"control": "x" * 300}), "at most 200"),
    ],
)
def test_a_record_that_cannot_be_used(tuned: Path, record: str, message: str) -> None:
    """One line that names the file."""
    (tuned / "mitigation.json").write_text(record)
    with pytest.raises(ModelError, match=message) as error:
        choose_control(str(tuned), None, print)
    assert "mitigation.json" in str(error.value)
    assert "\n" not in str(error.value)
