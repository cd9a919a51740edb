"""The values that files of terms state, with the keys that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holisticbias.source.document import Keys, Value
from holisticbias.source.records import EntryFile


def leaves(value: Value, keys: Keys = ()) -> Iterator[tuple[Keys, Value]]:
    """Every value inside mappings and lists that is neither of the two."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*keys, key))
        else:
            yield (*keys, key), item


def texts(file: EntryFile, position: int, *names: str) -> Iterator[tuple[Keys, str]]:
    """The texts of an entry, now and in its history, under keys with these names; of a list, each item."""
    document, index = file.origins[position]
    data = document.data[file.entries] if isinstance(document.data, dict) else []
    for keys, value in leaves(data[index] if isinstance(data, list) else None):
        if isinstance(value, str) and key_of(keys) in names:
            yield keys, value


def key_of(keys: Keys) -> str:
    """The key of a value; for an item of a list, the key of the list."""
    return str(keys[-1] if isinstance(keys[-1], str) else keys[-2])


def repeated(values: Iterable[tuple[Keys, str]]) -> Iterator[tuple[Keys, str]]:
    """The values that stand before them too."""
    seen: set[str] = set()
    for keys, value in values:
        if value in seen:
            yield keys, value
        seen.add(value)
