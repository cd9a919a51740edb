"""Build the site: open what it shows, then let each area write its pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from holisticbias import load_catalog
from holisticbias.output import new_folder, refuse_target
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key
from holisticbias_eval.errors import SiteError
from holisticbias_eval.progress import Display
from holisticbias_eval.results.registry import read_valid, registry_folder
from holisticbias_eval.results.run import read_run
from holisticbias_eval.site.explored import Explored, ShownRelease, Sources, compare_releases, open_shown
from holisticbias_eval.site.models import write_models
from holisticbias_eval.site.models_results import collect_results, read_references
from holisticbias_eval.site.releases import write_releases
from holisticbias_eval.site.terms import write_terms
from holisticbias_eval.site.writer import Writer

MARK = "site.json"
"""The file that says that a folder is a site."""


def build_site(sources: Sources, out: Path, display: Display) -> None:
    """Write the site to a folder, whole or not at all; replaces an earlier site.

    Raises ``SiteError``, ``SourceError``, ``ReleaseError``, ``RunError``, ``RegistryError`` and ``OutputError``.
    """
    refuse_target(out, is_site)
    if sources.docs is not None and not (sources.docs / "latest" / "index.html").is_file():
        raise SiteError(f"{sources.docs} has no documentation: make docs builds it into build/docs")
    catalog = load_catalog(sources.terms)
    with new_folder(out, is_site) as folder:
        if sources.docs is not None:
            shutil.copytree(sources.docs, folder / "docs")
        site = Writer(folder, docs=sources.docs is not None)
        explored = _explore(sources, catalog, display)
        write_pages(explored, site, display)
        versions = [release.version for release in explored.releases]
        site.file(MARK).write_text(json.dumps({"releases": versions}) + "\n", "utf-8")


def is_site(folder: Path) -> bool:
    """Whether a folder holds a site that this command wrote."""
    return (folder / MARK).is_file()


def write_pages(explored: Explored, site: Writer, display: Display) -> None:
    """Write the pages of all areas, and the files that they share."""
    for what, write in {"terms": write_terms, "releases": write_releases, "models": write_models}.items():
        with display.step(f"Writing {what}"):
            write(explored, site)
    site.page("index.html", "home.html.jinja", title="HolisticBias, the living dataset", explored=explored)
    site.static()


def _explore(sources: Sources, catalog: Catalog, display: Display) -> Explored:
    runs = tuple(read_run(run) for run in sources.runs)
    entries = read_valid(sources.results, catalog)
    references = read_references(registry_folder(sources.results))
    results = collect_results(entries, references, runs, {axis.axis: axis.label for axis in catalog.axes})
    releases = tuple(sorted(_opened(sources, catalog, display), key=lambda release: version_key(release.version)))
    return Explored(catalog, releases, compare_releases(releases, display), results)


def _opened(sources: Sources, catalog: Catalog, display: Display) -> Iterator[ShownRelease]:
    names = sources.releases or catalog.published
    if not names:
        raise SiteError("no version is published yet: name a release with --release")
    versions = set()
    for name in names:
        with display.step(f"Opening release {name}"):
            release = open_shown(name, catalog)
        if release.version in versions:
            raise SiteError(f"two releases are version {release.version}: name one of them")
        versions.add(release.version)
        yield release
