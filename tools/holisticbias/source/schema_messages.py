"""Say in plain words how a value breaks a schema."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from holisticbias.terminal import counted
from holisticbias.terms.entries import Date, Id, Key, Locale, Pseudonym, Selector, SourceId, Text
from holisticbias.terms.file_kinds import Source
from holisticbias.terms.version_files import Sha256
from holisticbias.terms.versions import Number, Version

_LONGEST = 200  # characters of a place: keys may be a user's


def schema_message(error: ErrorDetails) -> str:
    """Describe the value that the schema wants, without a full stop: "it must be a whole number"."""
    context = error.get("ctx", {})
    say = _MESSAGES.get(error["type"])
    if say is not None:
        return say(context)
    return error["msg"].removeprefix("Value error, ")


def first_fault(error: ValidationError) -> str:
    """Place and message of the first value that breaks the schema: "models.0: the key is missing"."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))[:_LONGEST]
    return f"{place}: {schema_message(first)}" if place else schema_message(first)


def _pattern(context: Mapping[str, object]) -> str:
    known = _patterns().get(str(context.get("pattern")))
    return f"it must be {known}" if known else f"it must have the form {context.get('pattern')}"


_MESSAGES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda _: "the key is missing",
    "extra_forbidden": lambda _: "the key is not in the schema",
    "string_type": lambda _: "it must be a text",
    "path_type": lambda _: "it must be the name of a file or folder",
    "string_pattern_mismatch": _pattern,
    "json_invalid": lambda context: f"it is not JSON ({context['error']})",
    "string_too_short": lambda _: "it must not be empty",
    "string_too_long": lambda context: f"it must have at most {context['max_length']} characters",
    "literal_error": lambda context: f"it must be {context['expected']}",
    "bool_type": lambda _: "it must be true or false",
    "bool_parsing": lambda _: "it must be true or false",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), lambda _: "it must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), lambda _: "it must be a number"),
    "finite_number": lambda _: "it must be a finite number",
    "greater_than": lambda context: f"it must be greater than {context['gt']}",
    "greater_than_equal": lambda context: f"it must be at least {context['ge']}",
    "less_than": lambda context: f"it must be less than {context['lt']}",
    "less_than_equal": lambda context: f"it must be at most {context['le']}",
    **dict.fromkeys(("tuple_type", "list_type", "frozen_set_type", "set_type"), lambda _: "it must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), lambda _: "it must have keys and values"),
    "too_short": lambda context: f"it must have at least {counted(context['min_length'], 'parts')}",
    "too_long": lambda context: f"it must have at most {context['max_length']} parts",
}


@lru_cache(maxsize=1)
def _patterns() -> Mapping[str, str]:
    """A description of each pattern of the terms' own types."""
    described = {
        Text: "a text that is not blank",
        Id: "an id, AXIS.NAME, in lower-case letters, digits and hyphens",
        Key: "a name in lower-case letters, digits and underscores",
        SourceId: "an id in lower-case letters, digits and hyphens",
        Pseudonym: "a pseudonym such as rv-0042 (holisticbias pseudonym makes one)",
        Selector: "the id of an entry, or AXIS/BUCKET",
        Date: "a date such as 2026-01-31, 2026-01 or 2026",
        Number: "three numbers such as 3.1.0",
        Version: "three numbers such as 3.1.0, or next",
        Locale: "a language and region such as en-US",
        Sha256: "64 hexadecimal digits",
    }
    patterns = {TypeAdapter(form).json_schema()["pattern"]: words for form, words in described.items()}
    return {**patterns, Source.model_json_schema()["properties"]["url"]["anyOf"][0]["pattern"]: "an https:// address"}
