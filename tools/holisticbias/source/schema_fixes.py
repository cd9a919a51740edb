"""Fixes for values that break a schema."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable

from pydantic_core import ErrorDetails

_ID = re.compile(r"([A-Za-z][\w ]*)\.(.+)")
_NEEDED = ("id", "text", "sources", "since")
_LITERAL = re.compile(r"'([^']*)'")


def schema_fix(error: ErrorDetails, words: str) -> str | None:
    """The fix for a value, without a full stop; None if the schema alone says what is wanted.

    ``words`` is the message about it.
    """
    keys, value, kind = error["loc"], error.get("input"), error["type"]
    key = next((k for k in reversed(keys) if isinstance(k, str)), "")
    if value is None and kind in ("string_type", "tuple_type", "list_type", "model_type", "bool_type", "literal_error"):
        return f"write a value after '{key}:'" + ("" if key in _NEEDED else ", or remove the key")
    if kind in ("tuple_type", "list_type") and isinstance(value, str):
        return f"write it between brackets: {key}: [{value.strip('[](){} ')}]"
    if kind == "string_type" and isinstance(value, dict | list):
        return f"put the lines below '{key}:' in its column; a text with ': ' in it needs quotes"
    if kind == "string_type":
        return "write next, or three numbers, such as 3.1.0" if key in ("since", "until") else _quoted(key, value)
    if kind == "literal_error" and isinstance(value, str):
        return _literal(key, value, _LITERAL.findall(words))
    if kind == "string_pattern_mismatch" and isinstance(value, str):
        return _pattern(key, value, words)
    return None


def close_key(key: object, known: Iterable[str]) -> str | None:
    """The key of a schema that was probably meant."""
    close = difflib.get_close_matches(str(key).lower(), list(known), n=1, cutoff=0.7)
    return close[0] if close else None


def _quoted(key: str, value: object) -> str:
    shown = json.dumps(value) if isinstance(value, bool) else str(value)
    return f'put the value in quotes: {key}: "{shown}"'


def _literal(key: str, value: str, known: list[str]) -> str | None:
    first = re.split(r"\W", value.strip().lower())[0]
    meant = [name for name in known if name == first] or difflib.get_close_matches(value.lower(), known, n=1)
    return f"write: {key}: {meant[0]}" if meant else None


def _pattern(key: str, value: str, words: str) -> str | None:
    name = _ID.fullmatch(value.strip())
    if "an id, AXIS.NAME" in words and name:
        axis = re.sub(r"\W+", "_", name[1].lower())
        return f"write: {key}: {axis}.{_joined(name[2], '-')}"
    if "the https:// address" in words or value.startswith(("http:", "https:")):
        return "add the source to sources.yaml, with an id and its address, and write the id here"
    if "three numbers" in words and (number := re.fullmatch(r"v?(\d+\.\d+\.\d+)", value)):
        return f"write: {key}: {number[1]}"
    if "digits and underscores" in words and _joined(value, "_"):
        return f"write: {key}: {_joined(value, '_')}"
    if "digits and hyphens" in words and _joined(value, "-"):
        return f"write: {_joined(value, '-')}"
    return None


def _joined(text: str, by: str) -> str:
    return re.sub(r"[^a-z0-9]+", by, text.lower()).strip(by)
