"""Waivers for entries that are older than a rule that they break, and rules on the list of waivers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from holisticbias.rules.check import WITH_ENTRIES, CheckedRule
from holisticbias.source.findings import Finding, Rule
from holisticbias.source.records import Located, Repository
from holisticbias.terms.catalog import FILES

WAIVER_STALE = Rule(
    "waiver-stale",
    asks="An entry with a waiver breaks the waived rule.",
    fix="remove the waiver",
    why="A waiver exempts an entry that was published before the rule existed. No waivers are added, so the list only "
    "becomes shorter. A waiver stays when an entry is retired, because earlier versions still have the entry.",
    needs=WITH_ENTRIES | {"intersections"},
)
WAIVER_NEW = Rule(
    "waiver-new",
    asks="Only entries of published versions have waivers.",
    fix="correct the entry instead of waiving the rule",
    needs=frozenset({"locks"}),
)


def apply_waivers(repository: Repository, findings: Iterable[Finding], rules: Mapping[str, Rule]) -> Iterator[Finding]:
    """Yield findings without a waiver, then findings about the waivers themselves; ``rules`` has all rules by id."""
    waivers = [
        (file, rule, k, entry)
        for file in repository.waivers
        for rule, entries in file.record.waivers.items()
        for k, entry in enumerate(entries)
    ]
    waived = {(rule, entry) for _, rule, _, entry in waivers}
    published = repository.published
    used: set[tuple[str, str]] = set()
    for finding in findings:
        if (finding.rule, finding.entry) in waived and finding.entry in published:
            used.add((finding.rule, finding.entry))
        else:
            yield finding
    for file, rule, k, entry in waivers:
        keys = ("waivers", rule, k)
        if entry not in published:
            yield WAIVER_NEW.finding(file.problem(keys, f"{entry!r} is not in a published version.", entry))
        elif (rule, entry) not in used and entry not in repository.left_out:
            checked = rules.get(rule)
            found = checked.findings(_before_retirements(repository)) if isinstance(checked, CheckedRule) else ()
            if entry not in {finding.entry for finding in found}:
                message = f"{entry!r} does not break the rule {rule!r}."
                yield WAIVER_STALE.finding(file.problem(keys, message, entry))


def _before_retirements(repository: Repository) -> Repository:
    """The repository as if no entry had been retired."""
    entered: dict[str, Any] = {name: tuple(map(_unretired, getattr(repository, name))) for name in FILES.values()}
    return replace(repository, **entered)


def _unretired(file: Located[Any]) -> Located[Any]:
    entries = (e.model_copy(update={"until": None}) for e in file.record.entries)
    return replace(file, record=file.record.with_entries(entries))
