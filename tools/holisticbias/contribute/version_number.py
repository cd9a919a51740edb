"""Whether the number of a version says how much it changes."""

from __future__ import annotations

from holisticbias.contribute.diff import Bump, Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.terms.versions import version_key

_BUMPS: tuple[Bump, ...] = ("none", "patch", "minor", "major")


def number_problem(old: str, new: str, changes: Difference) -> str | None:
    """Explain why the number of a version is too low for its changes since an older version; None if it is not."""
    step = _step(old, new)
    if _BUMPS.index(step) >= _BUMPS.index(changes.bump):
        return None
    return (
        f"{new} is a {step} version after {old}, but its changes need a {changes.bump} version: "
        f"run holisticbias releases --next {_following(old, changes.bump)}"
    )


def preparation_problem(new: Revision, changes: Difference) -> str | None:
    """Explain why the number of a version in preparation is too low; None if it is not.

    ``changes`` are those of a contribution, which may only change what is not published yet: if they seem to need
    another number, the version is compared with the newest published one.
    """
    published = new.catalog.published
    if new.version in published or not published or number_problem(published[-1], new.version, changes) is None:
        return None
    whole = compare(Revision(published[-1], new.catalog, published[-1]), new, samples=0)
    return number_problem(published[-1], new.version, whole)


def _following(old: str, bump: Bump) -> str:
    """The next version number after ``old`` for a kind of change."""
    major, minor, patch = version_key(old)
    return {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(bump, f"{major}.{minor}.{patch + 1}")


def _step(old: str, new: str) -> Bump:
    """The first part of the version number that differs."""
    pairs = zip(_BUMPS[:0:-1], version_key(old), version_key(new), strict=True)
    return next((bump for bump, a, b in pairs if a != b), "none")
