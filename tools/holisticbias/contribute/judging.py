"""Record judgements of reviewers: one, or all of a file that the explorer's queue of unjudged terms writes."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from holisticbias.contribute.authoring import NewAssessment
from holisticbias.contribute.proposals import similar_terms
from holisticbias.errors import SourceError
from holisticbias.source.document import Document, Keys, read_document
from holisticbias.source.findings import one_line
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Date, Judged, Judgement, Locale, Prose, Pseudonym, Record, Text

MAX_JUDGEMENTS = 5_000
_SHOWN_PROBLEMS = 5
_NEAR_IDS = 3


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


@dataclass(frozen=True, slots=True)
class Recorded:
    """Judgements to write, by id, and the earlier judgements that they replace, each as (id, judgement)."""

    new: Mapping[str, NewAssessment]
    replaced: tuple[tuple[str, Assessment], ...]


def read_judgements(path: Path, catalog: Catalog, reviewer: str | None, today: str) -> Mapping[str, Assessment]:
    """Read a file of the explorer's queue: a judgement for each id.

    ``reviewer`` is for a file that names none. Raises ``SourceError`` with the line of every problem: a value that the
    format does not allow, an unknown or repeated id, or a date after ``today``.
    """
    document = read_document(path, str(path))
    content = _parse(document)
    whose = content.reviewer or reviewer
    if whose is None:
        raise SourceError(f"{path} names no reviewer: give the pseudonym with --reviewer")
    if reviewer not in (None, whose):
        raise SourceError(f"{path} is of {whose}, and --reviewer says {reviewer}: leave --reviewer out")
    problems = [_at(document, keys, message) for keys, message in _problems(content, catalog, today)]
    _refuse(path, problems)
    return {
        term.id: Assessment(
            judgement=term.judgement,
            community=content.community,
            locale=content.locale,
            reviewer=whose,
            date=term.date,
            comment=term.comment,
        )
        for term in content.judgements
    }


def record(catalog: Catalog, judgements: Mapping[str, Assessment], version: str) -> Recorded:
    """Add a judgement to each of these descriptors and specifications.

    A judgement of a published entry counts from ``version`` on, which is in preparation. It replaces an earlier
    judgement by the same reviewer for the same locale that no published version has; a published judgement stays
    beside it.
    """
    entries = {entry.id: entry for entry in catalog.judged}
    new, replaced = {}, []
    for entry_id, judgement in judgements.items():
        entry = entries[entry_id]
        places = _replaced(catalog, entry, judgement)
        replaced += [(entry_id, entry.assessments[place]) for place in places]
        values = {key: str(value) for key, value in judgement.model_dump(exclude_none=True).items()}
        counts_from = {"since": version} if entry.since in catalog.published else {}
        new[entry_id] = NewAssessment(values | counts_from, places)
    return Recorded(new, tuple(replaced))


def unknown_id(catalog: Catalog, wanted: str) -> str:
    """Say that no judged entry has an id, and name the nearest ids."""
    near = near_ids(catalog, wanted)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; holisticbias show TEXT prints the id of a term"
    return f"no descriptor or specification has the id {wanted!r}{hint}"


def near_ids(catalog: Catalog, wanted: str) -> tuple[str, ...]:
    """Ids of at most three descriptors and specifications that are spelled like an id, or whose text is like it."""
    ids = [entry.id for entry in catalog.judged]
    text = wanted.rpartition(".")[2].replace("-", " ")
    of_text = [near for near in similar_terms(catalog, text) if near in ids]
    close = difflib.get_close_matches(wanted, ids, n=_NEAR_IDS, cutoff=0.85)
    return tuple(dict.fromkeys([*of_text, *close]))[:_NEAR_IDS]


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
    path = Path(document.path)
    _refuse(path, [f"line {f.line}: {f.message}" for f in document.findings])
    if not isinstance(document.data, dict) or "holisticbias_judgements" not in document.data:
        raise SourceError(f"{path} is not a file of judgements: the page 'Judge terms' of the explorer writes one")
    try:
        return JudgementFile.model_validate(document.data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    _refuse(path, [_at(document, tuple(d["loc"]), _schema_problem(d)) for d in details])
    raise SourceError(f"{path} is not a file of judgements")


def _schema_problem(error: ErrorDetails) -> str:
    key = error["loc"][-1] if error["loc"] else ""
    return f"{key}: {schema_message(error)}"


def _problems(content: JudgementFile, catalog: Catalog, today: str) -> Iterator[tuple[Keys, str]]:
    known = {entry.id for entry in catalog.judged}
    seen: set[str] = set()
    for i, term in enumerate(content.judgements):
        if term.id not in known:
            yield ("judgements", i, "id"), unknown_id(catalog, term.id)
        if term.id in seen:
            yield ("judgements", i, "id"), f"{term.id} is judged twice"
        if term.date > today:
            yield ("judgements", i, "date"), f"{term.date} is in the future"
        seen.add(term.id)


def _at(document: Document, keys: Keys, message: str) -> str:
    return f"line {document.place(keys)[0]}: {message}"


def _refuse(path: Path, problems: list[str]) -> None:
    if problems:
        more = len(problems) - _SHOWN_PROBLEMS
        rest = f"; and {more} more" if more > 0 else ""
        found = one_line("; ".join(problems[:_SHOWN_PROBLEMS]))
        raise SourceError(f"nothing was recorded: {path}: {found}{rest}")
