"""Issue forms, generated from the data, and what a filled form proposes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holisticbias.catalog import Catalog
from holisticbias.errors import SourceError

MAX_ISSUE = 20_000
NO_ANSWERS = ("_No response_", "None")  # of a field, and of a list of which nothing is chosen
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """A field of a form: an answer in one line, in several, or one of a list."""

    id: str
    label: str
    description: str
    kind: str = "input"
    among: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """A form that GitHub shows to who opens an issue."""

    file: str
    name: str
    description: str
    label: str
    questions: tuple[Question, ...]


POSITIONS = ("before the noun (a Deaf person)", "after the noun (a person with a stoma)", "on its own (an amputee)")
_TERM = Question("term", "Term", "As it stands in a sentence, without the noun: Deaf; with a stoma; an amputee.")
_ENTRY = Question("entry", "Entry", "The id or the text of the entry, as in ability.deaf.")
_WHY = Question("why", "Why", "What you know or live of it. Do not name other people.", "textarea")
_SOURCE = Question(
    "source", "Source", "A style guide, a publication, or your own experience.", "textarea", required=False
)


def issue_forms(catalog: Catalog) -> Mapping[str, str]:
    """The content of each file in ``.github/ISSUE_TEMPLATE``, by its name."""
    return {f"{form.file}.yml": _render(form) for form in _forms(catalog)}


def _forms(catalog: Catalog) -> tuple[Form, ...]:
    axes = tuple(a.axis for a in catalog.axes)
    genders = tuple(g.gender for g in catalog.genders)
    axis = Question("axis", "Axis", "Which part of identity it speaks of.", "dropdown", axes)
    return *_proposals(axis, genders), *_reports(axis)


def _proposals(axis: Question, genders: tuple[str, ...]) -> tuple[Form, ...]:
    position = Question("position", "Position", "Where it stands.", "dropdown", POSITIONS)
    plural = Question("plural", "Plural", "If it differs: with stomas; amputees.", required=False)
    slot = "With {noun_phrase} or {plural_noun_phrase} in the place of the person; or a noun in the singular."
    return (
        Form(
            "propose-term",
            "Propose a term",
            "A term that people use of themselves and that is missing.",
            "term",
            (_TERM, axis, position, plural, _WHY, _SOURCE),
        ),
        Form(
            "propose-template",
            "Propose a template or a noun",
            "A sentence, or a word for a person.",
            "template",
            (
                Question("kind", "Kind", "What you propose.", "dropdown", ("template", "noun")),
                Question("text", "Text", slot),
                Question("gender", "Gender of the noun", "For a noun.", "dropdown", genders, required=False),
                _WHY,
            ),
        ),
    )


def _reports(axis: Question) -> tuple[Form, ...]:
    return (
        Form(
            "report-term",
            "Report a dispreferred or harmful term",
            "A term that the people it names object to. What is private goes to the address in SECURITY.md instead.",
            "harm",
            (_ENTRY, Question("instead", "What to say instead", "If you know.", required=False), _WHY, _SOURCE),
        ),
        Form(
            "report-grammar",
            "Report bad grammar",
            "A sentence that nobody would say.",
            "grammar",
            (_ENTRY, Question("sentence", "Sentence", "As it is."), Question("mend", "Mend", "As it should be.")),
        ),
        Form(
            "dispute-placement",
            "Dispute a placement",
            "A term under an axis or in a bucket where it does not belong.",
            "placement",
            (_ENTRY, axis, _WHY),
        ),
        Form(
            "volunteer",
            "Volunteer as a reviewer",
            "Judge terms that name you. You choose a pseudonym; your community is named only if you say so.",
            "reviewer",
            (Question("pseudonym", "Pseudonym", "As in rv-0042."), axis, _WHY),
        ),
    )


def _render(form: Form) -> str:
    body = "".join(map(_render_question, form.questions))
    return (
        "# Generated from the data by holisticbias generate\n"
        f"name: {form.name}\ndescription: {form.description}\nlabels: [{form.label}]\nbody:\n{body}"
    )


def _render_question(question: Question) -> str:
    options = "".join(f"        - {_quoted(o)}\n" for o in question.among)
    return (
        f"  - type: {question.kind}\n    id: {question.id}\n    attributes:\n"
        f"      label: {question.label}\n      description: {_quoted(question.description)}\n"
        + (f"      options:\n{options}" if options else "")
        + f"    validations:\n      required: {str(question.required).lower()}\n"
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


def read_issue(text: str) -> Mapping[str, str]:
    """The answers of a filled form by their labels; ``SourceError`` if the text is no filled form.

    GitHub writes a form as headings of the third level, each with its answer.
    """
    if len(text) > MAX_ISSUE:
        raise SourceError(f"the issue has more than {MAX_ISSUE:,} characters")
    parts = _HEADING.split(text.replace("\r\n", "\n"))
    answers: dict[str, str] = {}
    for label, answer in zip(parts[1::2], parts[2::2], strict=True):
        shown = " ".join(answer.split())
        if label.strip() in answers:
            raise SourceError(f"the issue answers {label.strip()!r} twice")
        answers[label.strip()] = "" if shown in NO_ANSWERS else shown
    if not answers:
        raise SourceError("the file is no filled form: it has no heading '### Term' or the like")
    return answers
