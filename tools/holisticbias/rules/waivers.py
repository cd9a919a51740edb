"""Waivers for entries that are older than a rule that they break, and rules on the list of waivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holisticbias.rules.check import WITH_ENTRIES
from holisticbias.source.findings import Finding
from holisticbias.source.records import Repository
from holisticbias.source.rule import Rule

WAIVER_STALE = Rule(
    "waiver-stale",
    asks="An entry with a waiver breaks the waived rule.",
    fix="remove the waiver",
    why="A waiver exempts an entry that was published before the rule existed. No waivers are added, so the list only "
    "becomes shorter.",
    needs=WITH_ENTRIES | {"intersections"},
)
WAIVER_NEW = Rule(
    "waiver-new",
    asks="Only entries of published versions have waivers.",
    fix="correct the entry instead of waiving the rule",
    needs=frozenset({"locks"}),
)


def apply_waivers(repository: Repository, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings without a waiver, then findings about the waivers themselves."""
    waived = {
        (rule, entry) for f in repository.waivers for rule, entries in f.record.waivers.items() for entry in entries
    }
    published = {entry for f in repository.locks for entry in f.record.entries}
    used: set[tuple[str, str]] = set()
    for finding in findings:
        if (finding.rule, finding.entry) in waived and finding.entry in published:
            used.add((finding.rule, finding.entry))
        else:
            yield finding
    for file in repository.waivers:
        for rule, entries in file.record.waivers.items():
            for k, entry in enumerate(entries):
                keys = ("waivers", rule, k)
                if entry not in published:
                    yield WAIVER_NEW.finding(file.problem(keys, f"{entry!r} is not in a published version.", entry))
                elif (rule, entry) not in used and entry not in repository.left_out:
                    message = f"{entry!r} does not break the rule {rule!r}."
                    yield WAIVER_STALE.finding(file.problem(keys, message, entry))
