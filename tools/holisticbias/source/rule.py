"""A rule: everything that its findings and its page say about it."""

from dataclasses import dataclass
from typing import TypeAlias

from holisticbias.source.findings import Finding, Level
from holisticbias.terms.file_kinds import Kind

Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """A place that breaks a rule: line and column count from 1; ``entry`` is an id, or empty outside entries.

    ``fix`` is what to do here, without a full stop, if the rule's own fix does not say it.
    """

    path: str
    place: Place
    message: str
    entry: str = ""
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A requirement on the files of terms.

    ``asks`` is the requirement as a sentence. ``fix`` tells a contributor what
    to do, without a full stop. ``why`` gives the reason where it is not
    obvious. While a kind of file in ``needs`` cannot be read, the rule is
    skipped: one broken file would otherwise cause a finding for each entry
    that refers to it.
    """

    id: str
    asks: str
    fix: str
    why: str = ""
    level: Level = "error"
    needs: frozenset[Kind] = frozenset()

    def finding(self, problem: Problem) -> Finding:
        """The finding for a place that breaks the rule; the fix is the problem's or the rule's."""
        line, column = problem.place
        fix = problem.fix or self.fix
        return Finding(problem.path, line, column, self.id, self.level, problem.entry, problem.message, f"{fix}.")

    def at(self, place: Place, message: str, fix: str | None = None) -> Finding:
        """The finding at a place in a text, without a path."""
        return self.finding(Problem("", place, message, fix=fix))


def offset_place(text: str, offset: int) -> Place:
    """Line and column, from 1, of a character."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
