"""Turn the answers in a form into a new entry, as ``holisticbias add`` would without questions."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holisticbias.commands.add import draft_of
from holisticbias.commands.questions import Questions

if TYPE_CHECKING:
    from holisticbias.contribute.answer import Issue
    from holisticbias.contribute.authoring import Draft, Edit
    from holisticbias.terms.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new entry and the edits that write it with its source."""

    draft: Draft
    edits: tuple[Edit, ...]


def propose(root: Path, catalog: Catalog, issue: Issue, answers: Mapping[str, str]) -> Proposal:
    """The entry that a form proposes; objections on record do not prevent it, because a maintainer decides on them.

    Raises ``SourceError`` and ``click.UsageError`` for answers that cannot be used.
    """
    from holisticbias.contribute.answer import add_source, known_source
    from holisticbias.contribute.authoring import add_entry, next_version, prepare_version
    from holisticbias.contribute.issue_forms import read_entry

    kind, given = read_entry(answers)
    group = given.get("group")
    if kind == "prompt" and isinstance(group, tuple):
        given["group"] = group[0]
    version = next_version(catalog)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # what it prints is for a terminal
        draft = draft_of(kind, root, catalog, Questions({**given, "meets_criteria": True}, yes=True), version)
    known = known_source(catalog, answers)
    if known is None or answers.get("Why"):
        source, edit = add_source(root, issue, answers)
        sources, edits = [*([known.id] if known else []), source], [edit]
    else:
        sources, edits = [known.id], []
    draft = replace(draft, entry={**draft.entry, "sources": sources})
    return Proposal(draft, (add_entry(root, draft), *edits, *prepare_version(catalog, root, version)))
