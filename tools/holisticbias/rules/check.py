"""Rules that a function checks, the decorator that makes a rule of a function, and the values that files state."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints

from holisticbias.source.document import Keys, Value
from holisticbias.source.findings import Finding, Level, Problem, Rule
from holisticbias.source.records import EntryFile, Repository
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import ENTRY_TYPES, Kind

Text = tuple[Keys, str]
Problems = Iterator[Problem]
Faults = Iterator[Text]
"""The faults of an entry: the keys of a value, and what is wrong with it."""
Check = Callable[[Any], Problems | Faults]

WITH_ENTRIES: frozenset[Kind] = frozenset(ENTRY_TYPES)
_NOTHING: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRule(Rule):
    """A rule, and the function that finds the problems in the files."""

    check: Callable[[Repository], Problems]

    def findings(self, repository: Repository) -> Iterator[Finding]:
        """The findings for all problems in the files."""
        return map(self.finding, self.check(repository))


def rule(
    *, asks: str, fix: str, why: str = "", level: Level = "error", needs: frozenset[Kind] = _NOTHING
) -> Callable[[Check], CheckedRule]:
    """Make a rule of the function that checks it and has its name; the arguments are the fields of ``Rule``.

    The function gets the repository and yields ``Problems``, or it gets an entry of the type that it declares and
    yields ``Faults``.
    """

    def made(check: Any) -> CheckedRule:
        wanted = next(iter(get_type_hints(check).values()))
        whole = check if wanted is Repository else partial(_of_entries, check, wanted)
        return CheckedRule(check.__name__.replace("_", "-"), asks, fix, why, level, needs, check=whole)

    return made


def _of_entries(check: Callable[[Entry], Faults], wanted: type[Entry], repository: Repository) -> Problems:
    """The problems of all entries of a type."""
    for file, i, entry in repository.of(wanted):
        yield from (file.entry_problem(i, keys, message) for keys, message in check(entry))


def stated_texts(repository: Repository, wanted: Callable[[str], bool]) -> Iterator[tuple[EntryFile, int, Keys, str]]:
    """The texts under keys that are wanted, as the files state them, each with its entry and its keys in that."""
    for file, i, _ in repository.entries():
        document, index = file.origins[i]
        entries = document.data[file.entries] if isinstance(document.data, dict) else None
        entry = entries[index] if isinstance(entries, list) else None
        yield from ((file, i, keys, text) for keys, text in texts(entry, wanted))


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


def repeated(values: Iterable[Text]) -> Iterator[Text]:
    """The values that stand before them too."""
    seen: set[str] = set()
    for keys, value in values:
        if value in seen:
            yield keys, value
        seen.add(value)
