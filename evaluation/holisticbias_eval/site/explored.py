"""The releases, results and runs that a site shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holisticbias.contribute.diff import Difference
from holisticbias.release.manifest import Manifest
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import ReleaseFile
from holisticbias_eval.results.entry import Entry
from holisticbias_eval.results.run import Result, Run


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """A release on the site.

    ``catalog`` has the terms of all versions, restricted to the part that the release is, and ``held`` the terms of
    this version; ``sentences`` is the number of sentences, and ``counts`` has that of each descriptor.
    """

    manifest: Manifest
    catalog: Catalog
    sentences: int
    counts: Mapping[str, int]

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

    ``references`` are the results of reference evaluations.
    """

    catalog: Catalog
    releases: tuple[ShownRelease, ...]
    differences: tuple[Difference, ...] = ()
    entries: tuple[Entry, ...] = ()
    runs: tuple[Run, ...] = ()
    references: tuple[Result, ...] = ()

    @property
    def newest(self) -> ShownRelease:
        """The release with the highest version."""
        return self.releases[-1]


@dataclass(frozen=True, slots=True)
class Sources:
    """The places that a site is made from: releases, runs, the folder of terms, the registry of results, and the docs.

    Without ``releases``, all published versions are shown; without ``docs``, links lead to GitHub.
    """

    releases: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    terms: Path | None = None
    results: Path | None = None
    docs: Path | None = None
