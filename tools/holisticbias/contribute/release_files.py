"""The versions in preparation and their numbers, and the files that follow from a frozen version."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from holisticbias.contribute.authoring import apply_edits, edited_files, prepare_version, write_edits
from holisticbias.contribute.diff import CHANGES, Bump, Difference, EntryChange, compare_versions
from holisticbias.contribute.entry_text import Edit, edit_nodes, written
from holisticbias.errors import SourceError
from holisticbias.output import clean_up, write_files
from holisticbias.rules.validate import load_catalog, valid_catalog
from holisticbias.source.document import read_document
from holisticbias.source.folder import FOLDERS, SOURCES_FILE, is_new, kind_files, read_source, term_files
from holisticbias.source.layout import Node, canonical_text, read_editable
from holisticbias.source.records import parse_files
from holisticbias.terminal import first_and_more
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import GROUP_KEYS, entries_key, place_among
from holisticbias.terms.versions import NEXT, is_number, version_key

CITATION = "CITATION.cff"
CHANGELOG = "CHANGELOG.md"
FRAGMENTS = "changes"
_LISTED = 100  # entries of a group in the changelog; releases/VERSION.changes.json has all
_FULL_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def complete_release(root: Path, version: str) -> tuple[Path, ...]:
    """Update the files that follow from a frozen version, and return the files that differ now.

    These are the citation and the changelog, in a repository that has them, and last the version ``next``. A
    second call changes nothing. Raises ``SourceError`` if the changelog cannot be written.
    """
    catalog = load_catalog(root)
    if catalog.published[-1:] != (version,):
        return ()
    date = catalog.release(version).date or ""
    texts = {**_citation(root, version, date), **_list_of_entries(root, catalog, version)}
    write_files(texts)
    collected = _changelog(root, version, date)
    changed = dict.fromkeys((*texts, *collected, *apply_edits(root, prepare_version(catalog, root))))
    return tuple(path for path in changed if path.exists() or path not in texts)


def remaining_steps(root: Path, catalog: Catalog, version: str) -> Iterator[str]:
    """The remaining steps for a frozen version, in order."""
    if fragments(root) and not _has_section(root, version):
        yield f"Write the changelog: pip install towncrier, then towncrier build --version {version}"
    if (root / CHANGELOG).is_file():
        yield f"Read the section on {version} in {CHANGELOG}; releases/{version}.changes.json has the numbers"
    references = root / "evaluation" / "reference"
    if references.is_dir() and not (references / version).exists():
        yield f"Measure the embedded model, some minutes: make evaluation/reference/{version}/result.json"
        yield "Measure the trained model, an hour or more, and register its results: make real-reference"
    before = [v for v in catalog.published if v != version]
    if before and (root / "README.md").is_file():
        search = f"git grep --fixed-strings {before[-1]} README.md docs"
        yield f"Update the examples and figures that name the version before: {search}"
    if (root / "Makefile").is_file():
        yield "Run every check and test: make test"
    yield f'Commit and merge: git add --all && git commit --message "Release {version} of the terms"'
    if (root / ".github" / "workflows" / "release.yml").is_file():
        yield f"Tag the merged commit, which publishes it: git tag v{version} && git push origin v{version}"
    else:
        built = f"holisticbias build --version {version} --out FOLDER"
        yield f"Publish: {built} && holisticbias publish FOLDER ORGANISATION/NAME"


def fragments(root: Path) -> tuple[Path, ...]:
    """The changelog fragments that no release has collected yet."""
    return tuple(sorted(path for path in (root / FRAGMENTS).glob("*.md") if path.name != "README.md"))


def _citation(root: Path, version: str, date: str) -> dict[Path, str]:
    """The citation with a version and its date; empty if it has them, or if there is no citation."""
    path = root / CITATION
    text = path.read_text("utf-8") if path.is_file() else ""
    lines = [line for line in text.splitlines() if not line.startswith("date-released:")]
    released = [f"date-released: {date}"] if _FULL_DATE.fullmatch(date) else []
    places = [i for i, line in enumerate(lines) if line.startswith("version:")]
    for place in places[:1]:
        lines[place : place + 1] = [f"version: {version}", *released]
    changed = "".join(f"{line}\n" for line in lines)
    return {} if not places or changed == text else {path: changed}


def _list_of_entries(root: Path, catalog: Catalog, version: str) -> dict[Path, str]:
    """A fragment of the changelog with the entries that a version changed; empty if the changelog has the version."""
    older = [v for v in catalog.published if version_key(v) < version_key(version)]
    if not older or not (root / CHANGELOG).is_file() or _has_section(root, version):
        return {}
    changes = compare_versions(catalog, older[-1], version)
    groups: dict[str, dict[str, list[EntryChange]]] = {}
    for entry in sorted(changes.entries, key=lambda e: CHANGES.index(e.change)):
        groups.setdefault(entry.id.partition(".")[0], {}).setdefault(entry.change, []).append(entry)
    lines = [
        f"- {group}: {'; '.join(f'{change}: {_names(entries)}' for change, entries in of_group.items())}"
        for group, of_group in sorted(groups.items())
    ]
    path = root / FRAGMENTS / f"+{version}.terms.md"
    return {path: "\n".join((f"Entries that differ from {older[-1]}:", "", *lines)) + "\n"} if lines else {}


def _names(entries: Sequence[EntryChange]) -> str:
    named = [f'"{e.text}"' + (f" (replaced by {e.replaced_by})" if e.replaced_by else "") for e in entries]
    return first_and_more(named, _LISTED)


def _has_section(root: Path, version: str) -> bool:
    path = root / CHANGELOG
    return path.is_file() and f"## {version} (" in path.read_text("utf-8")


def _changelog(root: Path, version: str, date: str) -> tuple[Path, ...]:
    """Let towncrier write the fragments to the changelog, and remove them; the changed files.

    There are none without fragments or towncrier. If the changelog has the version, an earlier call was interrupted:
    only the fragments that it contains are removed. Git need not be able to remove them: another process may use it.
    """
    if not fragments(root) or not (root / "pyproject.toml").is_file() or find_spec("towncrier") is None:
        return ()
    if not _has_section(root, version):
        command = [sys.executable, "-m", "towncrier", "build", "--keep"]
        options = ["--version", version, "--date", date]
        done = subprocess.run([*command, *options], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
        if done.returncode != 0:
            reason = " ".join((done.stderr or done.stdout).split())[-300:]
            raise SourceError(f"{version} is frozen, but towncrier could not write {CHANGELOG}: {reason}")
    written = _words(root / CHANGELOG)
    collected = [path for path in fragments(root) if _words(path) in written]
    for path in collected:
        path.unlink()
    return (root / CHANGELOG, *collected) if collected else ()


def _words(path: Path) -> str:
    return " ".join(path.read_text("utf-8").split())


_KEYS = ("since", "until", "version")


def begin_version(root: Path, version: str) -> tuple[Path, ...]:
    """Create a version in preparation: ``next``, or a fix that comes before it; returns the files that changed.

    It gets all that other versions in preparation with a number have. After an interruption, when these may have no
    entries, a second call continues. Raises ``SourceError`` if its own number is not above those of all published
    versions, or if the terms would not be valid.
    """
    clean_up(term_files(root))
    catalog = parse_files(read_source(root))[0].catalog()
    refuse_number(catalog, version, "a fix")
    changed: list[Path] = []
    for old in (v for v in fixes(catalog) if v != version):
        path = root / "releases" / f"{old}.yaml"
        former = Edit(path, "releases", None, path.read_text("utf-8") if path.is_file() else None)
        # the summary of a version that exists stays
        edits = [edit for edit in renamed(root, old, version) if edit.kind != "releases" or not edit.path.exists()]
        valid_catalog(edited_files(read_source(root), [*edits, former]), "nothing was written")
        changed += write_edits([*edits, former])
    return tuple(changed) or apply_edits(root, prepare_version(load_catalog(root), root, version))


def record_withdrawal(catalog: Catalog, root: Path, version: str, reason: str, today: str) -> tuple[Path, ...]:
    """Record that a published version is withdrawn; returns the file that changed. Raises ``SourceError``."""
    release = catalog.release(version)
    if release.digest is None:
        raise SourceError(f"version {version} is not published, so it cannot be withdrawn: change it")
    if release.withdrawn is not None:
        raise SourceError(f"version {version} is withdrawn already, since {release.withdrawn.date}")
    path = root / "releases" / f"{version}.yaml"
    before = path.read_text("utf-8")
    content = read_editable(before)
    content["withdrawn"] = written({"date": DoubleQuotedScalarString(today), "reason": reason})
    return apply_edits(root, [Edit(path, "releases", canonical_text(content, "releases"), before)])


def fixes(catalog: Catalog) -> tuple[str, ...]:
    """The versions in preparation that have a number."""
    return tuple(v for v in catalog.versions if v not in catalog.published and v != NEXT)


def renamed(root: Path, old: str, new: str) -> Iterator[Edit]:
    """The files that name a version, with another name in its place."""

    def rename(part: Node) -> bool:
        keys = [key for key in _KEYS if isinstance(part, CommentedMap) and part.get(key) == old]
        for key in keys:
            part[key] = new
        return bool(keys)

    for edit in edit_nodes(root, FOLDERS, old, rename):
        new_file = edit.path.with_name(f"{new}.yaml")
        yield replace(edit, path=new_file, before=None) if edit.kind == "releases" else edit


def gathered(root: Path, texts: Mapping[Path, str], version: str) -> tuple[dict[Path, str], tuple[Path, ...]]:
    """Move the new entries of a version to the files of their groups, and their sources to ``sources.yaml``.

    ``texts`` has the files that differ from those in ``root``. Returns them with the files that change, and the files
    of new entries that are then to be removed. An entry that is in the file of its group already is not added again.
    """
    changed, moved, sources = dict(texts), list[Path](), list[CommentedMap]()
    for kind, keys in GROUP_KEYS.items():
        documents = {path: read_document(path, "").data for path in kind_files(root, kind)}
        groups = {path: [data.get(key) for key in keys] for path, data in documents.items() if isinstance(data, dict)}
        for path in filter(is_new, groups):
            content = read_editable(changed.get(path) or path.read_text("utf-8"))
            entries = content[entries_key(kind)]
            target = next((other for other in groups if not is_new(other) and groups[other] == groups[path]), None)
            if target is None or any(entry.get("since") != version for entry in entries):
                continue
            group = read_editable(changed.get(target) or target.read_text("utf-8"))
            for entry in entries:
                _insert(group[entries_key(kind)], entry)
            sources += content.get("sources", [])
            changed[target] = canonical_text(group, kind)
            changed.pop(path, None)
            moved.append(path)
    if sources:
        file = root / SOURCES_FILE
        listed = read_editable(changed.get(file) or file.read_text("utf-8"))
        for source in sources:
            _insert(listed["sources"], source)
        changed[file] = canonical_text(listed, "sources")
    return changed, tuple(moved)


def _insert(entries: CommentedSeq, entry: CommentedMap) -> None:
    if entry["id"] not in {other["id"] for other in entries}:
        entries.insert(place_among(entries, entry, CommentedMap.get), entry)


def interrupted_number(root: Path) -> str | None:
    """The number that an interrupted ``releases --freeze`` was giving to ``next``; None if none was interrupted.

    Freezing begins by renaming ``releases/next.yaml``, and ends by writing the number into it.
    """
    for path in sorted((root / "releases").glob("*.yaml")):
        if is_number(path.stem) and f"\nversion: {NEXT}\n" in f"\n{path.read_text('utf-8')}":
            return path.stem
    return None


def refuse_number(catalog: Catalog, version: str, what: str) -> None:
    """Raise ``SourceError`` if a version would not come after all published ones."""
    for newest in catalog.published[-1:]:
        if version_key(version) <= version_key(newest):
            raise SourceError(f"{what} comes after {newest}, so {version} cannot be its number")


_BUMPS: tuple[Bump, ...] = get_args(Bump)


def number_problem(old: str, new: str, changes: Difference) -> str | None:
    """Explain why the number of a version is too low for its changes since an older version; None if it is not."""
    step = _step(old, new)
    if _BUMPS.index(step) >= _BUMPS.index(changes.bump):
        return None
    return (
        f"{new} is a {step} version after {old}, but its changes need a {changes.bump} version, "
        f"such as {following(old, changes.bump)}"
    )


def preparation_problem(catalog: Catalog) -> str | None:
    """Explain why the number of a fix in preparation is too low; None if it is not.

    The number of ``next`` follows from its changes when it is frozen.
    """
    for version in fixes(catalog) if catalog.published else ():
        old = catalog.published[-1]
        changes = compare_versions(catalog, old, version)
        problem = number_problem(old, version, changes)
        if problem is not None:
            return f"{problem}: run holisticbias releases --fix {following(old, changes.bump)}"
    return None


def following(old: str, bump: Bump) -> str:
    """The next version number after ``old`` for a kind of change."""
    major, minor, patch = version_key(old)
    return {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(bump, f"{major}.{minor}.{patch + 1}")


def _step(old: str, new: str) -> Bump:
    """The first part of the version number that differs."""
    pairs = zip(_BUMPS[:0:-1], version_key(old), version_key(new), strict=True)
    return next((bump for bump, a, b in pairs if a != b), "none")
