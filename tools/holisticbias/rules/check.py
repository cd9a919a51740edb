"""Rules that a function checks, and the decorator that makes a rule of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from holisticbias.source.findings import Finding, Level
from holisticbias.source.records import Repository
from holisticbias.source.rule import Problem, Rule
from holisticbias.terms.file_kinds import Kind

Problems: TypeAlias = Iterator[Problem]
Check: TypeAlias = Callable[[Repository], Problems]

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
