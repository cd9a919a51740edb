"""The source of an entry that an issue proposes: the form's Source and Why, as an entry of ``sources.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from ruamel.yaml.comments import CommentedMap

from holisticbias.contribute.authoring import Edit, quoted
from holisticbias.contribute.issue_events import Issue
from holisticbias.source.addresses import REPOSITORY
from holisticbias.source.folder import SOURCES_FILE
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import Source

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
