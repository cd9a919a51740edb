"""The releases and results that a site shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from holisticbias.compile.filters import parse_conditions, select
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.release.manifest import Manifest
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.version_files import ReleaseFile
from holisticbias_eval.errors import SiteError
from holisticbias_eval.progress import Display
from holisticbias_eval.site.models_results import Results
from holisticbias_eval.tasks.sources import find_release

SAMPLES = 30
"""The number of sentences that a page of differences shows."""


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """A release on the site.

    ``catalog`` has the terms of all versions, restricted to the part that the release is, and ``held`` the terms of
    this version; ``sentences`` is the number of sentences, and ``counts`` has that of each descriptor.
    """

    manifest: Manifest
    catalog: Catalog
    held: Catalog
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


@dataclass(frozen=True, slots=True)
class Explored:
    """Everything that a site shows; ``releases`` are sorted by version, and ``differences`` has each pair of them."""

    catalog: Catalog
    releases: tuple[ShownRelease, ...]
    differences: tuple[Difference, ...] = ()
    results: Results = field(default_factory=Results)

    @property
    def newest(self) -> ShownRelease:
        """The release with the highest version."""
        return self.releases[-1]

    @property
    def nouns(self) -> Mapping[str, str]:
        """The text of each noun, by id."""
        return {noun.id: noun.text for gender in self.catalog.genders for noun in gender.nouns}


def open_shown(name: str, catalog: Catalog) -> ShownRelease:
    """Open a release: a version to compile from the terms, a folder, or ``organisation/name@version`` on the Hub.

    Raises ``UnknownVersionError`` and ``ReleaseError``, and ``SiteError`` if the release is not made of these terms.
    """
    release = find_release(name, catalog)
    version, part = release.version, release.manifest
    if version not in catalog.versions:
        raise SiteError(f"{name} is version {version}, which the terms do not have: name their folder with --source")
    if part.intersections or part.sample:
        raise SiteError(f"{name} is a part ({part.part}) that the site cannot show: name a release of whole sentences")
    shown = show_release(release, catalog)
    if set(shown.counts) != set(release.tables["descriptors"]["descriptor_id"].to_pylist()):
        raise SiteError(f"{name} was built from other terms: name their folder with --source")
    return shown


def show_release(release: Release, catalog: Catalog) -> ShownRelease:
    """The record of a release, which has no tables."""
    about = release.about
    part = select(catalog, release.version, parse_conditions(about.where), about.subset)
    held = part.at(release.version)
    counted = release.sentences["descriptor_id"].value_counts().to_pylist()
    sentences = {count["values"]: count["counts"] for count in counted}
    counts = {d.id: sentences.get(d.id, 0) for d in held.descriptors}
    return ShownRelease(release.manifest, part, held, release.sentences.num_rows, counts)


def compare_releases(releases: Sequence[ShownRelease], display: Display) -> tuple[Difference, ...]:
    """Compare each release with every later release."""
    pairs = list(combinations(releases, 2))
    if not pairs:
        return ()
    differences = []
    with display.progress("Comparing versions", len(pairs), "pairs") as advance:
        for pair in pairs:
            old, new = (Revision(release.version, release.catalog, release.version) for release in pair)
            differences.append(compare(old, new, SAMPLES))
            advance(1)
    return tuple(differences)
