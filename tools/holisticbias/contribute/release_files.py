"""Citation, changelog and next version of a release, and the list of remaining steps."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from holisticbias.contribute.authoring import apply_edits, prepare_version
from holisticbias.contribute.diff import CHANGES, EntryChange, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key

CITATION = "CITATION.cff"
CHANGELOG = "CHANGELOG.md"
FRAGMENTS = "changes"
_LISTED = 100  # entries of a group in the changelog; releases/VERSION.changes.json has all
_FULL_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def complete_release(root: Path, version: str) -> tuple[Path, ...]:
    """Update the files that follow from a frozen version, and return the changed files.

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
    return (*texts, *collected, *apply_edits(root, prepare_version(catalog, root)))


def remaining_steps(root: Path, catalog: Catalog, version: str) -> tuple[str, ...]:
    """The remaining steps for a frozen version, in order."""
    return tuple(_steps(root, catalog, version))


def _steps(root: Path, catalog: Catalog, version: str) -> Iterator[str]:
    if fragments(root):
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
        yield f"Publish: holisticbias build --version {version} --out DIR && holisticbias publish DIR ORGANISATION/NAME"


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
    changelog = root / CHANGELOG
    if not older or not changelog.is_file() or f"## {version} (" in changelog.read_text("utf-8"):
        return {}
    changes = compare(Revision(older[-1], catalog, older[-1]), Revision(version, catalog, version), samples=0)
    groups: dict[str, list[str]] = {}
    for change in CHANGES:
        of_group: dict[str, list[EntryChange]] = {}
        for entry in (e for e in changes.entries if e.change == change):
            of_group.setdefault(entry.id.partition(".")[0], []).append(entry)
        for group, entries in of_group.items():
            groups.setdefault(group, []).append(f"{change}: {_names(entries)}")
    lines = [f"- {group}: {'; '.join(parts)}" for group, parts in sorted(groups.items())]
    path = root / FRAGMENTS / f"+{version}.terms.md"
    return {path: "\n".join((f"Entries that differ from {older[-1]}:", "", *lines)) + "\n"} if lines else {}


def _names(entries: Sequence[EntryChange]) -> str:
    shown = [f'"{e.text}"' + (f" (replaced by {e.replaced_by})" if e.replaced_by else "") for e in entries[:_LISTED]]
    more = f" and {len(entries) - _LISTED:,} more" if len(entries) > _LISTED else ""
    return ", ".join(shown) + more


def _changelog(root: Path, version: str, date: str) -> tuple[Path, ...]:
    """Let towncrier move the fragments to the changelog; empty if there are none, or without towncrier."""
    collected = fragments(root)
    if not collected or not (root / "pyproject.toml").is_file() or find_spec("towncrier") is None:
        return ()
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, "--date", date]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if done.returncode != 0:
        reason = " ".join((done.stderr or done.stdout).split())[-300:]
        raise SourceError(f"{version} is frozen, but towncrier could not write {CHANGELOG}: {reason}")
    return (root / CHANGELOG, *collected)
