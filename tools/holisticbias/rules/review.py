"""Rules on judgements of entries by reviewers and publications."""

from __future__ import annotations

from holisticbias.rules.check import Problems, rule
from holisticbias.source.records import Repository
from holisticbias.terms.entries import QUORUM, Judged, has_quorum

_KIND = {"descriptors": "term", "specifications": "specification"}


@rule(
    "assessment-source",
    asks="A judgement names its reviewer or its source.",
    fix="name the reviewer or the source of the judgement",
    why="Others can only ask about a judgement, or disagree with it, if they know where it comes from.",
)
def assessment_source(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        for k, assessment in enumerate(entry.assessments if isinstance(entry, Judged) else ()):
            if assessment.reviewer is None and assessment.source is None:
                message = "The judgement names neither a reviewer nor a source."
                yield file.entry_problem(i, ("assessments", k), message)


@rule(
    "reviewer-twice",
    asks="A reviewer judges an entry once per locale and version.",
    fix="keep one of the two, or give the newer one the version in 'since' from which it counts",
)
def reviewer_twice(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        seen: set[tuple[str | None, str, str | None]] = set()
        for k, a in enumerate(entry.assessments if isinstance(entry, Judged) else ()):
            if a.reviewer is not None and (a.reviewer, a.locale, a.since) in seen:
                message = f"{a.reviewer} judges the {_KIND[file.entries]} twice for {a.locale}."
                yield file.entry_problem(i, ("assessments", k, "reviewer"), message)
            seen.add((a.reviewer, a.locale, a.since))


@rule(
    "quorum",
    asks=f"A term or a specification is retired only if {QUORUM} reviewers or a publication object to it, if "
    "another entry replaces it and nobody objects to it, or if an entry with the same text replaces it.",
    fix="record the judgement of a second reviewer with holisticbias assess; or, if nobody objects to it, "
    "name the entry that replaces it in 'replaced_by'",
    why="One person does not decide for a community. The judgement of a single reviewer is recorded, but counts only "
    "when a second reviewer has judged the term: until then the term is published as `no_data` and is not retired. A "
    "publication that reports the view of a community counts as more than one person.",
)
def quorum(repository: Repository) -> Problems:
    texts = {entry.id: entry.text for _, _, entry in repository.entries()}
    for file, i, entry in repository.entries():
        if isinstance(entry, Judged) and texts.get(entry.replaced_by or "") != entry.text:
            against = [a for a in entry.judgements if a.judgement != "accepted"]
            needed = entry.until is not None and (against or entry.replaced_by is None)
            if needed and not has_quorum(against):
                reviewers = len({a.reviewer for a in against})
                what = f"The {_KIND[file.entries]} is retired, but only {reviewers} of {QUORUM} reviewers"
                yield file.entry_problem(i, ("until",), f"{what} object to it on record.")
