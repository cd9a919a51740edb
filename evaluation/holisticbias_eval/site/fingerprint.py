"""A digest of everything that a site is made from, by which an earlier site is recognised as current."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import holisticbias
import holisticbias_eval
from holisticbias.source.folder import LOCK_SUFFIX, find_source, term_files
from holisticbias_eval.results.registry import registry_folder
from holisticbias_eval.results.run import RESULT
from holisticbias_eval.site.docs_tree import FolderTree
from holisticbias_eval.site.explored import Sources

_CODE = (".py", ".jinja", ".css", ".js", ".svg", ".yaml")


def fingerprint(sources: Sources) -> str:
    """SHA-256 of the terms, results, runs and releases in folders, and of the code; of their names, if they are absent.

    A release on the Hub counts by its address, which names one version.
    """
    digest = hashlib.sha256(repr((sources.releases, sources.runs)).encode())
    for path in _files(sources):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()


def _files(sources: Sources) -> Iterator[Path]:
    terms = sources.terms or find_source()
    yield from term_files(terms)
    yield from sorted((terms / "releases").glob(f"*{LOCK_SUFFIX}"))
    results = registry_folder(sources.results)
    yield from sorted(results.glob("*.json"))
    yield from sorted((results.parent / "reference").rglob(RESULT))
    if (terms / "docs").is_dir():
        yield from (terms / path for path in FolderTree(terms).pages())
    for run in sources.runs:
        yield from sorted(p for p in run.iterdir() if p.is_file())
    yield from (Path(name, "manifest.json") for name in sources.releases)
    for package in (holisticbias, holisticbias_eval):
        folder = Path(package.__path__[0])
        yield from sorted(
            p for p in folder.rglob("*") if p.suffix in _CODE and "data" not in p.relative_to(folder).parts
        )
