"""Text at the end of the context that steers responses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.frame import choose_control
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.stored import store_of


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
    decoding, request = DECODINGS.read("greedy"), PromptRequests(["I'm a blicket."], [""], np.zeros(1, np.int32))
    own = start_generator(str(tuned), notices.append, decoding, 0)
    assert own.settings["control"] == "no_bias"
    assert ["'no_bias'" in notice for notice in notices] == [True]
    given = start_generator(RESPONDER, print, decoding, 0, ConversationOptions(control="no_bias"))
    texts = [respond_all(request, generator, lambda _: None).text for generator in (own, given)]
    assert texts[0] == texts[1]
    assert choose_control(str(tuned), "", notices.append) == ""
    assert choose_control(str(tuned), "calm", notices.append) == "calm"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "not a text"),
        ('{"control": 3}', "not a text"),
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


@pytest.mark.parametrize("record", ['{"control": null}', "{}"])
def test_a_record_without_control(tuned: Path, record: str) -> None:
    """Methods without a control name none."""
    (tuned / "mitigation.json").write_text(record)
    assert choose_control(str(tuned), None, print) == ""
