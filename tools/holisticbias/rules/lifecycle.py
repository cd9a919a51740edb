"""Rules on the versions in which entries are added, changed and retired, and on the judgements that retire them."""

from pathlib import Path

from holisticbias.rules.check import WITH_ENTRIES, Faults, Problems, rule, stated_texts
from holisticbias.source.folder import folder_kind
from holisticbias.source.records import EntryFile, Repository
from holisticbias.terms.entries import QUORUM, Entry, Judged, has_quorum
from holisticbias.terms.file_kinds import COMPANIONS, TERMS
from holisticbias.terms.version_files import WITH_FORMS, WITH_PROMPTS
from holisticbias.terms.versions import version_key


@rule(
    asks="Every version of an entry has a file in releases/.",
    fix="write next, which is the version in preparation",
    why="A change is for the version in preparation, which is called next until it is published and gets its number: "
    "so a contribution stays right, whatever is published before it is merged.",
    needs=frozenset({"releases"}),
)
def known_version(repository: Repository) -> Problems:
    known = {f.record.version for f in repository.releases}
    for file, i, keys, version in stated_texts(repository, {"since", "until"}.__contains__):
        if version not in known:
            yield file.entry_problem(i, keys, f"The version {version} has no file in releases/.")


@rule(
    asks="A file in releases/ has the name of its version.",
    fix="rename the file; if holisticbias releases --freeze was interrupted, run it again",
)
def version_file(repository: Repository) -> Problems:
    for file in repository.releases:
        path = Path(file.document.path)
        if "releases" in folder_kind(path) and path.name != f"{file.record.version}.yaml":
            yield file.problem(("version",), f"The file {path.name} says that it is version {file.record.version}.")


@rule(
    asks="The version in 'until' comes after the one in 'since', and the ones in 'history' lie between them.",
    fix="put the versions in order",
)
def version_order(entry: Entry) -> Faults:
    since = version_key(entry.since)
    end = None if entry.until is None else version_key(entry.until)
    if end is not None and end <= since:
        yield ("until",), f"until {entry.until} is not after since {entry.since}."
    for k, wording in enumerate(entry.history):
        if version_key(wording.until) <= since or (end is not None and version_key(wording.until) > end):
            yield ("history", k, "until"), f"The version {wording.until} is outside the versions of the entry."


@rule(
    asks="A version has descriptors, nouns and templates.",
    fix="check the versions in 'since' and 'until'; if holisticbias releases --fix was interrupted, run it again",
    needs=WITH_ENTRIES,
)
def empty_version(repository: Repository) -> Problems:
    for file in repository.releases:
        held = _kinds_held(repository, file.record.version)
        missing = [kind for kind in TERMS if kind not in held]
        if missing:
            yield file.problem(("version",), f"Version {file.record.version} has no {' and no '.join(missing)}.")


@rule(
    asks=f"A version with collections, prompts or specifications has layout {WITH_PROMPTS} or later, and a version "
    f"whose groups or specifications have forms has layout {WITH_FORMS} or later.",
    fix="set this layout, or a later version in 'since'",
    why="Releases in an earlier layout have no tables or columns for them, so a release would lack them.",
)
def version_layout(repository: Repository) -> Problems:
    for file in repository.releases:
        version, layout = file.record.version, file.record.layout
        found = _kinds_held(repository, version) & {*COMPANIONS}
        if found and layout < WITH_PROMPTS:
            yield file.problem(
                ("layout",), f"Version {version} has {' and '.join(sorted(found))}, and layout {layout}."
            )
        elif layout < WITH_FORMS and _has_forms(repository, version):
            yield file.problem(("layout",), f"Version {version} has word forms, and layout {layout}.")


def _has_forms(repository: Repository, version: str) -> bool:
    files: tuple[EntryFile, ...] = (*repository.collections, *repository.specifications)
    entries = (e for file in files for e in file.record.entries if e.is_in(version))
    return any(getattr(entry.at(version), "forms", None) for entry in entries)


def _kinds_held(repository: Repository, version: str) -> set[str]:
    """The kinds that have an entry in a version."""
    files = repository.with_entries
    return {file.record.kind for file in files if any(e.is_in(version) for e in file.record.entries)}


@rule(
    asks="A judgement names its reviewer or its source.",
    fix="name the reviewer or the source of the judgement",
    why="Others can only ask about a judgement, or disagree with it, if they know where it comes from.",
)
def assessment_source(entry: Judged) -> Faults:
    for k, assessment in enumerate(entry.assessments):
        if assessment.reviewer is None and assessment.source is None:
            yield ("assessments", k), "The judgement names neither a reviewer nor a source."


@rule(
    asks="A reviewer judges an entry once per locale and version.",
    fix="keep one of the two, or give the newer one the version in 'since' from which it counts",
)
def reviewer_twice(entry: Judged) -> Faults:
    seen: set[tuple[str | None, str, str | None]] = set()
    for k, a in enumerate(entry.assessments):
        if a.reviewer is not None and (a.reviewer, a.locale, a.since) in seen:
            yield ("assessments", k, "reviewer"), f"{a.reviewer} judges the entry twice for {a.locale}."
        seen.add((a.reviewer, a.locale, a.since))


@rule(
    asks=f"A term or a specification is retired only if {QUORUM} reviewers or a publication object to it, if "
    "another entry replaces it and nobody objects to it, or if an entry with the same text replaces it.",
    fix="record the judgement of a second reviewer with holisticbias assess; or, if nobody objects to it, "
    "name the entry that replaces it in 'replaced_by'",
    why="One person does not decide for a community. The judgement of a single reviewer is recorded, but counts only "
    "when a second reviewer has judged the term: until then the term is published as `no_data` and is not retired. A "
    "publication that reports the view of a community counts as more than one person.",
)
def quorum(repository: Repository) -> Problems:
    texts_of = {entry.id: entry.text for _, _, entry in repository.entries()}
    for file, i, entry in repository.of(Judged):
        if texts_of.get(entry.replaced_by or "") != entry.text:
            against = [a for a in entry.judgements if a.judgement != "accepted"]
            needed = entry.until is not None and (against or entry.replaced_by is None)
            if needed and not has_quorum(against):
                reviewers = len({a.reviewer for a in against})
                what = f"The entry is retired, but only {reviewers} of {QUORUM} reviewers"
                yield file.entry_problem(i, ("until",), f"{what} object to it on record.")
