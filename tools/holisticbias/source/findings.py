"""Rules, and findings: what breaks a rule, where, how serious it is and how to fix it."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from holisticbias.source.addresses import rule_link
from holisticbias.terminal import counted, cut, visible
from holisticbias.terms.file_kinds import Kind

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place where a file breaks a rule; lines and columns count from 1."""

    path: str
    line: int
    column: int
    rule: str
    level: Level
    entry: str
    message: str
    fix: str


def shown(value: object) -> str:
    """The ``repr`` of a value, in at most 60 characters."""
    return cut(repr(value), 60)


def one_line(text: str) -> str:
    """The text with every line end and character that could steer a terminal written as an escape."""
    return visible(text, keep="")


def in_words(finding: Finding) -> str:
    """The message of a finding, its fix and its rule, without a full stop."""
    return f"{finding.message} Fix: {finding.fix} (rule {finding.rule})"


def count_findings(findings: Iterable[Finding]) -> str:
    """The numbers of errors and warnings in words: "1 error and 2 warnings"; "no findings" without any."""
    levels = Counter(finding.level for finding in findings)
    counts = (counted(levels[level], f"{level}s") for level in ("error", "warning") if levels[level])
    return " and ".join(counts) or "no findings"


def render_findings(findings: Iterable[Finding], style: str) -> str:
    """Render findings as lines of ``text``, as one ``json`` array, or as ``github`` annotations."""
    if style == "json":
        return json.dumps([asdict(f) for f in findings], ensure_ascii=False, indent=2)
    return "\n".join(map(_github_line if style == "github" else _text_line, findings))


def _text_line(finding: Finding) -> str:
    entry = f" [{finding.entry}]" if finding.entry else ""
    return one_line(
        f"{finding.path}:{finding.line}:{finding.column} {finding.level} {finding.rule}{entry} "
        f"{finding.message} Fix: {finding.fix}"
    )


def _github_line(finding: Finding) -> str:
    place = f"file={_property(one_line(finding.path))},line={finding.line},col={finding.column}"
    entry = f"[{finding.entry}] " if finding.entry else ""
    page = rule_link(finding.rule)
    message = one_line(f"{entry}{finding.message} Fix: {finding.fix} See {page}").replace("%", "%25")
    return f"::{finding.level} {place},title={_property(finding.rule)}::{message}"


def _property(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


Place = tuple[int, int]


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
