"""The checks of CI on a contribution to the terms, and the files that are generated from the terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from holisticbias.contribute.issue_forms import issue_chooser, issue_forms
from holisticbias.contribute.proposals import MADE_UP
from holisticbias.contribute.revisions import Files, Sides, changed_paths
from holisticbias.errors import SourceError
from holisticbias.source.addresses import ORGANISATION
from holisticbias.source.findings import Finding
from holisticbias.source.folder import FOLDERS, NEW, SINGLE_FILES, SourceFile, is_new
from holisticbias.source.layout import format_text
from holisticbias.source.schema import json_schemas
from holisticbias.terms.catalog import Catalog

_CODE = ("tools/", "evaluation/")
_TOGETHER = 3  # unchanged lines between two changes of one suggestion, at most twice as many


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines of a file, the first and the last one counted from 1, and the lines in their place."""

    path: str
    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checks:
    """The problems of a contribution; each part is empty if CI finds nothing of its kind.

    ``conflicts`` has the files that git cannot merge, ``layout`` and ``generated`` the files that differ from what
    the tools write, ``number`` what is wrong with the version in preparation, ``others`` the files besides the terms.
    """

    findings: tuple[Finding, ...] = ()
    conflicts: tuple[str, ...] = ()
    layout: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    number: str | None = None
    others: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """The number of problems that the contributor fixes."""
        return sum(f.level == "error" for f in self.findings) + len(self.conflicts)


def stale_layout(old: Files, new: Files) -> Iterator[tuple[str, str, str]]:
    """The path, text and canonical text of each changed file that is not in canonical layout."""
    before = {(f.kind, Path(f.document.path).name): f.document.path for f in old.files}
    for file in new.files:
        path = file.document.path
        if file.kind == "locks" or file.document.findings:
            continue
        content, earlier = new.read(path), before.get((file.kind, Path(path).name))
        if content is None or (earlier and old.read(earlier) == content):
            continue
        text = content.decode("utf-8")
        try:
            wanted = format_text(text, file.kind)
        except SourceError:
            continue  # a finding says what cannot be read
        if wanted != text:
            yield path, text, wanted


def suggestions(path: str, text: str, wanted: str) -> Iterator[Suggestion]:
    """The changes of lines that make one text the other, neighbours together; each replaces at least one line."""
    old, new = text.splitlines(), wanted.splitlines()
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_TOGETHER):
        changed = [part for part in group if part[0] != "equal"]
        first, last, start, end = changed[0][1], changed[-1][2], changed[0][3], changed[-1][4]
        if first == last:  # lines are added: replace the line before them, or the first one, with itself and them
            first, start = (first - 1, start - 1) if first else (first, start)
            last, end = (last, end) if last > first else (last + 1, end + 1)
        yield Suggestion(path, first + 1, last, tuple(new[start:end]))


def stale_generated(new: Files, sides: Sides, others: tuple[str, ...]) -> Iterator[str]:
    """The generated files that differ from what the tools write; those of a repository with changed tools are not."""
    if new.read(OWNERS) is None or any(path.startswith(_CODE) for path in others):
        return
    wanted = dict(generated_files(sides.new.catalog, new.files))
    if any(path.startswith("schema/") for path in others):
        wanted |= {f"schema/{name}": text for name, text in json_schemas().items()}
    for path, text in wanted.items():
        if new.read(path) != text.encode():
            yield path


def other_files(old: Files, new: Files) -> tuple[str, ...]:
    """The changed files that are not terms; empty unless both sides are in git."""
    if new.root is None or not old.revision or not new.revision:
        return ()
    terms = (*(f"{name}/" for name in FOLDERS), *(f"{name}.yaml" for name in SINGLE_FILES), "changes/")
    return tuple(p for p in changed_paths(old.revision, new.revision, new.root) if not p.startswith(terms))


OWNERS = ".github/CODEOWNERS"


def generated_files(catalog: Catalog, files: Iterable[SourceFile]) -> Mapping[str, str]:
    """The content of each generated file, by its path in the repository."""
    forms = {"config.yml": issue_chooser(), **issue_forms(catalog)}
    return {**{f".github/ISSUE_TEMPLATE/{name}": text for name, text in forms.items()}, OWNERS: code_owners(files)}


MAINTAINERS = f"@{ORGANISATION}/maintainers"


def code_owners(files: Iterable[SourceFile]) -> str:
    """The content of ``.github/CODEOWNERS``: a team for each axis of people, else the maintainers."""
    lines = [
        "# Generated by holisticbias sync",
        f"* {MAINTAINERS}",
        f"/nouns/ @{ORGANISATION}/reviewers-language",
        f"/templates/ @{ORGANISATION}/reviewers-language",
        *(f"/{name}/ @{ORGANISATION}/reviewers-{name}" for name in ("collections", "prompts", "specifications")),
    ]
    for file in files:
        data = file.document.data
        if (
            file.kind == "descriptors"
            and not is_new(file.document.path)
            and isinstance(data, dict)
            and data.get("axis") != MADE_UP
        ):
            name = file.document.path.replace("\\", "/").rsplit("/", maxsplit=1)[-1]
            axis = str(data.get("axis"))
            lines += [f"/descriptors/{name} {team(axis)}", f"/descriptors/{NEW}/{axis}.* {team(axis)}"]
    return "\n".join(lines) + "\n"


def team(axis: str) -> str:
    """The GitHub team that reviews an axis."""
    return f"@{ORGANISATION}/reviewers-{axis.replace('_', '-')}"
