"""The values that files of terms state, with the keys that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holisticbias.source.document import Keys, Value
from holisticbias.source.records import EntryFile


def stated(file: EntryFile, position: int) -> Value:
    """An entry as its file states it."""
    document, index = file.origins[position]
    entries = document.data[file.entries] if isinstance(document.data, dict) else None
    return entries[index] if isinstance(entries, list) else None


def texts(value: Value, wanted: Callable[[str], bool]) -> Iterator[Text]:
    """The texts inside a value, each with its keys, under keys that are wanted; of a list, each item."""
    waiting: list[tuple[Keys, Value, bool]] = [((), value, False)]
    while waiting:
        keys, value, inside = waiting.pop()
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            chosen = wanted(key) if isinstance(key, str) else inside
            if not isinstance(item, str):
                waiting.append(((*keys, key), item, chosen))
            elif chosen:
                yield (*keys, key), item


Text = tuple[Keys, str]


def repeated(values: Iterable[Text]) -> Iterator[Text]:
    """The values that stand before them too."""
    seen: set[str] = set()
    for keys, value in values:
        if value in seen:
            yield keys, value
        seen.add(value)
