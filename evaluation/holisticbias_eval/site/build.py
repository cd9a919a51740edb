"""Build the site: open what it shows, then let each area write its pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from holisticbias import load_catalog
from holisticbias.output import new_folder, refuse_target
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key
from holisticbias_eval.errors import RegistryError, SiteError
from holisticbias_eval.progress import Display
from holisticbias_eval.results.registry import published_digests, read_registry, registry_folder
from holisticbias_eval.results.run import read_run
from holisticbias_eval.site.explored import Explored, ShownRelease, Sources
from holisticbias_eval.site.home import write_home
from holisticbias_eval.site.models import write_models
from holisticbias_eval.site.models_results import read_references
from holisticbias_eval.site.opening import compare_releases, open_shown, show_release
from holisticbias_eval.site.releases import write_releases
from holisticbias_eval.site.static_files import write_static
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
        site = Writer(folder, docs=sources.docs is not None)
        if sources.docs is not None:
            shutil.copytree(sources.docs, folder / "docs")
        explored = _read(sources, catalog, display)
        write_pages(explored, site, display)
        site.file(MARK).write_text(json.dumps({"releases": [r.version for r in explored.releases]}) + "\n", "utf-8")


def write_pages(explored: Explored, site: Writer, display: Display) -> None:
    """Write the pages of all areas, and the files that they share."""
    for what, write in _AREAS.items():
        with display.step(f"Writing {what}"):
            write(explored, site)
    write_static(site)


_AREAS = {
    "the first page": write_home,
    "terms": write_terms,
    "releases": write_releases,
    "models": write_models,
}


def is_site(folder: Path) -> bool:
    """Whether a folder holds a site that this command wrote."""
    return (folder / MARK).is_file()


def _read(sources: Sources, catalog: Catalog, display: Display) -> Explored:
    runs = tuple(read_run(run) for run in sources.runs)
    entries, problems = read_registry(sources.results, published_digests(catalog))
    if problems:
        raise RegistryError(f"{problems[0]} (run holisticbias leaderboard --check for all problems)")
    names = sources.releases or catalog.published
    if not names:
        raise SiteError("no version is published yet: name a release with --release")
    shown: dict[str, ShownRelease] = {}
    for name in names:
        with display.step(f"Opening release {name}"):
            release = show_release(open_shown(name, catalog), catalog)
        if release.version in shown:
            raise SiteError(f"two releases are version {release.version}: name one of them")
        shown[release.version] = release
    ordered = tuple(shown[version] for version in sorted(shown, key=version_key))
    references = tuple(read_references(registry_folder(sources.results)))
    differences = compare_releases(ordered, display)
    return Explored(catalog, ordered, differences, entries, runs, references)
