"""Preview two sides of a contribution: run every check, and write the comment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holisticbias.contribute.checks import (
    Checks,
    Suggestion,
    other_files,
    stale_generated,
    stale_layout,
    suggestions,
)
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.preview import render_preview
from holisticbias.contribute.reviews import entry_reviews
from holisticbias.contribute.revisions import Files, Sides, open_sides
from holisticbias.contribute.version_number import preparation_problem
from holisticbias.rules.validate import validate_files


@dataclass(frozen=True, slots=True)
class Preview:
    """A comment, the checks and the difference it shows, and the lines of the contribution that the layout changes."""

    text: str
    checks: Checks
    difference: Difference
    suggested: tuple[Suggestion, ...]


def preview(before: Files, after: Files, head: Files | None = None, conflicts: tuple[str, ...] = ()) -> Preview:
    """Preview a contribution.

    ``head`` has the contribution's own files, if ``after`` is their merge into ``before``. Raises ``SourceError`` if a
    side has no version.
    """
    sides = open_sides(before, after)
    difference = replace(compare(sides.old, sides.new), not_compared=sides.not_compared)
    checks = _checks(before, after, sides, conflicts)
    reviews = list(entry_reviews(difference, sides.old, sides.new))
    own = stale_layout(before, head or after) if checks.layout else ()
    suggested = tuple(s for path, text, wanted in own for s in suggestions(path, text, wanted))
    return Preview(render_preview(checks, difference, reviews, suggested), checks, difference, suggested)


def _checks(before: Files, after: Files, sides: Sides, conflicts: tuple[str, ...]) -> Checks:
    findings = validate_files(after.files)[1]
    errors = any(f.level == "error" for f in findings)
    others = other_files(before, after)
    return Checks(
        findings,
        conflicts,
        tuple(path for path, _, _ in stale_layout(before, after)),
        () if errors else tuple(stale_generated(after, sides, others)),
        preparation_problem(sides.new.catalog),
        others,
    )
