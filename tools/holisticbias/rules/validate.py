"""Validate source files: check them against every rule, and make the catalog."""

import gc
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from holisticbias.errors import SourceError
from holisticbias.inputs import path_of
from holisticbias.rules import RULES
from holisticbias.rules.check import CheckedRule
from holisticbias.rules.published import WAIVER_NEW, WAIVER_STALE, published_findings
from holisticbias.source.document import Document, Value, read_document
from holisticbias.source.findings import Finding, in_words, render_findings
from holisticbias.source.folder import (
    SINGLE_FILES,
    SourceFile,
    find_source,
    is_new,
    is_source,
    kind_of,
    read_source,
    shown_path,
)
from holisticbias.source.records import Located, Repository, parse_files
from holisticbias.terms.catalog import FILES, Catalog
from holisticbias.terms.file_kinds import GROUP_KEYS
from holisticbias.terms.versions import NEXT


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector: it would pass over all records several times, and they have no cycles to find."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def validate_files(files: Iterable[SourceFile]) -> tuple[Catalog, tuple[Finding, ...]]:
    """The catalog of everything that could be read, and all findings, sorted by file and line."""
    repository, findings = parse_files(files)
    return repository.catalog(), tuple(sorted({*findings, *_check(repository, published_findings(repository))}))


def _check(repository: Repository, published: Iterable[Finding] = ()) -> Iterator[Finding]:
    """The findings of all rules whose files could be read, and those of published versions, except waived findings."""
    found = [f for rule in RULES.values() if isinstance(rule, CheckedRule) for f in rule.findings(repository)]
    found += published
    return (f for f in _apply_waivers(repository, found) if not RULES[f.rule].needs & repository.unread)


def term_fault(keys: Mapping[str, Value], rules: Collection[str]) -> str | None:
    """The first fault of a term by itself, of the schema or one of some rules, in words without a full stop."""
    entry: Value = {"id": "x.x", "sources": ["x"], "since": NEXT, **keys}
    document = Document("", {"axis": "x", "label": "x", "descriptors": [entry]}, {})
    repository, findings = parse_files([SourceFile("descriptors", document)])
    found = (*findings, *(f for f in _check(repository) if f.rule in rules))
    return in_words(found[0]) if found else None


def _apply_waivers(repository: Repository, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings without a waiver, then findings about the waivers themselves."""
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
            checked = RULES.get(rule)
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


@collector_paused()
def validate_paths(paths: Iterable[Path]) -> tuple[Finding, ...]:
    """Check folders of terms, files and folders inside them, and files outside of them.

    Files outside are checked together, as if they replaced their counterparts in the nearest folder of terms; of two
    that have the same counterpart, each is checked without the other. Raises ``SourceError`` if a path does not exist
    or has no terms.
    """
    sources: dict[Path, tuple[SourceFile, ...]] = {}
    wanted: dict[Path, set[str]] = {}
    outside: dict[Path, list[SourceFile]] = {}
    found: set[Finding] = set()
    for path in paths:
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        root = path if is_source(path) else find_source(path if path.is_dir() else path.parent)
        if root not in sources:
            sources[root] = read_source(root)
        held = {f.document.path for f in sources[root]}
        # a folder in it may be a link to elsewhere: its files are not read, and their findings are shown
        inside = held if path == root else {p for p in held if _absolute(Path(p)).is_relative_to(_absolute(path))}
        if path.is_file() and not inside:
            outside.setdefault(root, []).append(_outside_file(path))
        elif not inside:
            raise SourceError(f"{path} has no terms: name a folder with descriptors/, nouns/ and templates/, or a file")
        wanted.setdefault(root, set()).update(inside)
    for root, files in outside.items():
        found.update(f for batch in _batches(files) for f in _validate_outside_files(batch, sources[root]))
    for root, shown in wanted.items():
        if shown:
            found.update(f for f in validate_files(sources[root])[1] if f.path in shown)
    return tuple(sorted(found))


def _absolute(path: Path) -> Path:
    """The absolute path of a file, without following the file itself: it may be a broken or circular link."""
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _outside_file(path: Path) -> SourceFile:
    document = read_document(path, shown_path(path))
    return SourceFile(kind_of(_absolute(path), document), document)


def _batches(files: Iterable[SourceFile]) -> list[list[SourceFile]]:
    """The files in as few groups as possible without two that have the same counterpart."""
    batches: list[list[SourceFile]] = []
    for file in files:
        free = (batch for batch in batches if not any(_replaces(file, other) for other in batch))
        batch = next(free, None)
        if batch is None:
            batches.append([file])
        else:
            batch.append(file)
    return batches


def _validate_outside_files(batch: list[SourceFile], source: tuple[SourceFile, ...]) -> Iterable[Finding]:
    """Check files outside of a folder of terms in place of their counterparts in the folder.

    The rules on published versions do not apply: the files are not part of any version.
    """
    shown = {file.document.path for file in batch}
    others = (f for f in source if is_new(f.document.path) or not any(_replaces(file, f) for file in batch))
    repository, findings = parse_files([*others, *batch])
    return (f for f in (*findings, *_check(repository)) if f.path in shown and not f.rule.startswith("published-"))


def _replaces(file: SourceFile, other: SourceFile) -> bool:
    if other.kind != file.kind:
        return False
    mine, theirs = file.document.data, other.document.data
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return Path(other.document.path).name == Path(file.document.path).name
    keys = [key for key in GROUP_KEYS.get(file.kind, ("version", "subset")) if key in mine]
    return file.kind in SINGLE_FILES or (bool(keys) and all(mine[key] == theirs.get(key) for key in keys))


def valid_catalog(files: Iterable[SourceFile], otherwise: str, then: str = "") -> Catalog:
    """The catalog of files; if they are not valid, raises ``SourceError`` with the first error between two texts."""
    catalog, findings = validate_files(files)
    errors = [f for f in findings if f.level == "error"]
    if errors:
        first = render_findings(errors[:1], "text")
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise SourceError(f"{otherwise}: {first}{more}{then}")
    return catalog


@collector_paused()
def load_catalog(root: Path | str | None = None) -> Catalog:
    """Load the catalog of a folder of terms; raises ``SourceError`` with the first finding if it is not valid.

    ``root`` defaults to the folder of terms at or above the current folder, else
    to the terms shipped with the package.
    """
    folder = find_source() if root is None else path_of("root", root, SourceError)
    return valid_catalog(read_source(folder), "the terms are not valid", " Run: holisticbias validate")
