"""A preview of a contribution as one comment: verdict, findings, what there is to review, difference, reviews.

The contents come from a contributor, so they are shown in code spans and cut to a limited length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.issue_forms import OWNERS, generated_files
from holisticbias.contribute.markdown import block, code, collapsed, comment, fence_around, table
from holisticbias.contribute.release_files import preparation_problem
from holisticbias.contribute.reviews import entry_reviews
from holisticbias.contribute.revisions import Files, Sides, changed_paths, open_sides
from holisticbias.errors import SourceError
from holisticbias.rules import RULES
from holisticbias.rules.validate import validate_files
from holisticbias.source.addresses import file_link, rule_link
from holisticbias.source.findings import Finding, count_findings
from holisticbias.source.folder import NAMES
from holisticbias.source.layout import format_text
from holisticbias.source.schema import json_schemas
from holisticbias.terminal import and_more
from holisticbias.terms.entries import QUORUM

MARKER = "<!-- holisticbias preview -->"
_SUGGESTED = "<!-- holisticbias layout -->\nThe layout that `holisticbias fmt` writes.\n"
MAX_FINDINGS = 50
MAX_SAMPLES = 10
_MAX_SUGGESTED = 20
_NOTE = "these sentences of the dataset name people by identity terms, and some are hostile to them."
_CODE = ("tools/", "evaluation/")
_TOGETHER = 3  # unchanged lines between two changes of one suggestion, at most twice as many


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines of a file, the first and the last one counted from 1, and the lines in their place."""

    path: str
    first: int
    last: int
    lines: tuple[str, ...]

    @property
    def review(self) -> dict[str, str | int]:
        """The comment of a review on GitHub, on lines of the contribution."""
        text = "".join(f"{line}\n" for line in self.lines)
        fence = fence_around(text)
        place: dict[str, str | int] = {"path": self.path, "line": self.last, "side": "RIGHT"}
        if self.last > self.first:
            place |= {"start_line": self.first, "start_side": "RIGHT"}
        return place | {"body": f"{_SUGGESTED}\n{fence}suggestion\n{text}{fence}"}


@dataclass(frozen=True, slots=True)
class Checks:
    """The problems of a contribution; each part is empty if CI finds nothing of its kind.

    ``conflicts`` has the files that git cannot merge, ``layout`` and ``generated`` the files that differ from what
    the tools write, ``number`` what is wrong with the version in preparation, ``others`` the files besides the terms.
    """

    findings: tuple[Finding, ...] = ()
    conflicts: tuple[str, ...] = ()
    layout: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    number: str | None = None
    others: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """The number of problems that the contributor fixes."""
        return sum(f.level == "error" for f in self.findings) + len(self.conflicts)


@dataclass(frozen=True, slots=True)
class Preview:
    """The checks of a contribution, its difference, and the lines of it that the layout changes.

    ``reviews`` are sections on the changed entries.
    """

    checks: Checks
    difference: Difference
    reviews: tuple[str, ...] = ()
    suggested: tuple[Suggestion, ...] = ()


def render_preview(preview: Preview) -> str:
    """The comment in Markdown, of at most ``MAX_LENGTH`` characters; sections that do not fit are left out."""
    rest = "The rest is too long for a comment; see the summary of the run."
    return comment(MARKER, _sections(preview), rest)


def _sections(preview: Preview) -> Iterator[str]:
    checks, difference = preview.checks, preview.difference
    yield verdict(checks, difference)
    yield _results(checks)
    if checks.findings:
        yield findings_table(checks.findings)
    yield from _layout(preview.suggested)
    if preview.reviews:
        yield f"### To review\n\nContent note: {_NOTE}"
        yield from preview.reviews
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
    return table(("where", "rule", "problem", "fix"), rows) + and_more(len(findings), MAX_FINDINGS, "\n\n")


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
    more = and_more(len(suggested), _MAX_SUGGESTED, "\n\n")
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


def preview(before: Files, after: Files, head: Files, conflicts: tuple[str, ...]) -> Preview:
    """Preview a contribution.

    ``head`` has the contribution's own files, if ``after`` is their merge into ``before``. Raises ``SourceError`` if a
    side has no version.
    """
    sides = open_sides(before, after)
    difference = compare(sides.old, sides.new, not_compared=sides.not_compared)
    checks = _checks(before, after, sides, conflicts)
    own = stale_layout(before, head) if checks.layout else ()
    suggested = tuple(s for path, text, wanted in own for s in suggestions(path, text, wanted))
    return Preview(checks, difference, tuple(entry_reviews(difference, sides.old, sides.new)), suggested)


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


def stale_layout(old: Files, new: Files) -> Iterator[tuple[str, str, str]]:
    """The path, text and canonical text of each changed file that is not in canonical layout."""
    before = {(f.kind, Path(f.document.path).name): f.document.path for f in old.files}
    for file in new.files:
        path = file.document.path
        if file.kind == "locks" or file.document.findings:
            continue
        content, earlier = new.read(path), before.get((file.kind, Path(path).name))
        if content is None or (earlier and old.read(earlier) == content):
            continue
        text = content.decode("utf-8")
        try:
            wanted = format_text(text, file.kind)
        except SourceError:
            continue  # a finding says what cannot be read
        if wanted != text:
            yield path, text, wanted


def suggestions(path: str, text: str, wanted: str) -> Iterator[Suggestion]:
    """The changes of lines that make one text the other, neighbours together; each replaces at least one line."""
    old, new = text.splitlines(), wanted.splitlines()
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_TOGETHER):
        changed = [part for part in group if part[0] != "equal"]
        first, last, start, end = changed[0][1], changed[-1][2], changed[0][3], changed[-1][4]
        if first == last:  # lines are added: replace the line before them, or the first one, with itself and them
            first, start = (first - 1, start - 1) if first else (first, start)
            last, end = (last, end) if last > first else (last + 1, end + 1)
        yield Suggestion(path, first + 1, last, tuple(new[start:end]))


def stale_generated(new: Files, sides: Sides, others: tuple[str, ...]) -> Iterator[str]:
    """The generated files that differ from what the tools write; those of a repository with changed tools are not."""
    if new.read(OWNERS) is None or any(path.startswith(_CODE) for path in others):
        return
    wanted = dict(generated_files(sides.new.catalog, new.files))
    if any(path.startswith("schema/") for path in others):
        wanted |= {f"schema/{name}": text for name, text in json_schemas().items()}
    for path, text in wanted.items():
        if new.read(path) != text.encode():
            yield path


def other_files(old: Files, new: Files) -> tuple[str, ...]:
    """The changed files that are not terms; empty unless both sides are in git."""
    if new.root is None or not old.revision or not new.revision:
        return ()
    changed = changed_paths(old.revision, new.revision, new.root)
    return tuple(path for path in changed if path.partition("/")[0] not in (*NAMES, "changes"))
