"""A specification of invented words, and a server that writes sentences for it."""

import json
import re
from typing import Any

from tests.evaluation.generation.chat_server import Body, asked, is_trial, message

from holisticbias.terms.specification_entries import Specification

OWN = {
    "text": "Invented groups",
    "groups": [
        {"name": "blickets", "label": "Blickets", "stereotype": "calm"},
        {"name": "wugs", "label": "Wugs", "stereotype": "loud"},
    ],
    "slots": [{"terms": ["blicket", "wug"]}, {"terms": ["tove", "rath"]}, {"form": "name", "terms": ["Mell", "Fitch"]}],
    "attributes": [
        {"name": "calm", "label": "Calm", "terms": ["gimble", "slow-moving"]},
        {"name": "loud", "label": "Loud", "terms": ["burble"]},
    ],
    "templates": ["The [T] likes [A]", "[T:name] is [A]."],
}


def specification(**changed: Any) -> Specification:
    """The specification, with other values for some keys."""
    common = {"id": "own.invented", "sources": ["contributors"], "since": "3.0.0"}
    return Specification.model_validate({**common, **OWN, **changed})


def keywords(prompt: str) -> tuple[str, str]:
    """The two keywords that a prompt asks for."""
    term, attribute = re.findall(r"^Keywords: (.*?)(?: ## Sentence:|$)", prompt, re.MULTILINE)[-1].split(", ")
    return term, attribute


def write(term: str, attribute: str, number: int) -> str:
    """A sentence, whose form depends on a number; two of the six are refused."""
    forms = (
        f"One {term} knew that {attribute} mattered. ##\nKeywords: x",
        f"The {term} sings about {attribute} every day {number}.",
        f"The {term} sings.",
        f"Nobody would call this {term} fond of {attribute}.",
        f"All year {number} the {term} dreamt of {attribute}! ## Keywords: y",
        f"I met a {term} who mentioned {attribute} on day {number}.\nAnd more.",
    )
    return forms[number % len(forms)]


def completions(body: Body, turn: int) -> tuple[int, Any]:
    """A completions server whose text depends on prompt and seed."""
    text = "one two" if is_trial(body) else " " + write(*keywords(asked(body)), int(body["seed"]) % 97)
    return 200, {"choices": [{"text": text, "finish_reason": "stop"}], "usage": {"completion_tokens": 9}}


def lists(body: Body, turn: int) -> tuple[int, Any]:
    """A chat server that writes a JSON list of five sentences."""
    if is_trial(body):
        return 200, message("one")
    term, attribute = keywords(asked(body))
    return 200, message(json.dumps({"sentences": [write(term, attribute, turn + i) for i in range(5)]}))
