"""Answer an issue that fills in a form; a proposal becomes an entry, as ``holisticbias add`` would make it."""

from __future__ import annotations

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
from ruamel.yaml.comments import CommentedMap

from holisticbias.contribute.answer import ACCEPTED, MARKER, duplicates, proposal, refused, report
from holisticbias.contribute.authoring import OpenTerms, add_entry, edited_files, edited_terms, write_edits
from holisticbias.contribute.diff import compare
from holisticbias.contribute.entry_text import Edit, quoted, spans
from holisticbias.contribute.issue_forms import LABELS, NO_CREDIT, field_label, form_of, read_entry, read_issue
from holisticbias.contribute.markdown import code, comment
from holisticbias.contribute.reviews import entry_reviews
from holisticbias.contribute.revisions import Files, open_sides
from holisticbias.errors import SourceError
from holisticbias.questions.adding import ask_entry
from holisticbias.questions.questions import Questions
from holisticbias.rules.validate import load_catalog
from holisticbias.source.addresses import REPOSITORY
from holisticbias.source.folder import SOURCES_FILE, find_source, read_source
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog

_MAX_BYTES = 2_000_000
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_TITLE, _NOTE = 200, 2000  # characters


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
    if path.stat().st_size > _MAX_BYTES:
        raise SourceError(f"{path} has more than {_MAX_BYTES:,} bytes")
    try:
        event = json.loads(path.read_text("utf-8"))
        issue, user = event["issue"], event["issue"].get("user") or {}
        number, body, user_id = issue["number"], issue.get("body") or "", user.get("id", 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"{path} is not the event of an issue on GitHub") from error
    if type(number) is not int or number < 1 or type(body) is not str or type(user_id) is not int:
        raise SourceError(f"{path} is not the event of an issue on GitHub")
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
        yield from refused(str(error))
        return
    form = form_of(answers)
    if form is None:
        yield from refused("a heading of the form is missing")
    elif form.proposes:
        yield from _proposal(terms, issue, answers, folder)
    else:
        yield from report(terms.root, terms.catalog, form.file, answers)


def _proposal(terms: OpenTerms, issue: Issue, answers: Mapping[str, str], folder: Path | None) -> Iterator[str]:
    same = duplicates(terms.root, terms.catalog, answers.get("Term") or answers.get("Text") or "")
    try:
        entry_id, edits = propose(terms, issue, answers)
    except (SourceError, click.ClickException) as error:
        yield from refused(_reason(error))
        if same:
            yield same
        return
    before = read_source(terms.root)
    sides = open_sides(Files("before", before), Files("after", edited_files(before, edits)))
    reviews = list(entry_reviews(compare(sides.old, sides.new, samples=0), sides.old, sides.new))
    text, (_, findings) = str(edits[0].text), edited_terms(terms.root, edits)
    (span,) = spans(text, edits[0].kind)
    lines = text.split("\n")[span.first : span.end]
    yield from proposal(lines, findings, same, reviews, str(edits[0].path.relative_to(terms.root)))
    if folder is not None and issue.accepted and all(f.level != "error" for f in findings):
        write_edits(edits)
        _write_pull_request(folder, entry_id, issue, answers)


def _reason(error: Exception) -> str:
    """The message of an error in the words of the form."""
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    message = message.removeprefix("nothing was written: ").removeprefix("Invalid value for ")
    return re.sub(r"--([a-z-]+)", lambda m: f"'{field_label(m[1]) or m[0]}'", message)


def propose(terms: OpenTerms, issue: Issue, answers: Mapping[str, str]) -> tuple[str, tuple[Edit, ...]]:
    """The id of the entry that a form proposes, and the edits that write it with its source, the entry first.

    Objections on record do not prevent it, because a maintainer decides on them. Raises ``SourceError`` and
    ``click.UsageError`` for answers that cannot be used.
    """
    kind, given = read_entry(answers)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # what it prints is for a terminal
        draft = ask_entry(kind, terms, Questions({**given, "meets_criteria": True}, yes=True))
    sources, edits = list(_known_source(terms.catalog, answers)), []
    if not sources or answers.get("Why"):
        source, edit = _add_source(terms.root, issue, answers)
        sources, edits = [*sources, source], [edit]
    entry = add_entry(terms.root, replace(draft, entry={**draft.entry, "sources": sources}))
    return str(draft.entry["id"]), terms.whole([entry, *edits])


def _known_source(catalog: Catalog, answers: Mapping[str, str]) -> Iterator[str]:
    """The id of the source of the data that a form names by its id, title or address, if it does."""
    said = " ".join(answers.get("Source", "").split()).casefold()
    for source in catalog.sources:
        if said and said in (source.id, source.title.casefold(), (source.url or "-").casefold().rstrip("/")):
            yield source.id
            return


def _add_source(root: Path, issue: Issue, answers: Mapping[str, str]) -> tuple[str, Edit]:
    """The id and the edit that add what a form says of its source, with a link to the issue."""
    said, why = (_one_line(answers.get(label, "")) for label in ("Source", "Why"))
    title = f"Proposal {issue.number}: {said or 'a contributor, from their own knowledge'}"
    note = f"{said} Why: {why}" if len(title) > _TITLE else why
    values = CommentedMap(id=f"issue-{issue.number}", title=quoted(_cut(title, _TITLE)), year=datetime.now(UTC).year)
    values["url"] = f"{REPOSITORY}/issues/{issue.number}"
    if note:
        values["note"] = quoted(_cut(note, _NOTE))
    path = root / SOURCES_FILE
    content = read_editable(path.read_text("utf-8"))
    content["sources"] = [*(s for s in content["sources"] if s["id"] != values["id"]), values]
    return str(values["id"]), Edit(path, "sources", canonical_text(content, "sources"))


def _one_line(text: str) -> str:
    """The text in printable characters, on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _write_pull_request(folder: Path, entry_id: str, issue: Issue, answers: Mapping[str, str]) -> None:
    """Write the title, message and text of the pull request that adds an entry."""
    credited = None if answers.get("Credit") == NO_CREDIT else issue.co_author
    # words of the issue stay out of the message: git reads trailers in it, and GitHub mentions and closing words
    message = f"Add {entry_id}\n\nProposed in #{issue.number}; sources.yaml has its source.\n"
    said = "\n".join(f"- {label}: {code(answers[label], 600)}" for label in ("Source", "Why") if answers.get(label))
    body = (
        f"Closes #{issue.number}. Adds {code(entry_id)}, as proposed there.\n\n{said}\n\n"
        "Choose **Ready for review** to start the checks and the preview.\n"
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "title.txt").write_text(f"Add {entry_id}\n", "utf-8")
    (folder / "message.txt").write_text(message + (f"\nCo-authored-by: {credited}\n" if credited else ""), "utf-8")
    (folder / "body.md").write_text(body, "utf-8")
