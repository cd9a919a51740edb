"""Open the release of a run, and sign it, or the file that is in its place."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from holisticbias import build_release, open_release
from holisticbias.errors import WithdrawnVersionWarning
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.versions import is_version
from holisticbias_eval.results.signature import ReleaseSignature

ReleaseSource = str | Release | None
"""What names a release: a folder, a version to compile from the terms, ``organisation/name@version`` on the Hub, a
release that is open already, or None for the newest published version, compiled from the terms."""


def find_release(name: ReleaseSource) -> Release:
    """Open a release."""
    if isinstance(name, Release):
        return name
    if name is None:
        return build_release(load_catalog())
    if is_version(name) and not Path(name).exists():
        catalog = load_catalog()
        withdrawal = catalog.withdrawal(name)
        if withdrawal is not None:
            warnings.warn(withdrawal, WithdrawnVersionWarning, stacklevel=2)
        return build_release(catalog, name)
    return open_release(name)


def sign_release(release: Release) -> ReleaseSignature:
    """The release in a signature."""
    made = release.manifest
    return ReleaseSignature(version=made.version, subset=made.subset, where=made.where, digest=made.digest)


def sign_file(name: str, digest: str, what: str) -> ReleaseSignature:
    """The rows of a file in a signature, in the place of a release."""
    return ReleaseSignature(version="none", subset=None, digest=digest, prompts=name, what=what)


def file_name(name: str) -> str:
    """The name of a model or a part of a release as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
