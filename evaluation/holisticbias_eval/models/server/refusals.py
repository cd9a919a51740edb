"""The content of servers' refusals: withheld answers, errors inside answers, and the settings that a server names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

_FILTERED = (
    "content_filter", "content_policy", "content policy", "content management policy", "content violat",
    "requires moderation", "was flagged", "flagged_input", "responsibleaipolicy", "safety system", "prohibited_content",
)  # fmt: skip
_TELLING = re.compile(rb'"error"|content_filter|"choices"\s*:\s*\[\s*\]')
_CODES = range(400, 600)


def is_withheld(content: str) -> bool:
    """Whether the body of a refusal says that the server does not answer because of what was asked."""
    low = content.lower()
    return any(mark in low for mark in _FILTERED)


def inner_status(content: bytes) -> tuple[int | None, bool]:
    """The status in the error that an answer with status 200 has, null for none; and whether the answer is withheld.

    An answer is withheld if it has an empty list of choices, or a first choice without a message that a content filter
    ended. An error is that of the answer or of its first choice; its status is its ``code`` or ``status``.
    """
    if not _TELLING.search(content):
        return None, False
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return None, False
    if not isinstance(answer, dict):
        return None, False
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    error = choice.get("error") if choice else answer.get("error")
    if error:
        return _status(error), is_withheld(json.dumps(error))
    ended = choice.get("finish_reason") == "content_filter" and "text" not in choice
    return None, choices == [] or (ended and choice.get("message") is None)


def _status(error: Any) -> int | None:
    for key in ("code", "status"):
        value = error.get(key) if isinstance(error, dict) else None
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:9])
        if isinstance(value, int) and value in _CODES:
            return value
    return None


def named_settings(refusal: str, names: Iterable[str]) -> list[str]:
    """The settings, of those in a request, that a refusal names as whole words."""
    return [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", refusal)]
