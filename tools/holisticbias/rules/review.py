"""Rules on judgements of terms by reviewers and publications."""

from __future__ import annotations

from holisticbias.rules.check import Problems, rule
from holisticbias.source.records import Repository
from holisticbias.terms.entries import QUORUM, has_quorum


@rule(
    "assessment-source",
    asks="A judgement names its reviewer or its source.",
    fix="name the reviewer or the source of the judgement",
    why="Others can only ask about a judgement, or disagree with it, if they know where it comes from.",
)
def assessment_source(repository: Repository) -> Problems:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            for k, assessment in enumerate(descriptor.assessments):
                if assessment.reviewer is None and assessment.source is None:
                    message = "The judgement names neither a reviewer nor a source."
                    yield file.entry_problem(i, ("assessments", k), message)


@rule(
    "reviewer-twice",
    asks="A reviewer judges a term once per locale and version.",
    fix="keep one of the two, or give the newer one the version in 'since' from which it counts",
)
def reviewer_twice(repository: Repository) -> Problems:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            seen: set[tuple[str | None, str, str | None]] = set()
            for k, a in enumerate(descriptor.assessments):
                if a.reviewer is not None and (a.reviewer, a.locale, a.since) in seen:
                    message = f"{a.reviewer} judges the term twice for {a.locale}."
                    yield file.entry_problem(i, ("assessments", k, "reviewer"), message)
                seen.add((a.reviewer, a.locale, a.since))


@rule(
    "quorum",
    asks=f"A term is retired only if {QUORUM} reviewers or a publication object to it, or if another entry replaces it "
    "and nobody objects to it.",
    fix="record the judgement of a second reviewer with holisticbias assess; or, if nobody objects to the term, "
    "name the entry that replaces it in 'replaced_by'",
    why="One person does not decide for a community. The judgement of a single reviewer is recorded, but counts only "
    "when a second reviewer has judged the term: until then the term is published as `no_data` and is not retired. A "
    "publication that reports the view of a community counts as more than one person.",
)
def quorum(repository: Repository) -> Problems:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            against = [a for a in descriptor.judgements if a.judgement != "accepted"]
            needed = descriptor.until is not None and (against or descriptor.replaced_by is None)
            if needed and not has_quorum(against):
                reviewers = len({a.reviewer for a in against})
                message = f"The term is retired, but only {reviewers} of {QUORUM} reviewers object to it on record."
                yield file.entry_problem(i, ("until",), message)
