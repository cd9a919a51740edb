"""The registry of results: one file for each model, release and measure, contributed and checked like the terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from holisticbias import build_release
from holisticbias.errors import SourceError, UnknownVersionError
from holisticbias.output import write_file
from holisticbias.source.folder import find_source
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import RegistryError
from holisticbias_eval.figures import Interval, Part
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.results.differences import same_model
from holisticbias_eval.results.run import ModelSignature, ReleaseSignature, Result, Signature

_PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (_PACKAGE / "data" / "results", _PACKAGE.parent / "results")
_ROUNDING = 1e-9
_PUBLIC_NAME = re.compile(r"[\w.-]+/[\w.-]+")

# the digest of a published version, or of its subset of this name; None if there is no such thing
Published = Callable[[str, str | None], str | None]

Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]


class AxisFigure(Part):
    """Likelihood Bias of an axis: its pairs, its share, and what stands beside the share."""

    axis: str = Field(min_length=1)
    label: str = Field(min_length=1)
    descriptors: Count
    pairs: Count
    significant: Count
    untested: Count
    share: Fraction | None
    interval: Interval | None
    floor: Fraction | None


class Entry(Part):
    """A file of ``evaluation/results/``: the main figures of a run, and everything that they depend on."""

    schema_version: Literal[1] = 1
    contributor: str = Field(min_length=1, description="who made the run")
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    note: str | None = None
    signature: Signature
    by_axis: tuple[AxisFigure, ...] = Field(min_length=1)

    @property
    def measure(self) -> str:
        """The measures, as one text."""
        return ",".join(self.signature.measures)

    @property
    def file_name(self) -> str:
        """What its file must be called."""
        release = self.signature.release
        version = f"{release.version}-{release.subset}" if release.subset else release.version
        return f"{_slug(self.signature.model.name)}-on-{_slug(version)}-{_slug(self.measure)}.json"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file of the registry."""

    path: Path
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")


def make_entry(result: Result, labels: Mapping[str, str], contributor: str, date: str, name: str | None) -> Entry:
    """Make a run's entry; ``name`` is what the model is called if the run has it from a folder."""
    signature = result.signature
    model = signature.model.model_copy(update={"name": name} if name else {})
    if _is_path(model.name) or (name is None and _is_local(model)):
        raise RegistryError(f"{model.name} is a folder of one machine: say with --name what others know the model as")
    trusted = {t.axis: t for t in result.trust.by_axis} if result.trust else {}
    figures = []
    for share in result.likelihood_bias.by_axis:
        axis, beside = share.axis or "", trusted.get(share.axis)
        figures.append(
            AxisFigure(
                **share.model_dump(exclude={"axis", "template"}),
                axis=axis,
                label=labels.get(axis, axis),
                interval=beside.interval if beside else None,
                floor=beside.floor if beside else None,
            )
        )
    signed = signature.model_copy(update={"model": model})
    return Entry(contributor=contributor, date=date, signature=signed, by_axis=tuple(figures))


def add_entry(entry: Entry, folder: Path, published: Published) -> Path:
    """Write an entry to the registry in a folder, and return its path.

    Raises ``RegistryError`` for an entry that the registry cannot take, or whose
    file holds another model's.
    """
    path = folder / entry.file_name
    for message in _check(path, entry, published):
        raise RegistryError(f"the registry cannot take this run: {message}")
    with suppress(OSError, ValidationError):  # no such file, or one that --check refuses
        old = Entry.model_validate_json(path.read_bytes())
        if not same_model(old.signature.model, entry.signature.model):
            raise RegistryError(f"{path} is the entry of another model: choose another --name")
    write_file(path, (entry.model_dump_json(indent=2) + "\n").encode())
    return path


def _is_path(name: str) -> bool:
    return name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1 or Path(name).is_absolute()


def _is_local(model: ModelSignature) -> bool:
    """Whether a run has its model from a folder or a file: the Hub gives a revision, and a server no weights."""
    return model.weights_sha256 is not None and model.revision is None and model.name != EMBEDDED_MODEL


def results_folder() -> Path | None:
    """The registry in the clone of the repository at or above the current folder."""
    with suppress(SourceError):
        folder = find_source(to_write=True) / "evaluation" / "results"
        return folder if folder.is_dir() else None
    return None


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


def read_registry(folder: Path | None, published: Published) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """Read the entries of a folder, by default those of the project, and everything that is wrong with them.

    Raises ``RegistryError`` if there is no such folder.
    """
    found = folder or results_folder() or next((f for f in FOLDERS if f.is_dir()), FOLDERS[-1])
    if not found.is_dir():
        raise RegistryError(f"{found} is no folder of results")
    entries: dict[Path, Entry] = {}
    problems = []
    for path in sorted(p for p in found.glob("*.json") if p.is_file()):
        try:
            entries[path] = Entry.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(Problem(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"))
    problems += [
        Problem(path, message) for path, entry in entries.items() for message in _check(path, entry, published)
    ]
    return tuple(entries.values()), tuple(problems)


def _check(path: Path, entry: Entry, published: Published) -> Iterator[str]:
    """What is wrong with an entry that a schema cannot say."""
    signature = entry.signature
    if path.name != entry.file_name:
        yield f"its file must be called {entry.file_name}"
    yield from _check_model(signature.model)
    yield from _check_release(signature.release, published)
    yield from _check_counts(signature)
    for name in signature.measures:
        if name not in MEASURES:
            yield f"signature.measures: there is no measure {name!r}"
    for axis, times in Counter(figure.axis for figure in entry.by_axis).items():
        if times > 1:
            yield f"by_axis: {axis} stands there {times} times"
    for figure in entry.by_axis:
        yield from (f"by_axis.{figure.axis}: {message}" for message in _check_figure(figure))


def _check_model(model: ModelSignature) -> Iterator[str]:
    if _is_path(model.name):
        yield f"signature.model.name: {model.name} is a folder of one machine"
    elif not _slug(model.name):
        yield "signature.model.name: a name needs a letter or a digit"
    elif not (model.weights_sha256 or model.revision or _PUBLIC_NAME.fullmatch(model.name)):
        yield (
            f"signature.model.name: nobody can tell which model {model.name} is: it needs the digest of its weights, "
            "or a public name as in organisation/name"
        )


def _check_release(release: ReleaseSignature, published: Published) -> Iterator[str]:
    if published(release.version, None) is None:
        yield f"signature.release.version: {release.version} is not published"
        return
    digest = published(release.version, release.subset)
    if digest is None:
        yield f"signature.release.subset: release {release.version} has no subset {release.subset!r}"
    elif release.digest != digest and release.subset:
        yield f"signature.release.digest: is not that of the subset {release.subset} of release {release.version}"
    elif release.digest != digest:
        yield (
            f"signature.release.digest: is not that of release {release.version}: measure the whole release, or its "
            "subset (holisticbias build --small)"
        )


def _check_counts(signature: Signature) -> Iterator[str]:
    scored, available = signature.sentences_scored, signature.sentences_available
    skipped = sum(s.sentences for s in signature.skipped)
    if scored > available:
        yield "signature.sentences_scored: there are not so many sentences available"
    elif scored + skipped != available:
        yield (
            f"signature.sentences_scored: {scored:,} sentences scored and {skipped:,} skipped are not all of the "
            f"{available:,} available"
        )


def _check_figure(figure: AxisFigure) -> Iterator[str]:
    if figure.significant > figure.pairs:
        yield f"{figure.significant} of {figure.pairs} pairs cannot differ"
    elif figure.pairs == 0 and figure.share is not None:
        yield "without a pair there is no share: it must be null"
    elif figure.pairs and (figure.share is None or abs(figure.share - figure.significant / figure.pairs) > _ROUNDING):
        yield f"its share is not {figure.significant} / {figure.pairs}"
    if figure.interval and not 0 <= figure.interval.low <= figure.interval.high <= 1:
        yield "its interval must go upwards, from 0 to 1 at most"
