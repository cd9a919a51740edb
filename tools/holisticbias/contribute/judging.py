"""Record judgements of reviewers: one, or all of a file that the explorer's queue of unjudged terms writes."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import OpenTerms
from holisticbias.contribute.entry_text import Edit, edit_entries, written
from holisticbias.contribute.proposals import unknown_id
from holisticbias.errors import SourceError
from holisticbias.source.document import Document, read_document
from holisticbias.source.findings import one_line
from holisticbias.source.schema_messages import schema_message
from holisticbias.terminal import first_and_more
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Date, Judged, Judgement, Locale, Prose, Pseudonym, Record, Text

MAX_JUDGEMENTS = 5_000
JUDGED = "descriptor or specification"
_SHOWN_PROBLEMS = 5


class JudgedTerm(Record):
    """One judgement in a file of the explorer."""

    id: Text
    judgement: Judgement
    date: Date
    comment: Prose | None = None


class JudgementFile(Record):
    """The file that the explorer's queue writes: the judgements of one reviewer."""

    holisticbias_judgements: Literal[1] = Field(description="the version of the format")
    reviewer: Pseudonym | None = None
    community: Text | None = None
    locale: Locale = "en-US"
    judgements: tuple[JudgedTerm, ...] = Field(min_length=1, max_length=MAX_JUDGEMENTS)


def read_judgements(path: Path, catalog: Catalog, reviewer: str | None, today: str) -> Mapping[str, Assessment]:
    """Read a file of the explorer's queue: a judgement for each id.

    ``reviewer`` is for a file that names none, and is checked with the terms that it is written to. Raises
    ``SourceError`` with the line of every problem: a value that the format does not allow, an unknown or repeated id,
    or a date after ``today``.
    """
    document = read_document(path, str(path))
    content = _parse(document)
    whose = content.reviewer or reviewer
    if whose is None:
        raise SourceError(f"{path} names no reviewer: give the pseudonym with --reviewer")
    if reviewer not in (None, whose):
        raise SourceError(f"{path} is of {whose}, and --reviewer says {reviewer}: leave --reviewer out")
    _refuse(document, _problems(document, content, catalog, today))
    shared: dict[str, Any] = {"community": content.community, "locale": content.locale, "reviewer": whose}
    return {
        term.id: Assessment.model_construct(**term.model_dump(exclude={"id"}), **shared) for term in content.judgements
    }


def record(
    terms: OpenTerms, judgements: Mapping[str, Assessment]
) -> tuple[tuple[Edit, ...], list[tuple[str, Assessment]]]:
    """The edits that add a judgement to each of these entries, and the judgements that they replace, with their ids.

    A judgement of a published entry counts from the version in preparation on. It replaces an earlier judgement by the
    same reviewer for the same locale that no published version has; a published judgement stays beside it.
    """
    entries = {entry.id: entry for entry in terms.catalog.judged}
    changes, replaced = {}, []
    for entry_id, judgement in judgements.items():
        entry = entries[entry_id]
        places = _replaced(terms.catalog, entry, judgement)
        replaced += [(entry_id, entry.assessments[place]) for place in places]
        values = judgement.model_dump(exclude_none=True)
        counts_from = {"since": terms.version} if entry.since in terms.catalog.published else {}
        changes[entry_id] = partial(_add, values=values | counts_from, replaces=places)
    return edit_entries(terms.root, ("descriptors", "specifications"), changes), replaced


def _add(entry: CommentedMap, values: Mapping[str, str], replaces: Sequence[int]) -> None:
    """Write a judgement to an entry; a full date has no quotes there, a year or a month stays a text."""
    judgements = entry.setdefault("assessments", CommentedSeq())
    for place in sorted(replaces, reverse=True):
        del judgements[place]
    day = values["date"]
    full = re.fullmatch(r"\d{4}-\d\d-\d\d", day) is not None
    judgement = written({**values, "date": date.fromisoformat(day) if full else day})
    judgement.fa.set_flow_style()
    judgements.append(judgement)


def new_pseudonym(catalog: Catalog) -> str:
    """A pseudonym that no judgement has: ``rv-`` and six digits, drawn at random."""
    taken = {a.reviewer for entry in catalog.judged for a in entry.assessments}
    while (drawn := f"rv-{secrets.randbelow(900_000) + 100_000}") in taken:
        pass
    return drawn


def _replaced(catalog: Catalog, entry: Judged, judgement: Assessment) -> tuple[int, ...]:
    """The places of the judgements by the same reviewer for the same locale that no published version has."""
    whose = (judgement.reviewer, judgement.locale)
    return tuple(
        place
        for place, earlier in enumerate(entry.assessments)
        if (earlier.reviewer, earlier.locale) == whose and (earlier.since or entry.since) not in catalog.published
    )


def _parse(document: Document) -> JudgementFile:
    advice = "" if document.data else " If the file is cut off, ask for it again."
    _refuse(document, ((f.line, f.message) for f in document.findings), advice)
    if not isinstance(document.data, dict) or "holisticbias_judgements" not in document.data:
        raise SourceError(
            f"{document.path} is not a file of judgements: the page 'Judge terms' of the explorer writes one"
        )
    try:
        return JudgementFile.model_validate(document.data)
    except ValidationError as error:
        details = [(tuple(d["loc"]), schema_message(d)) for d in error.errors(include_url=False)]
        _refuse(document, ((document.place(keys)[0], f"{keys[-1] if keys else ''}: {m}") for keys, m in details))
        raise


def _problems(document: Document, content: JudgementFile, catalog: Catalog, today: str) -> Iterator[tuple[int, str]]:
    """The line and the message of each judgement that cannot be recorded."""
    known = {entry.id for entry in catalog.judged}
    seen: set[str] = set()
    for i, term in enumerate(content.judgements):
        line, _ = document.place(("judgements", i, "id"))
        if term.id not in known:
            yield line, unknown_id(term.id, catalog.judged, JUDGED)
        if term.id in seen:
            yield line, f"{term.id} is judged twice"
        if term.date > today:
            yield document.place(("judgements", i, "date"))[0], f"{term.date} is in the future"
        seen.add(term.id)


def _refuse(document: Document, problems: Iterable[tuple[int, str]], advice: str = "") -> None:
    """Raise ``SourceError`` with the first problems, each a line and a message; nothing without any."""
    lines = [f"line {line}: {message}" for line, message in problems]
    if lines:
        shown = one_line(first_and_more(lines, _SHOWN_PROBLEMS, "; "))
        raise SourceError(f"nothing was recorded: {document.path}: {shown}{advice}")
