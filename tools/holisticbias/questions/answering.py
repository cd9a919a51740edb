"""Answer an issue that fills in a form; a proposal becomes an entry, as ``holisticbias add`` would make it.

Nothing in the issue is trusted.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holisticbias.contribute.authoring import OpenTerms, add_entry, edited_files, edited_terms
from holisticbias.contribute.diff import compare
from holisticbias.contribute.entry_text import Edit, find_place, spans
from holisticbias.contribute.issue_forms import (
    LABELS,
    NO_CREDIT,
    IssueForm,
    field_label,
    form_of,
    known_source,
    read_entry,
    read_issue,
)
from holisticbias.contribute.markdown import block, code, comment
from holisticbias.contribute.preview import findings_table
from holisticbias.contribute.proposals import near_ids, same_entries, same_phrase
from holisticbias.contribute.readings import preference_line
from holisticbias.contribute.reviews import entry_reviews
from holisticbias.contribute.revisions import Files, open_sides
from holisticbias.errors import SourceError, in_one_line
from holisticbias.inputs import require_file
from holisticbias.output import write_files
from holisticbias.questions.adding import ask_entry
from holisticbias.questions.questions import Questions
from holisticbias.rules.validate import load_catalog
from holisticbias.source.addresses import REPOSITORY, file_link
from holisticbias.source.folder import find_source, read_source
from holisticbias.terminal import cut
from holisticbias.terms.entries import Judged
from holisticbias.terms.file_kinds import Source
from holisticbias.terms.specification_entries import Specification

_MAX_BYTES = 2_000_000
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_TITLE, _NOTE = 200, 2000  # characters
MARKER = "<!-- holisticbias answer -->"
ACCEPTED = "accepted"
"""The label with which a maintainer turns a proposal into a pull request."""
EDIT = (
    "Edit the text of the issue (**...**, then **Edit**) and leave the headings as they are. This answer is then "
    "written again."
)


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, its author, and whether the event is that a maintainer accepted it."""

    number: int
    body: str
    login: str | None
    user_id: int
    accepted: bool

    @property
    def co_author(self) -> str | None:
        """The author as git names a co-author, with the address that GitHub gives the account."""
        return f"{self.login} <{self.user_id}+{self.login}@users.noreply.github.com>" if self.login else None


def read_event(path: Path) -> Issue:
    """Read the event of an issue; raises ``SourceError`` if the file is not one."""
    try:
        event = json.loads(require_file(path, _MAX_BYTES).read_text("utf-8"))
        issue, user = event["issue"], event["issue"].get("user") or {}
        number, body, user_id = issue["number"], issue.get("body") or "", user.get("id", 0)
        if type(number) is not int or number < 1 or type(body) is not str or type(user_id) is not int:
            raise TypeError("values of other types")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"{path} is not the event of an issue on GitHub") from error
    login = user.get("login")
    known = type(login) is str and _LOGIN.fullmatch(login) is not None and user.get("type") == "User"
    return Issue(number, body, login if known else None, user_id, _is_accepted(event))


def _is_accepted(event: dict[str, Any]) -> bool:
    label = event.get("label")
    return event.get("action") == "labeled" and isinstance(label, dict) and label.get("name") == ACCEPTED


def answer(event: Path, source: Path | None, folder: Path | None) -> str:
    """The answer to the issue of an event, as a comment; empty for an issue without a form.

    If a maintainer accepted a proposal, writes the entry, and its pull request to ``folder``, if there is one. Raises
    ``SourceError`` if the file is not an event.
    """
    root = source or find_source(to_write=folder is not None)
    catalog = load_catalog(root)
    sections = list(_sections(OpenTerms(root, catalog), read_event(event), folder))
    return comment(MARKER, sections, "The rest is too long for a comment.") if sections else ""


def _sections(terms: OpenTerms, issue: Issue, folder: Path | None) -> Iterator[str]:
    if not any(f"### {label}" in issue.body for label in LABELS):
        return
    try:
        answers = read_issue(issue.body)
    except SourceError as error:
        yield from _refused(str(error))
        return
    form = form_of(answers)
    if form.proposes:
        yield from _proposal(terms, issue, answers, folder)
    else:
        yield from _report(terms, form, answers)


def _refused(reason: str) -> Iterator[str]:
    """The answer to a form whose answers cannot be used."""
    yield "## Not ready yet"
    yield f"{code(reason, most=600)}"
    yield EDIT


def _proposal(terms: OpenTerms, issue: Issue, answers: Mapping[str, str], folder: Path | None) -> Iterator[str]:
    """The answer to a proposal: the entry that it becomes, and what is to be fixed first."""
    same = _duplicates(terms, answers.get("Term") or answers.get("Text") or "")
    try:
        entry_id, edits = propose(terms, issue, answers)
    except (SourceError, click.ClickException) as error:
        yield from _refused(_reason(error, form_of(answers)))
        if same:
            yield same
        return
    before = read_source(terms.root)
    sides = open_sides(Files("before", before), Files("after", edited_files(before, edits)))
    text, (_, findings) = str(edits[0].text), edited_terms(terms.root, edits)
    (span,) = spans(text, edits[0].kind)
    lines = text.split("\n")[span.first : span.end]
    errors = sum(f.level == "error" for f in findings)
    yield f"## Not ready yet: {errors:,} to fix" if errors else "## Thank you: this can become an entry"
    if same:
        yield same
    if findings:
        yield findings_table(findings)
    yield from entry_reviews(compare(sides.old, sides.new, samples=0), sides.old, sides.new)
    path = str(edits[0].path.relative_to(terms.root))
    yield f"The entry for {code(path)}:\n\n{block(lines)}"
    yield f"**To correct it:** {EDIT}"
    if not errors:
        yield (
            f"**A maintainer** reads the sentences and adds the label `{ACCEPTED}`. That says that the term meets the "
            f"[criteria]({file_link('CONTRIBUTING.md')}#criteria), also if there are objections, and makes the pull "
            "request, with this issue as the source of the entry. Two reviewers then read it."
        )
    if folder is not None and issue.accepted and not errors:
        texts = {edit.path: str(edit.text) for edit in edits}
        write_files(texts | _pull_request(folder, entry_id, issue, answers))


def _report(terms: OpenTerms, form: IssueForm, answers: Mapping[str, str]) -> Iterator[str]:
    """The answer to a report of an entry: the entry, its judgements, and what happens next."""
    catalog, named = terms.catalog, answers.get("Entry", "").strip("\"'`“”")
    found = list(catalog.named(named))
    if not found:
        yield f"## No entry has the id or the text {code(named)}"
        near = near_ids(named, (entry for _, entry in catalog.entries()))
        if near:
            yield f"Did you mean {', '.join(map(code, near))}?"
        yield EDIT
        return
    yield "## Thank you: a maintainer reads this"
    for file, entry in found[:10]:
        yield f"{code(entry.text)}, {code(entry.id)}, at {_link(find_place(terms.root, file.kind, entry.id))}"
        if isinstance(entry, Judged):
            name = "specification" if isinstance(entry, Specification) else "term"
            yield f"Judgements: {code(preference_line(entry, name))}"
    better = answers.get("Better term")
    if better:
        known = ", ".join(code(entry.id) for _, entry in catalog.named(better))
        said = f"in the data as {known}." if known else "not in the data yet: please propose it in its own issue."
        yield f"The better term {code(better)} is {said}"
    yield form.next.format(retire=f"{file_link('CONTRIBUTING.md')}#change-an-entry")


def _duplicates(terms: OpenTerms, text: str) -> str:
    """A list of the terms, nouns and templates that are the same as a text; empty if there are none."""
    lines = []
    for found in same_entries(terms.root, terms.catalog, text):
        retired = f", until version {found.entry.until}" if found.entry.until else ""
        known = f"{code(found.entry.text)} is in the data as {code(found.entry.id)}"
        change = f"[another form]({REPOSITORY}/issues/new/choose) changes it"
        lines.append(f"- {known}, {_link(found.place)}{retired}; {change}")
    phrase = same_phrase(terms.catalog, text)
    if phrase:
        lines.append(f"- the data makes this phrase already: {code(phrase)}")
    return "\n".join(lines)


def _link(place: str) -> str:
    """A file and a line in it, as a link."""
    path, _, line = place.partition(":")
    return f"[{code(place)}]({file_link(path, int(line) if line.isdigit() else None)})"


def _reason(error: Exception, form: IssueForm) -> str:
    """The message of an error in the words of the form."""
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    message = message.removeprefix("nothing was written: ").removeprefix("Invalid value for ")
    return re.sub(r"--([a-z-]+)", lambda m: f"'{field_label(m[1], form) or m[0]}'", message)


def propose(terms: OpenTerms, issue: Issue, answers: Mapping[str, str]) -> tuple[str, tuple[Edit, ...]]:
    """The id of the entry that a form proposes, and the edits that write it with its source.

    Objections on record do not prevent it, because a maintainer decides on them. Raises ``SourceError`` and
    ``click.UsageError`` for answers that cannot be used.
    """
    kind, given = read_entry(answers)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # what it prints is for a terminal
        draft = ask_entry(kind, terms, Questions({**given, "meets_criteria": True}, yes=True))
    known = known_source(terms.catalog, answers)
    added = [_new_source(issue, answers)] if known is None or answers.get("Why") else []
    sources = [*filter(None, [known]), *(source.id for source in added)]
    entry = add_entry(terms, replace(draft, entry={**draft.entry, "sources": sources}, sources=added))
    return str(draft.entry["id"]), terms.whole([entry])


def _new_source(issue: Issue, answers: Mapping[str, str]) -> Source:
    """The source that a form describes, with a link to the issue."""
    said, why = (in_one_line(answers.get(label, ""), None) for label in ("Source", "Why"))
    title = f"Proposal {issue.number}: {said or 'a contributor, from their own knowledge'}"
    note = f"{said} Why: {why}" if len(title) > _TITLE else why
    return Source(
        id=f"issue-{issue.number}",
        title=cut(title, _TITLE),
        year=datetime.now(UTC).year,
        url=f"{REPOSITORY}/issues/{issue.number}",
        note=cut(note, _NOTE) or None,
    )


def _pull_request(folder: Path, entry_id: str, issue: Issue, answers: Mapping[str, str]) -> dict[Path, str]:
    """The files with the title, message and text of the pull request that adds an entry."""
    credited = None if answers.get("Credit") == NO_CREDIT else issue.co_author
    # words of the issue stay out of the message: git reads trailers in it, and GitHub mentions and closing words
    message = f"Add {entry_id}\n\nProposed in #{issue.number}; its file has its source.\n"
    said = "\n".join(f"- {label}: {code(answers[label], 600)}" for label in ("Source", "Why") if answers.get(label))
    body = (
        f"Closes #{issue.number}. Adds {code(entry_id)}, as proposed there.\n\n{said}\n\n"
        "Choose **Ready for review** to start the checks and the preview.\n"
    )
    return {
        folder / "title.txt": f"Add {entry_id}\n",
        folder / "message.txt": message + (f"\nCo-authored-by: {credited}\n" if credited else ""),
        folder / "body.md": body,
    }
