"""Messages about values that do not follow the schema, in the words of its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from holisticbias.terms.entries import Date, Id, Key, Locale, Selector, SourceId
from holisticbias.terms.versions import Version


def _pattern(annotated: object) -> str:
    [field] = (part for part in get_args(annotated) if isinstance(part, FieldInfo))
    return next(str(part.pattern) for part in field.metadata if getattr(part, "pattern", None))


_FORMS: Mapping[str, str] = {
    _pattern(Key): "it needs small letters, digits and _, and begins with a letter, as in 'after_the_noun'",
    _pattern(Id): "it needs the axis or group, a dot, and small letters, digits and hyphens, as in 'ability.deaf'",
    _pattern(SourceId): "it needs small letters, digits and hyphens, as in 'rv-0042'",
    _pattern(Date): "it needs a date, as in 2026-03-31, 2026-03 or 2026",
    _pattern(Selector): "it needs an id, as in 'ability.deaf', or an axis and a bucket, as in 'age/old'",
    _pattern(Locale): "it needs a language, and a region if wanted, as in 'en-US'",
    _pattern(Version): "it needs three numbers, as in 3.0.0",
}
_TYPES = {
    "string_type": "it needs a text",
    "bool_type": "it needs true or false",
    "int_type": "it needs a whole number",
    "tuple_type": "it needs a list",
    "list_type": "it needs a list",
    "dict_type": "it needs keys and values",
    "model_type": "it needs keys and values",
    "model_attributes_type": "it needs keys and values",
    "string_too_short": "it is empty",
}
_BOUNDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "string_too_long": lambda given: f"it has more than {given['max_length']} characters",
    "too_short": lambda given: f"it needs at least {given['min_length']}",
    "too_long": lambda given: f"it has more than {given['max_length']} values",
    "greater_than_equal": lambda given: f"it needs {given['ge']} or more",
    "literal_error": lambda given: f"it needs {given['expected']}",
    "value_error": lambda given: str(given["error"]),
}


def schema_message(error: ErrorDetails) -> str:
    """A message that says what the value needs, without a full stop."""
    given = error.get("ctx", {})
    if error["type"] in _BOUNDS:
        return _BOUNDS[error["type"]](given)
    if error["type"] == "string_pattern_mismatch":
        address = "it needs an address that begins with https://" if given["pattern"].startswith("^https://") else None
        return address or _FORMS.get(given["pattern"], f"it needs the form {given['pattern']}")
    return _TYPES.get(error["type"], f"{error['msg'][:1].lower()}{error['msg'][1:]}")
