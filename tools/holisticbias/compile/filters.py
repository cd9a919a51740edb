"""Filters (``--where``): select entries of a version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from holisticbias.errors import UnknownTermError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Entry, Noun, Preference, Template
from holisticbias.terms.file_kinds import DescriptorFile, TemplateFile

KEYS = ("axis", "bucket", "preference", "gender", "family", "first_turn_only")


def parse_conditions(texts: Iterable[str], keys: Sequence[str] = KEYS) -> Mapping[str, tuple[str, ...]]:
    """Parse filters such as ``"axis=age,ability"``: an entry must have one of the values of every key."""
    conditions: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        key, named = key.strip(), tuple(sorted({v.strip() for v in values.split(",") if v.strip()}))
        if not equals or not named or key not in keys or key in conditions:
            raise UnknownTermError(
                f"--where {text!r}: write KEY=VALUE,VALUE, each key once; keys are {', '.join(keys)}"
            )
        conditions[key] = named
    return conditions


def conditions_text(conditions: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The conditions as text, sorted by key."""
    return tuple(f"{key}={','.join(conditions[key])}" for key in sorted(conditions))


def select(catalog: Catalog, version: str, conditions: Mapping[str, tuple[str, ...]]) -> Catalog:
    """The catalog with only the entries that meet the conditions in a version.

    ``axis``, ``bucket`` and ``preference`` select descriptors, ``gender`` nouns and the
    descriptors that go with them, ``family`` and ``first_turn_only`` templates. Sentences
    without a descriptor stay, for comparison. Raises ``UnknownTermError`` for an unknown
    value, and if no descriptor or no template meets all conditions.
    """
    held = catalog.at(version)
    _refuse_unknown(held, version, conditions)
    chosen = _chosen(held, conditions)
    _refuse_empty(held, version, conditions, chosen)
    kinds = (Descriptor, Noun, Template)
    return catalog.changed(lambda entry: entry if entry.id in chosen or not isinstance(entry, kinds) else None)


def _chosen(held: Catalog, conditions: Mapping[str, tuple[str, ...]]) -> set[str]:
    entries: list[tuple[Mapping[str, tuple[str, ...]], Entry]] = [
        *((_of_descriptor(a, d), d) for a in held.axes for d in a.descriptors),
        *(({"gender": (g.gender,)}, n) for g in held.genders for n in g.nouns),
        *((_of_template(f, t), t) for f in held.families for t in f.templates),
    ]
    return {entry.id for has, entry in entries if _meets(has, conditions)}


def _meets(has: Mapping[str, tuple[str, ...]], conditions: Mapping[str, tuple[str, ...]]) -> bool:
    return all(not set(conditions.get(key, values)).isdisjoint(values) for key, values in has.items())


def _of_descriptor(axis: DescriptorFile, d: Descriptor) -> Mapping[str, tuple[str, ...]]:
    has = {"axis": (axis.axis,), "bucket": (d.bucket or "",), "preference": (d.preference,)}
    return has if d.noun_gender == "any" else {**has, "gender": (d.noun_gender,)}


def _of_template(family: TemplateFile, t: Template) -> Mapping[str, tuple[str, ...]]:
    return {"family": (family.family,), "first_turn_only": (str(t.first_turn_only).lower(),)}


def _refuse_unknown(held: Catalog, version: str, conditions: Mapping[str, tuple[str, ...]]) -> None:
    known: dict[str, set[str]] = {
        "axis": {a.axis for a in held.axes},
        "bucket": {d.bucket for d in held.descriptors if d.bucket},
        "preference": set(get_args(Preference)),
        "gender": {g.gender for g in held.genders},
        "family": {f.family for f in held.families},
        "first_turn_only": {"true", "false"},
    }
    for key, values in conditions.items():
        for value in values:
            if value not in known[key]:
                has = ", ".join(sorted(known[key]))
                raise UnknownTermError(f"--where {key}={value}: version {version} has no such {key}; it has: {has}")


def _refuse_empty(held: Catalog, version: str, conditions: Mapping[str, tuple[str, ...]], chosen: set[str]) -> None:
    left = {
        "descriptor": any(d.id in chosen for d in held.descriptors),
        "template": any(t.id in chosen for t in held.templates),
    }
    for kind in (kind for kind, found in left.items() if not found):
        asked = " and ".join(conditions_text(conditions))
        raise UnknownTermError(f"--where {asked}: version {version} has no {kind} that meets all conditions")
