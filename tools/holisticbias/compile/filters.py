"""Filters (``--where``): select entries of a version."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import get_args

from holisticbias.errors import HolisticBiasError, UnknownTermError
from holisticbias.inputs import texts_of
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Noun, Preference, Template

Where = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""Filters: a text such as ``"axis=age,ability"``, several of them, or the values of each key."""
KEYS = ("axis", "bucket", "preference", "gender", "family", "first_turn_only")
_SHOWN, _LONGEST = 30, 1000  # values and characters of a message


def filter_texts(where: Where) -> tuple[str, ...]:
    """Filters as texts; raises ``UnknownTermError`` for anything else."""
    if isinstance(where, Mapping):
        return tuple(
            f"{key}={','.join(texts_of(f'where {key}', values, UnknownTermError))}" for key, values in where.items()
        )
    return texts_of("where", where, UnknownTermError)


def parse_conditions(texts: Iterable[str], keys: Sequence[str] = KEYS) -> Mapping[str, tuple[str, ...]]:
    """Parse filters such as ``"axis=age,ability"``: an entry must have one of the values of every key."""
    conditions: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        key, named = key.strip(), tuple(sorted({v.strip() for v in values.split(",") if v.strip()}))
        if another := next((value for value in named if value.partition("=")[0].strip() in keys), None):
            raise UnknownTermError(f"--where {text!r}: give each key its own --where, as in --where {another}")
        if not equals or not named or key not in keys or key in conditions:
            raise UnknownTermError(
                f"--where {text!r}: write KEY=VALUE,VALUE, each key once; keys are {', '.join(keys)}"
            )
        conditions[key] = named
    return conditions


def conditions_text(conditions: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The conditions as text, sorted by key."""
    return tuple(f"{key}={','.join(conditions[key])}" for key in sorted(conditions))


def refuse_unknown(
    conditions: Mapping[str, Sequence[str]],
    known: Mapping[str, Collection[str | None]],
    what: str,
    error: type[HolisticBiasError] = UnknownTermError,
) -> None:
    """Raise ``error`` for a value that is not among the ``known`` values of its key in ``what``."""
    for key, asked in conditions.items():
        found = sorted(filter(None, known.get(key, ())))
        unknown = next((value for value in asked if value not in found), None)
        if unknown is not None:
            shown = ", ".join(found[:_SHOWN]) or "none"
            raise error(f"--where {key}={unknown}: {what} has no such {key}; it has: {shown}"[:_LONGEST])


def select(
    catalog: Catalog, version: str, conditions: Mapping[str, tuple[str, ...]], subset: str | None = None
) -> Catalog:
    """The catalog with only the entries that meet the conditions in a version, and the descriptors of a subset.

    ``axis``, ``bucket`` and ``preference`` select descriptors, ``gender`` nouns and the
    descriptors that go with them, ``family`` and ``first_turn_only`` templates. Sentences
    without a descriptor stay, for comparison. Raises ``UnknownTermError`` for an unknown
    value, and if no descriptor or no template meets all conditions, and ``UnknownVersionError`` for an unknown subset.
    """
    if not conditions and subset is None:
        return catalog
    held = catalog.at(version)
    entries = dict(_values(held))
    known: dict[str, set[str]] = {"preference": set(get_args(Preference)), "first_turn_only": {"true", "false"}}
    for values in entries.values():
        for key, value in values.items():
            known.setdefault(key, set()).add(value)
    refuse_unknown(conditions, known, f"version {version}")
    others = set() if subset is None else {d.id for d in catalog.descriptors} - {*catalog.subset(subset).descriptors}
    chosen = {
        name
        for name, values in entries.items()
        if name not in others and all(value in conditions.get(key, (value,)) for key, value in values.items())
    }
    for kind, found in (("descriptor", held.descriptors), ("template", held.templates)):
        if chosen.isdisjoint(entry.id for entry in found):
            asked = [] if subset is None else [f"the subset {subset}"]
            asked += [f"--where {' and '.join(conditions_text(conditions))}"] if conditions else []
            raise UnknownTermError(f"{' and '.join(asked)}: version {version} has no {kind} that meets all conditions")
    kinds = (Descriptor, Noun, Template)
    return catalog.changed(lambda entry: entry if entry.id in chosen or not isinstance(entry, kinds) else None)


def _values(held: Catalog) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The id of each entry that filters select, and its value for each key that applies to it."""
    for axis in held.axes:
        for d in axis.descriptors:
            gender = {} if d.noun_gender == "any" else {"gender": str(d.noun_gender)}
            yield d.id, {"axis": axis.axis, "bucket": d.bucket or "", "preference": d.preference, **gender}
    yield from ((n.id, {"gender": g.gender}) for g in held.genders for n in g.nouns)
    for family in held.families:
        for t in family.templates:
            yield t.id, {"family": family.family, "first_turn_only": str(t.first_turn_only).lower()}
