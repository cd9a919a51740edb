"""The response in the text that a model wrote: without its reasoning, up to the text that ends a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Thinking = Literal["none", "marked", "opened"]
"""Whether a chat template knows reasoning: not at all, between marks that the model writes, or from its own mark on."""
THINK = ("<think>", "<thinking>")
_THOUGHT = re.compile(r"<(think|thinking)>(.*?)(</\1>|\Z)", re.DOTALL)
_END = re.compile(r"\A(.*?)</(?:think|thinking)>", re.DOTALL)


def split_reasoning(text: str) -> tuple[str, str]:
    """The response and the reasoning in a text with ``<think>`` marks; a part that was cut off is reasoning.

    Templates of some models open the reasoning themselves, so a text may only have the closing mark.
    """
    thoughts = [found[2] for found in _THOUGHT.finditer(text)]
    rest = _THOUGHT.sub("", text)
    if opened_before := _END.match(rest):
        thoughts.insert(0, opened_before[1])
        rest = rest[opened_before.end() :]
    return rest, "\n".join(filter(None, (thought.strip() for thought in thoughts)))


def apart(text: str, thinking: Thinking) -> tuple[str, str]:
    """The response and the reasoning in the text that a model wrote after its chat template."""
    if thinking == "none":
        return text, ""
    response, reasoning = split_reasoning(f"{THINK[0]}{text}" if thinking == "opened" else text)
    return response.strip(), reasoning


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """The text before the first of the stops, and whether it contains a stop."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def storable(text: str) -> str:
    """The text with every half of a character pair, which UTF-8 cannot express, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
