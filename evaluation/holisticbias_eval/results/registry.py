"""The registry of results: one file for each model, release and measure, contributed and checked like the terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from holisticbias import build_release
from holisticbias.errors import SourceError, UnknownVersionError
from holisticbias.output import write_file
from holisticbias.release.bounded import require_file
from holisticbias.source.folder import find_source
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import RegistryError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.results.entry import Entry, is_path, slug
from holisticbias_eval.results.replacement import same_model
from holisticbias_eval.results.signature import ModelSignature, ReleaseSignature, Signature

_PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (_PACKAGE / "data" / "results", _PACKAGE.parent / "results")
_PUBLIC_NAME = re.compile(r"[\w.-]+/[\w.-]+")

_DIGEST = re.compile(r"[0-9a-f]{64}")
_OF_FILES = {"pairs": "pairs", "group_sentences": "test set"}  # what measures of a user's file score
_WHOSE = {"pairs": "their", "test set": "its"}

# the digest of a published version, or of its subset of this name; None if it does not exist
Published = Callable[[str, str | None], str | None]


_LARGEST = 16_000_000  # bytes of an entry


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """A problem of a file of the registry."""

    path: Path
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def add_entries(entries: Sequence[Entry], folder: Path, published: Published) -> list[Path]:
    """Write entries to the registry in a folder, all or none, and return their paths.

    Raises ``RegistryError`` for an entry that the registry does not accept, or if
    its file is the entry of another model.
    """
    paths = [folder / entry.file_name for entry in entries]
    for path, entry in zip(paths, entries, strict=True):
        for message in _check(path, entry, published):
            raise RegistryError(f"the registry does not accept this run: {message}")
        with suppress(OSError, ValidationError):  # the file is missing, or --check reports it
            old = Entry.model_validate_json(path.read_bytes())
            if not same_model(old.signature.model, entry.signature.model):
                raise RegistryError(f"{path} is the entry of another model: choose another --name")
    for path, entry in zip(paths, entries, strict=True):
        write_file(path, (entry.model_dump_json(indent=2) + "\n").encode())
    return paths


def results_folder() -> Path | None:
    """The registry in the clone of the repository at or above the current folder."""
    with suppress(SourceError):
        folder = find_source(to_write=True) / "evaluation" / "results"
        return folder if folder.is_dir() else None
    return None


def registry_folder(folder: Path | None) -> Path:
    """The given folder, else the registry of the current clone, else the registry of the package."""
    return folder or results_folder() or next((f for f in FOLDERS if f.is_dir()), FOLDERS[-1])


def published_digests(catalog: Catalog) -> Published:
    """Look up the digests of published releases, and compile their subsets to get theirs."""
    digests = {release.version: release.digest for release in catalog.releases if release.digest}

    @cache
    def digest_of(version: str, subset: str | None) -> str | None:
        if version not in digests or subset is None:
            return digests.get(version)
        try:
            return build_release(catalog, version, subset).digest
        except UnknownVersionError:
            return None

    return digest_of


def read_registry(folder: Path | None, published: Published) -> tuple[tuple[Entry, ...], tuple[EntryProblem, ...]]:
    """Read the entries of a folder, by default of the project, and their problems.

    Raises ``RegistryError`` if there is no such folder.
    """
    found = registry_folder(folder)
    if not found.is_dir():
        raise RegistryError(f"{found} is not a folder of results")
    entries: dict[Path, Entry] = {}
    problems = []
    for path in sorted(p for p in found.glob("*.json") if p.is_file()):
        try:
            entries[path] = Entry.model_validate_json(require_file(path, _LARGEST).read_bytes())
        except OSError as error:
            problems.append(EntryProblem(path, f"it cannot be read: {error.strerror}"))
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(EntryProblem(path, f"{'.'.join(map(str, first['loc']))}: {schema_message(first)}"))
    problems += [
        EntryProblem(path, message) for path, entry in entries.items() for message in _check(path, entry, published)
    ]
    return tuple(entries.values()), tuple(problems)


def _check(path: Path, entry: Entry, published: Published) -> Iterator[str]:
    """Find the problems of an entry that a schema cannot express."""
    signature = entry.signature
    if path.name != entry.file_name:
        yield f"its file must be called {entry.file_name}"
    yield from _check_model(signature.model)
    yield from _check_release(signature.release, entry.measure, published)
    yield from _check_counts(signature)
    if entry.measure not in MEASURES:
        yield f"measure: there is no measure {entry.measure!r}"
    yield from _check_figures(entry)


def _check_model(model: ModelSignature) -> Iterator[str]:
    if is_path(model.name):
        yield f"signature.model.name: {model.name} is a folder on one machine"
    elif not slug(model.name):
        yield "signature.model.name: a name needs a letter or a digit"
    elif not (model.weights_sha256 or model.revision or _PUBLIC_NAME.fullmatch(model.name)):
        yield (
            f"signature.model.name: {model.name} does not identify a model: it needs the digest of its weights, "
            "or a public name such as organisation/name"
        )


def _check_release(release: ReleaseSignature, measure: str, published: Published) -> Iterator[str]:
    what = _OF_FILES.get(MEASURES[measure].needs.answers) if measure in MEASURES else None
    if what is not None:
        if release.what != what or not release.prompts or not _DIGEST.fullmatch(release.digest):
            yield f"signature.release: needs the name of the {what} and the SHA-256 of {_WHOSE[what]} rows"
        return
    if published(release.version, None) is None:
        yield f"signature.release.version: {release.version} is not published"
        return
    digest = published(release.version, release.subset)
    if digest is None:
        yield f"signature.release.subset: release {release.version} has no subset {release.subset!r}"
    elif release.digest != digest and release.subset:
        yield f"signature.release.digest: is not the digest of the subset {release.subset} of release {release.version}"
    elif release.digest != digest:
        yield (
            f"signature.release.digest: is not the digest of release {release.version}: measure the whole release, or "
            "its subset (holisticbias build --small)"
        )


def _check_counts(signature: Signature) -> Iterator[str]:
    scored, available = signature.sentences_scored, signature.sentences_available
    skipped = sum(s.sentences for s in signature.skipped)
    if scored > available:
        yield "signature.sentences_scored: more than the available sentences"
    elif scored + skipped != available:
        yield (
            f"signature.sentences_scored: {scored:,} sentences scored and {skipped:,} skipped are not all of the "
            f"{available:,} available"
        )


def _check_figures(entry: Entry) -> Iterator[str]:
    """Find figures that are impossible or contradict each other."""
    places = Counter((figure.name, *figure.keys.values()) for figure in entry.figures)
    for place, times in places.items():
        if times > 1:
            yield f"figures: {' of '.join(place)} is given {times} times"
    for figure in entry.figures:
        where = f"figures: {' of '.join((figure.name, *figure.keys.values()))}"
        if figure.measure != entry.measure:
            yield f"{where} belongs to the measure {figure.measure!r}"
        if figure.value is not None and figure.n < 1:
            yield f"{where} has a value although n is 0: it must be null"
        if figure.interval and figure.interval.low > figure.interval.high:
            yield f"{where}: its interval must have low <= high"
        ends = (figure.interval.low, figure.interval.high) if figure.interval else ()
        if figure.unit == "share" and any(
            v is not None and not 0 <= v <= 1 for v in (figure.value, figure.floor, *ends)
        ):
            yield f"{where}: a share must lie between 0 and 1"
    if entry.measure in MEASURES:
        yield from (f"figures: {message}" for message in MEASURES[entry.measure].problems(Figures(entry.figures)))
