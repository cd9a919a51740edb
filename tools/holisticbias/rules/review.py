"""Rules on judgements of terms, and on what was waived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holisticbias.source.findings import Finding
from holisticbias.source.records import Repository
from holisticbias.terms.entries import QUORUM, has_quorum


def reviewer_twice(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            seen: set[tuple[str | None, str, str | None]] = set()
            for k, a in enumerate(descriptor.assessments):
                if a.reviewer is not None and (a.reviewer, a.locale, a.since) in seen:
                    message = f"{a.reviewer} judges the term twice for {a.locale}."
                    yield file.report_entry("reviewer-twice", i, ("assessments", k, "reviewer"), message)
                seen.add((a.reviewer, a.locale, a.since))


def quorum(repository: Repository) -> Iterator[Finding]:
    """A term goes when enough people object to it, or when another takes its place and nobody does."""
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            against = [a for a in descriptor.judgements if a.judgement != "accepted"]
            needed = descriptor.until is not None and (against or descriptor.replaced_by is None)
            if needed and not has_quorum(against):
                reviewers = len({a.reviewer for a in against})
                message = f"The term goes, and {reviewers} of {QUORUM} reviewers object to it on record."
                yield file.report_entry("quorum", i, ("until",), message)


def apply_waivers(repository: Repository, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that no waiver covers, and what is wrong with the waivers themselves."""
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
                    yield file.report("waiver-new", keys, f"{entry!r} is in no published version.", entry)
                elif (rule, entry) not in used and entry not in repository.left_out:
                    yield file.report("waiver-stale", keys, f"{entry!r} does not break the rule {rule!r}.", entry)
