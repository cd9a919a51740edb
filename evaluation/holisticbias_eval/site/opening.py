"""Open the releases of a site, and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from holisticbias import build_release, open_release
from holisticbias.compile.filters import parse_conditions, select
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.release.manifest import Manifest
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import is_version
from holisticbias_eval.errors import SiteError
from holisticbias_eval.progress import Display
from holisticbias_eval.site.explored import ShownRelease

SAMPLES = 30
"""The number of sentences that a page of differences shows."""


def open_shown(name: str, catalog: Catalog) -> Release:
    """Open a release: a version to compile from the terms, a folder, or ``organisation/name@version`` on the Hub.

    Raises ``UnknownVersionError`` and ``ReleaseError``, and ``SiteError`` if the release is not made of these terms.
    """
    compiled = is_version(name) and not Path(name).exists()
    release = build_release(catalog, name) if compiled else open_release(name)
    version, part = release.version, release.manifest
    if version not in catalog.versions:
        raise SiteError(f"{name} is version {version}, which the terms do not have: name their folder with --source")
    if part.intersections or part.sample:
        raise SiteError(f"{name} is a part ({part.part}) that the site cannot show: name a release of whole sentences")
    held = _restricted(catalog, part).at(version)
    if {d.id for a in held.axes for d in a.descriptors} != set(
        release.tables["descriptors"]["descriptor_id"].to_pylist()
    ):
        raise SiteError(f"{name} was built from other terms: name their folder with --source")
    return release


def _restricted(catalog: Catalog, part: Manifest) -> Catalog:
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


def show_release(release: Release, catalog: Catalog) -> ShownRelease:
    """The record of an opened release, which has no tables."""
    part = _restricted(catalog, release.manifest)
    found = dict(counted.values() for counted in release.sentences["descriptor_id"].value_counts().to_pylist())
    counts = {d.id: found.get(d.id, 0) for axis in part.at(release.version).axes for d in axis.descriptors}
    return ShownRelease(release.manifest, part, release.sentences.num_rows, counts)


def compare_releases(releases: Sequence[ShownRelease], display: Display) -> tuple[Difference, ...]:
    """Compare each release with every later release."""
    pairs = list(combinations(releases, 2))
    if not pairs:
        return ()
    found = []
    with display.progress("Comparing versions", len(pairs), "pairs") as advance:
        for pair in pairs:
            old, new = (Revision(release.version, release.catalog, release.version) for release in pair)
            found.append(compare(old, new, SAMPLES))
            advance(1)
    return tuple(found)
