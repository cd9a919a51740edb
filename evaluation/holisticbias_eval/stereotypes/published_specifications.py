"""Bias specifications in the JSON form of the published code of Kocielnik et al. 2023."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import SpecificationError

_FORMS = {"he": "subject", "she": "subject", "him": "object", "his": "possessive", "hers": "possessive"}
_GENDERS = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female", "hers": "female"}


def from_published(data: Any, path: Path) -> tuple[Specification, ...]:
    """The specifications of a published file: one object, or a list of them.

    An object has ``name``, ``social_groups`` and ``attributes``, each a mapping of names to words, and may have
    ``templates``. The first two groups are used, as in the published code; words at the same index form a slot.
    Raises ``SpecificationError``.
    """
    entries = data if isinstance(data, list) else [data]
    if not entries:
        raise SpecificationError(f"{path} has no specifications")
    return tuple(_specification(entry, i, path) for i, entry in enumerate(entries))


def _specification(entry: Any, position: int, path: Path) -> Specification:
    try:
        groups, sets = entry["social_groups"], entry["attributes"]
        name, templates = str(entry["name"]), entry.get("templates", [])
        (first, words), (second, others) = list(groups.items())[:2]
        return Specification.model_validate(
            {
                "id": f"published.{_joined(name, '-')}",
                "text": name[:200],
                "groups": [_group(first, words, sets, 0), _group(second, others, sets, 1)],
                "slots": [_slot(pair) for pair in zip_longest(words, others)],
                "attributes": [{"name": _joined(n, "_"), "label": n, "terms": terms} for n, terms in sets.items()],
                "templates": templates,
                "published_as": name,
                "sources": ["kocielnik-2023"],
                "since": "3.0.0",
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = schema_message(error.errors()[0]) if isinstance(error, ValidationError) else "it needs"
        needs = "name, social_groups with two lists of words, and attributes"
        raise SpecificationError(f"{path}: specification {position + 1}: {reason[:200]}: {needs}") from error


def _group(name: str, words: Sequence[str], sets: Mapping[str, Sequence[str]], position: int) -> dict[str, Any]:
    """A group; the attributes at its position are its stereotype."""
    stereotype = _joined(list(sets)[position], "_") if position < len(sets) else None
    genders = {_GENDERS[word] for word in words if word in _GENDERS}
    gender = genders.pop() if len(genders) == 1 else None
    return {"name": _joined(name, "_"), "label": name, "stereotype": stereotype, "gender": gender}


def _slot(pair: tuple[str | None, str | None]) -> dict[str, Any]:
    given = [word for word in pair if word]
    form = next((_FORMS[word] for word in given if word in _FORMS), "noun")
    is_name = all(word[:1].isupper() for word in given)
    return {"form": "name" if is_name else form, "terms": list(pair)}


def _joined(name: str, by: str) -> str:
    """A name as a key: lower case, other characters replaced."""
    words = re.sub(r"[^a-z0-9]+", by, name.lower()).strip(by)
    return words if words[:1].isalpha() else f"x{by}{words}".rstrip(by)
