"""An event of an issue on GitHub, read from the file that a workflow has of it; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap

from holisticbias.contribute.authoring import Edit, quoted
from holisticbias.errors import SourceError
from holisticbias.source.addresses import REPOSITORY
from holisticbias.source.folder import SOURCES_FILE
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import Source

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
