"""Rules that a function checks, the decorator that makes a rule of a function, and the values that files state."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from holisticbias.source.document import Keys, Value
from holisticbias.source.findings import Finding, Level, Problem, Rule
from holisticbias.source.records import EntryFile, Repository
from holisticbias.terms.file_kinds import Kind

Problems = Iterator[Problem]
Check = Callable[[Repository], Problems]
Text = tuple[Keys, str]

WITH_ENTRIES: frozenset[Kind] = frozenset(
    {"descriptors", "nouns", "templates", "collections", "prompts", "specifications"}
)
_NOTHING: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRule(Rule):
    """A rule, and the function that finds the problems in the files."""

    check: Check

    def findings(self, repository: Repository) -> Iterator[Finding]:
        """The findings for all problems in the files."""
        return map(self.finding, self.check(repository))


def rule(
    rule_id: str,
    *,
    asks: str,
    fix: str,
    why: str = "",
    level: Level = "error",
    needs: frozenset[Kind] = _NOTHING,
) -> Callable[[Check], CheckedRule]:
    """Make a rule of the function that checks it; the arguments are the fields of ``Rule``."""
    return lambda check: CheckedRule(rule_id, asks, fix, why, level, needs, check=check)


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


def repeated(values: Iterable[Text]) -> Iterator[Text]:
    """The values that stand before them too."""
    seen: set[str] = set()
    for keys, value in values:
        if value in seen:
            yield keys, value
        seen.add(value)
