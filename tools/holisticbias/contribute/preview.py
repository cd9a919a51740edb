"""A preview of a contribution as one comment: verdict, findings, what there is to review, difference, reviews.

The contents come from a contributor, so they are shown in code spans and cut to a limited length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from holisticbias.contribute.diff_report import block, code, collapsed, render_difference, table
from holisticbias.contribute.release_files import preparation_problem
from holisticbias.contribute.reviews import entry_reviews
from holisticbias.contribute.revisions import Files, Sides, open_sides
from holisticbias.rules import RULES
from holisticbias.rules.validate import validate_files
from holisticbias.source.addresses import file_link, rule_link
from holisticbias.source.findings import Finding, count_findings
from holisticbias.terms.entries import QUORUM

MARKER = "<!-- holisticbias preview -->"
MAX_LENGTH = 60_000
MAX_FINDINGS = 50
MAX_SAMPLES = 10
_MAX_SUGGESTED = 20
_NOTE = "these sentences of the dataset name people by identity terms, and some are hostile to them."


def render_preview(
    checks: Checks,
    difference: Difference,
    reviews: Sequence[str] = (),
    suggested: Sequence[Suggestion] = (),
) -> str:
    """The comment in Markdown, of at most ``MAX_LENGTH`` characters; sections that do not fit are left out.

    ``reviews`` are sections on the changed entries, ``suggested`` the lines that the layout changes.
    """
    text = MARKER
    for section in _sections(checks, difference, reviews, suggested):
        if len(text) + len(section) > MAX_LENGTH:
            return f"{text}\n\nThe rest is too long for a comment; see the summary of the run."
        text = f"{text}\n\n{section}"
    return text


def _sections(
    checks: Checks, difference: Difference, reviews: Sequence[str], suggested: Sequence[Suggestion]
) -> Iterator[str]:
    yield verdict(checks, difference)
    yield _results(checks)
    if checks.findings:
        yield findings_table(checks.findings)
    yield from _layout(suggested)
    if reviews:
        yield f"### To review\n\nContent note: {_NOTE}"
        yield from reviews
    yield from _reviewers(difference)
    if difference.samples:
        yield _sentences(difference)
    yield render_difference(difference, "md")


def verdict(checks: Checks, difference: Difference) -> str:
    """The first line: whether the contribution can be reviewed and merged as it is."""
    if checks.errors:
        return f"## Not ready yet: {checks.errors:,} to fix"
    named = {"the layout": checks.layout, "generated files": checks.generated, "the version number": checks.number}
    waiting = [name for name, found in named.items() if found]
    if waiting:
        return f"## Ready for review, not yet to merge: {', '.join(waiting)}"
    if difference.bump == "none" and not checks.findings and not difference.entries:
        return "## No entry changes"
    return "## Ready for review"


def _results(checks: Checks) -> str:
    """One row for each check of CI, with who does what."""
    shown = ", ".join(map(code, checks.conflicts[:10]))
    conflicts = f"{shown} changed here and on the default branch: choose **Resolve conflicts** at the end of this page"
    formatted = f"{', '.join(map(code, checks.layout[:10]))}: not your work; choose **Commit suggestion**, or wait"
    stale = f"{', '.join(map(code, checks.generated[:10]))}: a maintainer runs `holisticbias sync`"
    rows = [
        ("merge", conflicts if checks.conflicts else "no conflicts"),
        ("terms", count_findings(checks.findings)),
        ("layout", formatted if checks.layout else "as `holisticbias fmt` writes it"),
        ("generated files", stale if checks.generated else "up to date"),
        ("version number", f"{code(checks.number)}: a maintainer does this" if checks.number else "high enough"),
    ]
    if checks.others:
        rows.append(("other files", f"{len(checks.others):,} besides the terms: the checks below this page test them"))
    return table(("check", "result"), rows)


def findings_table(findings: Sequence[Finding]) -> str:
    """The findings, each with a link to the page of its rule."""
    rows = (
        (code(f"{f.path}:{f.line}:{f.column}"), _rule(f.rule), code(f.message), code(f.fix))
        for f in findings[:MAX_FINDINGS]
    )
    more = f"\n\nand {len(findings) - MAX_FINDINGS:,} more" if len(findings) > MAX_FINDINGS else ""
    return table(("where", "rule", "problem", "fix"), rows) + more


def _rule(rule: str) -> str:
    return f"[`{rule}`]({rule_link(rule)})" if rule in RULES else code(rule)


def _layout(suggested: Sequence[Suggestion]) -> Iterator[str]:
    """The lines that replace others, for a reader who cannot commit suggestions."""
    if not suggested:
        return
    parts = [
        f"{code(s.path)}, line {s.first}{f' to {s.last}' if s.last > s.first else ''}:\n\n{block(s.lines)}"
        for s in suggested[:_MAX_SUGGESTED]
    ]
    more = f"\n\nand {len(suggested) - _MAX_SUGGESTED:,} more places" if len(suggested) > _MAX_SUGGESTED else ""
    yield collapsed("Lines in the layout of the files", "\n\n".join(parts) + more)


def _reviewers(difference: Difference) -> Iterator[str]:
    """The groups of entries whose reviewers must review the entries that were added, changed or retired."""
    changed = [e for e in difference.entries if e.change != "reassessed"]
    groups = sorted({e.id.split(".", maxsplit=1)[0] for e in changed})
    if groups:
        rows = ((code(g), str(sum(e.id.startswith(f"{g}.") for e in changed))) for g in groups[:MAX_FINDINGS])
        yield (
            f"### Missing reviews\n\n{QUORUM} reviewers each, one of them with lived experience "
            f"of the terms; see [Reviewing]({file_link('docs/reviewing.md')}).\n\n"
            + table(("axis, family, collection, domain or noun", "entries"), rows)
        )


def _sentences(difference: Difference) -> str:
    rows = (
        (code(s.before) if s.before is not None else "", code(s.after) if s.after is not None else "")
        for s in difference.samples[:MAX_SAMPLES]
    )
    return collapsed(f"More sentences. Content note: {_NOTE}", table(("before", "after"), rows))


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
