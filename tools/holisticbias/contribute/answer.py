"""The answer to an issue that fills in a form, as a comment in Markdown; nothing in the issue is trusted."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap

from holisticbias.contribute.authoring import Edit, quoted
from holisticbias.contribute.diff_report import block, code
from holisticbias.contribute.preview import findings_table
from holisticbias.contribute.proposals import Existing, find_place, same_entries, same_phrase, similar_terms
from holisticbias.contribute.readings import preference_line
from holisticbias.errors import SourceError
from holisticbias.source.addresses import REPOSITORY, file_link
from holisticbias.source.findings import Finding
from holisticbias.source.folder import SOURCES_FILE
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry, Judged
from holisticbias.terms.file_kinds import Kind, Source
from holisticbias.terms.specification_entries import Specification

MARKER = "<!-- holisticbias answer -->"
MAX_LENGTH = 60_000
EDIT = (
    "Edit the text of the issue (**...**, then **Edit**) and leave the headings as they are. This answer is then "
    "written again."
)
_NEXT = {
    "report-term": (
        "A maintainer asks reviewers who know the term. Their judgements are recorded with a date, and the term stays "
        "in the data or is retired by the [rules for retiring]({retire})."
    ),
    "report-grammar": (
        "A maintainer corrects the entry for the next version; published versions do not change. You can do it "
        "yourself: [change an entry]({retire})."
    ),
    "dispute-placement": "Reviewers of both axes discuss it here. A maintainer then runs `holisticbias move`.",
}


def render(sections: Iterable[str]) -> str:
    """The comment, of at most ``MAX_LENGTH`` characters; sections that do not fit are left out."""
    text = MARKER
    for section in sections:
        if len(text) + len(section) > MAX_LENGTH:
            return f"{text}\n\nThe rest is too long for a comment."
        text = f"{text}\n\n{section}"
    return text


def refused(reason: str) -> Iterator[str]:
    """The answer to a form whose answers cannot be used."""
    yield "## Not ready yet"
    yield f"{code(reason, most=600)}"
    yield EDIT


def _existing(found: Sequence[Existing], phrase: str | None) -> Iterator[str]:
    for entry in found:
        path, _, line = entry.place.partition(":")
        link = f"[{code(entry.place)}]({file_link(path, int(line) if line.isdigit() else None)})"
        retired = f", until version {entry.entry.until}" if entry.entry.until else ""
        yield f"- {code(entry.entry.text)} is in the data as {code(entry.entry.id)}, {link}{retired}"
    if phrase:
        yield f"- the data makes this phrase already: {code(phrase)}"


def proposal(
    entry_lines: Sequence[str],
    findings: Sequence[Finding],
    same: Sequence[str],
    reviews: Sequence[str],
    path: str,
) -> Iterator[str]:
    """The answer to a proposal that can become an entry."""
    errors = sum(f.level == "error" for f in findings)
    yield f"## Not ready yet: {errors:,} to fix" if errors else "## Thank you: this can become an entry"
    if same:
        yield "\n".join(same)
    if findings:
        yield findings_table(findings)
    yield from reviews
    yield f"The entry for {code(path)}:\n\n{block(entry_lines)}"
    yield f"**To correct it:** {EDIT}"
    if not errors:
        yield (
            f"**A maintainer** reads the sentences and adds the label `{ACCEPTED}`. That says that the term meets the "
            f"[criteria]({file_link('CONTRIBUTING.md')}#criteria), also if there are objections, and makes the pull "
            "request, with this issue as the source of the entry. Two reviewers then read it."
        )


def report(root: Path, catalog: Catalog, form: str, answers: Mapping[str, str]) -> Iterator[str]:
    """The answer to a report of an entry: the entry, its judgements, and what happens next."""
    named = answers.get("Entry", "")
    found = list(_named(catalog, named))
    if not found:
        yield f"## No entry has the id or the text {code(named)}"
        near = [*similar_terms(catalog, named), *_near_ids(catalog, named)]
        if near:
            yield f"Did you mean {', '.join(map(code, dict.fromkeys(near)))}?"
        yield EDIT
        return
    yield "## Thank you: a maintainer reads this"
    for kind, entry in found[:10]:
        place = find_place(root, kind, entry.id)
        path, _, line = place.partition(":")
        link = f"[{code(place)}]({file_link(path, int(line) if line.isdigit() else None)})"
        yield f"{code(entry.text)}, {code(entry.id)}, at {link}"
        if isinstance(entry, Judged):
            name = "specification" if isinstance(entry, Specification) else "term"
            yield f"Judgements: {code(preference_line(entry, name))}"
    if answers.get("Better term"):
        better = answers["Better term"]
        known = [entry.id for _, entry in _named(catalog, better)]
        yield (
            f"The better term {code(better)} is in the data as {', '.join(map(code, known))}."
            if known
            else (f"The better term {code(better)} is not in the data yet: please propose it in its own issue.")
        )
    yield _NEXT[form].format(retire=f"{file_link('CONTRIBUTING.md')}#change-an-entry")


def duplicates(root: Path, catalog: Catalog, text: str) -> tuple[str, ...]:
    """Lines on the terms, nouns and templates that are the same as a text."""
    return tuple(_existing(same_entries(root, catalog, text), same_phrase(catalog, text)))


def _named(catalog: Catalog, name: str) -> Iterator[tuple[Kind, Entry]]:
    wanted = name.strip().casefold()
    return ((f.kind, e) for f, e in catalog.entries() if wanted and wanted in (e.id, e.text.casefold()))


def _near_ids(catalog: Catalog, name: str) -> list[str]:
    ids = [d.id for d in catalog.descriptors]
    return difflib.get_close_matches(name.strip().lower(), ids, n=3, cutoff=0.75)


ACCEPTED = "accepted"
"""The label with which a maintainer turns a proposal into a pull request."""
_MAX_BYTES = 2_000_000
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


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
    return Issue(number, body, login if known else None, user_id, _accepted(event))


def _accepted(event: dict[str, Any]) -> bool:
    label = event.get("label")
    return event.get("action") == "labeled" and isinstance(label, dict) and label.get("name") == ACCEPTED


_TITLE, _NOTE = 200, 2000  # characters


def known_source(catalog: Catalog, answers: Mapping[str, str]) -> Source | None:
    """The source of the data that a form names by its id, title or address; None for another one."""
    said = " ".join(answers.get("Source", "").split()).casefold()
    if not said:
        return None
    named = (s for s in catalog.sources if said in (s.id, s.title.casefold(), (s.url or "-").casefold().rstrip("/")))
    return next(named, None)


def add_source(root: Path, issue: Issue, answers: Mapping[str, str]) -> tuple[str, Edit]:
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
