"""Whether the number of a version says how much it changes."""

from __future__ import annotations

from holisticbias.contribute.diff import Bump, Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import NEXT, version_key

_BUMPS: tuple[Bump, ...] = ("none", "patch", "minor", "major")


def number_problem(old: str, new: str, changes: Difference) -> str | None:
    """Explain why the number of a version is too low for its changes since an older version; None if it is not."""
    step = _step(old, new)
    if _BUMPS.index(step) >= _BUMPS.index(changes.bump):
        return None
    return (
        f"{new} is a {step} version after {old}, but its changes need a {changes.bump} version, "
        f"such as {following(old, changes.bump)}"
    )


def preparation_problem(catalog: Catalog) -> str | None:
    """Explain why the number of a fix in preparation is too low; None if it is not.

    The number of ``next`` follows from its changes when it is frozen.
    """
    for version in catalog.versions if catalog.published else ():
        if version != NEXT and version not in catalog.published:
            old = catalog.published[-1]
            changes = compare(Revision(old, catalog, old), Revision(version, catalog, version), samples=0)
            problem = number_problem(old, version, changes)
            if problem is not None:
                return f"{problem}: run holisticbias releases --fix {following(old, changes.bump)}"
    return None


def following(old: str, bump: Bump) -> str:
    """The next version number after ``old`` for a kind of change."""
    major, minor, patch = version_key(old)
    return {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(bump, f"{major}.{minor}.{patch + 1}")


def _step(old: str, new: str) -> Bump:
    """The first part of the version number that differs."""
    pairs = zip(_BUMPS[:0:-1], version_key(old), version_key(new), strict=True)
    return next((bump for bump, a, b in pairs if a != b), "none")
