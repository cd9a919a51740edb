"""A preview of a contribution as one comment: verdict, findings, difference, sentences, missing reviews.

The contents come from a contributor, so they are shown in code spans and cut to a limited length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias.contribute.diff import Difference
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.markdown import code, collapsed, table
from holisticbias.rules import RULES
from holisticbias.source.findings import Finding
from holisticbias.terms.entries import QUORUM

MARKER = "<!-- holisticbias preview -->"
MAX_LENGTH = 60_000
MAX_FINDINGS = 50
MAX_SAMPLES = 10


def render_preview(findings: Sequence[Finding], difference: Difference, number: str | None = None) -> str:
    """The comment in Markdown, of at most ``MAX_LENGTH`` characters; sections that do not fit are left out.

    ``number`` says what is wrong with the number of the version in preparation.
    """
    text = MARKER
    for section in _sections(findings, difference, number):
        if len(text) + len(section) > MAX_LENGTH:
            return f"{text}\n\nThe rest is too long for a comment; see the summary of the run."
        text = f"{text}\n\n{section}"
    return text


def _sections(findings: Sequence[Finding], difference: Difference, number: str | None) -> Iterator[str]:
    yield _verdict(findings, difference)
    if findings:
        yield _findings_table(findings)
    if number is not None:
        yield f"### Version number\n\n{code(number)}"
    yield from _reviews(difference)
    if difference.samples:
        yield _sentences(difference)
    yield render_difference(difference, "md")


def _verdict(findings: Sequence[Finding], difference: Difference) -> str:
    errors = sum(f.level == "error" for f in findings)
    if errors:
        return f"## Not ready yet: {errors:,} to fix"
    if difference.bump == "none" and not findings:
        return "## No entry changes"
    return "## Ready for review"


def _findings_table(findings: Sequence[Finding]) -> str:
    rows = (
        (code(f"{f.path}:{f.line}:{f.column}"), _rule(f.rule), code(f.message), code(f.fix))
        for f in findings[:MAX_FINDINGS]
    )
    more = f"\n\nand {len(findings) - MAX_FINDINGS:,} more" if len(findings) > MAX_FINDINGS else ""
    return table(("where", "rule", "problem", "fix"), rows) + more


def _rule(rule: str) -> str:
    return f"`{rule}`" if rule in RULES else code(rule)


def _reviews(difference: Difference) -> Iterator[str]:
    """The groups of entries whose reviewers must review the entries that were added, changed or retired."""
    changed = [e for e in difference.entries if e.change != "reassessed"]
    groups = sorted({e.id.split(".", maxsplit=1)[0] for e in changed})
    if groups:
        rows = ((code(g), str(sum(e.id.startswith(f"{g}.") for e in changed))) for g in groups[:MAX_FINDINGS])
        yield (
            f"### Missing reviews\n\n{QUORUM} reviewers each, one of them with lived experience "
            "of the terms; see `docs/reviewing.md`.\n\n"
            + table(("axis, family, collection, domain or noun", "entries"), rows)
        )


def _sentences(difference: Difference) -> str:
    rows = (
        (code(s.before) if s.before is not None else "", code(s.after) if s.after is not None else "")
        for s in difference.samples[:MAX_SAMPLES]
    )
    note = "these sentences of the dataset name people by identity terms, and some are hostile to them."
    return collapsed(f"Content note: {note}", table(("before", "after"), rows))
