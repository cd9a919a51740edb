"""JSON Schemas of the models of source files and of other packages, and findings on values that break one."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from holisticbias.source.document import Document, Keys, Value
from holisticbias.source.findings import Finding, shown
from holisticbias.source.reading_rules import MISSING_KEY, SCHEMA, UNKNOWN_KEY, YAML_QUOTES
from holisticbias.source.schema_messages import schema_message
from holisticbias.source.yaml_mistakes import models_in
from holisticbias.terms.file_kinds import GROUP_KEYS, MODELS
from holisticbias.terms.grammar import as_name

DIALECT = "https://json-schema.org/draft/2020-12/schema"
GROUP = "holisticbias.schemas"


def json_schemas() -> Mapping[str, str]:
    """The content of each file in ``schema/``, by file name."""
    models: dict[str, type[BaseModel]] = dict(MODELS.items()) | _of_other_packages()
    return {
        f"{kind}.schema.json": json.dumps({"$schema": DIALECT, **_schema(kind, model)}, indent=2) + "\n"
        for kind, model in models.items()
    }


def _schema(kind: str, model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model; a file of new entries has the same schema, and does not repeat the label of its group."""
    schema = model.model_json_schema()
    if kind in GROUP_KEYS:
        schema["required"] = [key for key in schema["required"] if key != "label"]
    return schema


def _of_other_packages() -> dict[str, type[BaseModel]]:
    """Models of the entry points; skips models that need an extra that is not installed."""
    models = {}
    for entry in entry_points(group=GROUP):
        try:
            models[entry.name] = entry.load()
        except ModuleNotFoundError:
            continue
    return models


_ID = re.compile(r"([A-Za-z][\w ]*)\.(.+)")
_NEEDED = ("id", "text", "sources", "since")
_LITERAL = re.compile(r"'([^']*)'")


def without_consequences(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out that a list is too short if a part of it is wrong: pydantic counts only the parts that are right."""
    around = {tuple(d["loc"][:k]) for d in details for k in range(len(d["loc"]))}
    return [d for d in details if d["type"] != "too_short" or tuple(d["loc"]) not in around]


def schema_findings(details: Iterable[ErrorDetails], document: Document, model: type[BaseModel]) -> Iterator[Finding]:
    """A finding for each error, without the consequences of a misspelled key and of missing quotes."""
    known = {(f.line, f.column) for f in document.findings if f.rule == YAML_QUOTES.id}
    errors = [(d, tuple(d["loc"]), _meant_key(d, model)) for d in details]
    misspelled = {(*keys[:-1], meant) for _, keys, meant in errors if meant}
    for error, keys, meant in errors:
        finding = _finding(error, document, meant)
        consequence = (finding.line, finding.column) in known or (error["type"] == "missing" and keys in misspelled)
        if not consequence:
            yield finding


def _meant_key(error: ErrorDetails, model: type[BaseModel]) -> str | None:
    """The key that an unknown key was probably meant to be."""
    if error["type"] != "extra_forbidden":
        return None
    for key in error["loc"][:-1]:
        field = model.model_fields.get(key) if isinstance(key, str) else None
        model = next(models_in(field.annotation), model) if field else model
    close = difflib.get_close_matches(str(error["loc"][-1]).lower(), list(model.model_fields), n=1, cutoff=0.7)
    return close[0] if close else None


def _finding(error: ErrorDetails, document: Document, meant: str | None) -> Finding:
    keys = tuple(error["loc"])
    key = keys[-1] if keys else ""
    entry = entry_id(document.data, keys)
    if error["type"] == "missing":
        return MISSING_KEY.finding(document.problem(keys, f"The key {key!r} is missing.", entry))
    if error["type"] == "extra_forbidden":
        message = f"The key {shown(key)} is not in the schema."
        fix = f"write {meant!r} in place of {key!r}" if meant else None
        return UNKNOWN_KEY.finding(document.problem(keys, message, entry, fix))
    what = f"{key}: " if isinstance(key, str) else ""
    words = schema_message(error)
    value = "there is no value" if error.get("input") is None else f"the value is {shown(error.get('input'))}"
    return SCHEMA.finding(document.problem(keys, f"{what}{words}; {value}.", entry, _fix(error, words)))


def entry_id(data: Value, keys: Keys) -> str:
    """The id of the entry that a place is in; empty if it has none."""
    if len(keys) < 2 or not isinstance(data, dict) or not isinstance(keys[0], str) or not isinstance(keys[1], int):
        return ""
    entries = data.get(keys[0])
    entry = entries[keys[1]] if isinstance(entries, list) and keys[1] < len(entries) else None
    found = entry.get("id") if isinstance(entry, dict) else None
    return found if isinstance(found, str) and len(found) <= 120 else ""


def _fix(error: ErrorDetails, words: str) -> str | None:
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
        return _wanted_characters(key, value, words)
    return None


def _quoted(key: str, value: object) -> str:
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return f'put the value in quotes: {key}: "{text}"'


def _literal(key: str, value: str, known: list[str]) -> str | None:
    first = re.split(r"\W", value.strip().lower())[0]
    meant = [name for name in known if name == first] or difflib.get_close_matches(value.lower(), known, n=1)
    return f"write: {key}: {meant[0]}" if meant else None


def _wanted_characters(key: str, value: str, words: str) -> str | None:
    name = _ID.fullmatch(value.strip())
    if "an id, AXIS.NAME" in words and name:
        axis = re.sub(r"\W+", "_", name[1].lower())
        return f"write: {key}: {axis}.{as_name(name[2], '-')}"
    if "the https:// address" in words or value.startswith(("http:", "https:")):
        return "add the source to sources.yaml, with an id and its address, and write the id here"
    if "three numbers" in words and (number := re.fullmatch(r"v?(\d+\.\d+\.\d+)", value)):
        return f"write: {key}: {number[1]}"
    if "digits and underscores" in words and as_name(value, "_"):
        return f"write: {key}: {as_name(value, '_')}"
    if "digits and hyphens" in words and as_name(value, "-"):
        return f"write: {as_name(value, '-')}"
    return None
