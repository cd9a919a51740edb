"""Build the site: open what it shows, then let each area write its pages."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from holisticbias import load_catalog
from holisticbias.inputs import has_file
from holisticbias.output import new_folder, refuse_target
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key
from holisticbias_eval.errors import SiteError
from holisticbias_eval.progress import Display
from holisticbias_eval.results.registry import KEPT_BY, read_valid, registry_folder
from holisticbias_eval.results.run import read_run
from holisticbias_eval.site.explored import Explored, ShownRelease, compare_releases, open_shown
from holisticbias_eval.site.models import write_models
from holisticbias_eval.site.models_results import collect_results, read_references
from holisticbias_eval.site.releases import write_releases
from holisticbias_eval.site.terms import write_terms
from holisticbias_eval.site.writer import Writer

MARK = "site.json"
"""The file that says that a folder is a site."""
is_site = has_file(MARK)
"""Whether a folder holds a site that this command wrote."""


def build_site(
    out: Path,
    display: Display,
    *,
    releases: Sequence[str],
    runs: Sequence[Path] = (),
    terms: Path | None,
    results: Path | None,
    docs: Path | None = None,
) -> None:
    """Write the site to a folder, whole or not at all; replaces an earlier site.

    Shows ``releases``, by default all published versions, ``runs``, the folder of ``terms``, the registry in
    ``results``, and the ``docs``; without these, links lead to GitHub. Raises ``SiteError``, ``SourceError``,
    ``ReleaseError``, ``RunError``, ``RegistryError`` and ``OutputError``.
    """
    refuse_target(out, is_site)
    if docs is not None and not (docs / "latest" / "index.html").is_file():
        raise SiteError(f"{docs} has no documentation: make docs builds it into build/docs")
    catalog = load_catalog(terms)
    with new_folder(out, is_site) as folder:
        if docs is not None:
            shutil.copytree(docs, folder / "docs")
        site = Writer(folder, docs=docs is not None)
        labels = {axis.axis: axis.label for axis in catalog.axes}
        measured = [read_run(run) for run in runs]
        references = read_references(registry_folder(results))
        found = collect_results(read_valid(results, catalog), references, measured, labels)
        shown_runs = {id(result.run) for result in found.measured}
        for name in (name for name, run in zip(runs, measured, strict=True) if id(run) not in shown_runs):
            display.notice(f"no page of models shows {name}: it has no figure by {KEPT_BY}")
        shown = sorted(_opened(releases or catalog.published, catalog, display), key=lambda r: version_key(r.version))
        explored = Explored(catalog, tuple(shown), compare_releases(shown, display), found)
        write_pages(explored, site, display)
        versions = [release.version for release in shown]
        site.file(MARK).write_text(json.dumps({"releases": versions}) + "\n", "utf-8")


def write_pages(explored: Explored, site: Writer, display: Display) -> None:
    """Write the pages of all areas, and the files that they share."""
    for what, write in {"terms": write_terms, "releases": write_releases, "models": write_models}.items():
        with display.step(f"Writing {what}"):
            write(explored, site)
    site.page("index.html", "home.html.jinja", title="HolisticBias, the living dataset", explored=explored)
    site.static()


def _opened(names: Sequence[str], catalog: Catalog, display: Display) -> Iterator[ShownRelease]:
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
