"""The releases, results and runs that a site shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holisticbias import build_release, open_release
from holisticbias.compile.filters import parse_conditions, select
from holisticbias.contribute.diff import Difference
from holisticbias.release.manifest import Manifest
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import ReleaseFile
from holisticbias_eval.errors import SiteError
from holisticbias_eval.results.entry import Entry
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.site.sentences import Rows


_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """A release on the site.

    ``catalog`` has the terms of all versions, restricted to the part that the release is, and ``held`` the terms of
    this version; ``sentences`` is the number of sentences, and ``rows`` has the place of those of each descriptor.
    """

    manifest: Manifest
    catalog: Catalog
    sentences: int
    rows: Mapping[str, Rows]

    @property
    def version(self) -> str:
        """The version, as in ``1.0.0``."""
        return self.manifest.version

    @property
    def record(self) -> ReleaseFile:
        """The version's file in ``releases/``."""
        return self.catalog.release(self.version)

    @property
    def held(self) -> Catalog:
        """The terms of this version."""
        return self.catalog.at(self.version)


@dataclass(frozen=True, slots=True)
class Explored:
    """Everything that a site shows; ``releases`` are sorted by version, and ``differences`` has each pair of them.

    ``references`` are the results of reference evaluations. ``root`` is the folder of terms, which has the
    documentation if it is a clone.
    """

    catalog: Catalog
    releases: tuple[ShownRelease, ...]
    differences: tuple[Difference, ...] = ()
    entries: tuple[Entry, ...] = ()
    runs: tuple[Run, ...] = ()
    references: tuple[Result, ...] = ()
    root: Path | None = None

    @property
    def newest(self) -> ShownRelease:
        """The release with the highest version."""
        return self.releases[-1]


@dataclass(frozen=True, slots=True)
class Sources:
    """The places that a site is made from: releases, runs, the folder of terms, and the registry of results.

    Without ``releases``, all published versions are shown.
    """

    releases: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    terms: Path | None = None
    results: Path | None = None


def open_shown(name: str, catalog: Catalog) -> Release:
    """Open a release: a version to compile from the terms, a folder, or ``organisation/name@version`` on the Hub.

    Raises ``UnknownVersionError`` and ``ReleaseError``, and ``SiteError`` if the release is not made of these terms.
    """
    is_version = _VERSION.fullmatch(name) and not Path(name).exists()
    release = build_release(catalog, name) if is_version else open_release(name)
    version, part = release.version, release.manifest
    if version not in catalog.versions:
        raise SiteError(f"{name} is version {version}, which the terms do not have: name their folder with --source")
    if part.intersections or part.sample:
        raise SiteError(f"{name} is a part ({part.part}) that the site cannot show: name a release of whole sentences")
    held = restricted(catalog, part).at(version)
    if {d.id for a in held.axes for d in a.descriptors} != set(
        release.tables["descriptors"]["descriptor_id"].to_pylist()
    ):
        raise SiteError(f"{name} was built from other terms: name their folder with --source")
    return release


def restricted(catalog: Catalog, part: Manifest) -> Catalog:
    """The catalog with only the entries of a part of a release."""
    if part.where:
        return select(catalog, part.version, parse_conditions(part.where))
    if part.subset is None:
        return catalog
    chosen = set(catalog.subset(part.subset).descriptors)
    axes = (
        a.model_copy(update={"descriptors": tuple(d for d in a.descriptors if d.id in chosen)}) for a in catalog.axes
    )
    return replace(catalog, axes=tuple(axes))
