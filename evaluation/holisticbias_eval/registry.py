"""The registry of results: one file a model, release and measure, contributed and checked like the terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from holisticbias_eval.errors import RegistryError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.records import Interval, Part
from holisticbias_eval.run import Result, Signature

_PACKAGE = Path(__file__).resolve().parent
FOLDERS = (_PACKAGE / "data" / "results", _PACKAGE.parent / "results")
_ROUNDING = 1e-9

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
    """A run's entry; ``name`` is what the model is called where the run knows it as a folder."""
    signature = result.signature
    model = signature.model.model_copy(update={"name": name} if name else {})
    if _is_folder(model.name):
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


def _is_folder(name: str) -> bool:
    return name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1 or Path(name).is_absolute()


def read_registry(folder: Path | None, digests: Mapping[str, str]) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The entries of a folder, by default those of the project, and everything that is wrong with them.

    ``digests`` are those of the published releases by version. Raises
    ``RegistryError`` where there is no such folder.
    """
    found = folder or next((f for f in FOLDERS if f.is_dir()), FOLDERS[-1])
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
    problems += [Problem(path, message) for path, entry in entries.items() for message in _check(path, entry, digests)]
    return tuple(entries.values()), tuple(problems)


def _check(path: Path, entry: Entry, digests: Mapping[str, str]) -> Iterator[str]:
    """What a schema cannot say."""
    signature, release = entry.signature, entry.signature.release
    if path.name != entry.file_name:
        yield f"its file must be called {entry.file_name}"
    if _is_folder(signature.model.name):
        yield f"signature.model.name: {signature.model.name} is a folder of one machine"
    if signature.sentences_scored > signature.sentences_available:
        yield "signature.sentences_scored: there are not so many sentences available"
    for name in signature.measures:
        if name not in MEASURES:
            yield f"signature.measures: there is no measure {name!r}"
    if release.version not in digests:
        yield f"signature.release.version: {release.version} is not published"
    elif release.subset is None and release.digest != digests[release.version]:
        yield f"signature.release.digest: is not that of release {release.version}"
    for axis, times in Counter(figure.axis for figure in entry.by_axis).items():
        if times > 1:
            yield f"by_axis: {axis} stands there {times} times"
    for figure in entry.by_axis:
        yield from (f"by_axis.{figure.axis}: {message}" for message in _check_figure(figure))


def _check_figure(figure: AxisFigure) -> Iterator[str]:
    if figure.significant > figure.pairs:
        yield f"{figure.significant} of {figure.pairs} pairs cannot differ"
    elif figure.pairs == 0 and figure.share is not None:
        yield "without a pair there is no share: it must be null"
    elif figure.pairs and (figure.share is None or abs(figure.share - figure.significant / figure.pairs) > _ROUNDING):
        yield f"its share is not {figure.significant} / {figure.pairs}"
    if figure.interval and not 0 <= figure.interval.low <= figure.interval.high <= 1:
        yield "its interval must go upwards, from 0 to 1 at most"
