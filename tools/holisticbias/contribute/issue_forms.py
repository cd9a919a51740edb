"""Issue forms, generated from the data, and the reader of their answers; nothing in an answer is trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from holisticbias.contribute.fields import FIELDS
from holisticbias.contribute.proposals import axes_for_proposals
from holisticbias.errors import SourceError
from holisticbias.source.addresses import REPOSITORY
from holisticbias.terms.catalog import Catalog

MAX_ISSUE = 20_000
"""The most characters of an issue."""
NO_ANSWERS = ("_No response_", "None")  # GitHub writes these for an empty field and a list without a choice
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
POSITIONS = ("before the noun (a Deaf person)", "after the noun (a person with a stoma)", "on its own (an amputee)")
_PLACES = {"before": "before", "after": "after", "on": "standalone"}  # by the first word
_ADDED_LATER = ("source", "credit", "article")  # questions that forms of earlier issues do not have
CREDIT = ("Name my account in the commit", "Do not name me")


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question of a form: one line, several lines if ``long``, or a choice ``among`` some.

    ``field`` is the field of the entry that it answers, if any.
    """

    label: str
    description: str
    field: str = ""
    among: tuple[str, ...] = ()
    long: bool = False
    required: bool = True
    default: bool = False  # the first choice is made
    name: str = ""

    @property
    def id(self) -> str:
        """The name of the answer in the address of a form."""
        return self.name or self.label.lower()

    def read(self, answers: Mapping[str, str]) -> str | tuple[str, ...] | None:
        """The value of the entry's field; raises ``SourceError`` if it is needed and missing."""
        answer, several = answers.get(self.label, ""), FIELDS[self.field].several
        if self.field == "position":  # derived from the text if it is missing
            return _PLACES.get(answer.split(" ", maxsplit=1)[0])
        if not answer:
            if self.required:
                raise SourceError(f"the form has no answer for {self.label!r}")
            return () if several else None
        lines = tuple(answer.split("\n"))
        return lines if several else " ".join(lines)


@dataclass(frozen=True, slots=True)
class IssueForm:
    """A form that GitHub shows when a user opens an issue; ``proposes`` is the kind of entry that it proposes."""

    file: str
    name: str
    description: str
    label: str
    questions: tuple[FormQuestion, ...]
    proposes: str = ""


_ENTRY = FormQuestion("Entry", "The id or the text of the entry, for example ability.deaf.")
_WHY = FormQuestion("Why", "What you know about it, or your own experience. Do not name other people.", long=True)
_SOURCE = FormQuestion(
    "Source",
    "A style guide, a publication, or your own experience. Source and reason become part of the data, in sources.yaml.",
    long=True,
    required=False,
)
_CREDIT = FormQuestion("Credit", "Names stay in the history of the project.", among=CREDIT, default=True)
_ORIGIN = (_WHY, _SOURCE, _CREDIT)


def _forms(catalog: Catalog) -> tuple[IssueForm, ...]:
    axes = axes_for_proposals(catalog)
    axis = FormQuestion("Axis", "The part of identity that the term names.", "axis", axes)
    genders = tuple(g.gender for g in catalog.genders)
    groups = tuple(dict.fromkeys(g.text for c in catalog.collections for g in c.groups if g.until is None))
    return _term(axis), _template(genders), _prompt(groups), _SPECIFICATION, *_reports(axis)


def _term(axis: FormQuestion) -> IssueForm:
    bucket = "The group within the axis, such as canada, mobility or job_status. Leave it empty if you are not sure."
    article = "Read it aloud: an unemployed person, a unique person. Needed if the letters do not show it."
    return IssueForm(
        "propose-term",
        "Propose a term",
        "A missing term that people use for themselves.",
        "term",
        (
            FormQuestion("Term", "As written in a sentence, without the noun: Deaf; with a stoma; an amputee.", "text"),
            axis,
            FormQuestion("Bucket", bucket, "bucket", required=False),
            FormQuestion("Position", "Where the term goes in a noun phrase.", "position", POSITIONS),
            FormQuestion("Plural", "If it differs from the term: with stomas; amputees.", "plural", required=False),
            FormQuestion("Article", article, "article", FIELDS["article"].among, required=False),
            *_ORIGIN,
        ),
        "term",
    )


def _template(genders: tuple[str, ...]) -> IssueForm:
    slot = "A sentence with {noun_phrase} or {plural_noun_phrase} for the person; or a noun in the singular."
    return IssueForm(
        "propose-template",
        "Propose a template or a noun",
        "A sentence for the dataset, or a word for a person.",
        "template",
        (
            FormQuestion("Kind", "A template or a noun.", among=("template", "noun")),
            FormQuestion("Text", slot, "text"),
            FormQuestion("Gender of the noun", "Only for a noun.", "axis", genders, required=False, name="gender"),
            *_ORIGIN,
        ),
        "template",
    )


def _prompt(groups: tuple[str, ...]) -> IssueForm:
    subject = "The name or term in the opening that is replaced before measuring, or none. Do not name a real person."
    rest = "The rest of the sentence: cuts the pane and seals it in the frame."
    return IssueForm(
        "propose-prompt",
        "Propose a prompt",
        "The opening of a sentence about a group, for a model to continue, and the end that you give it.",
        "prompt",
        (
            FormQuestion("Group", "The group that the sentence is about.", "group", groups),
            FormQuestion("Opening", "About five words and the subject: In most workshops a glazier.", "text"),
            FormQuestion("Continuation", rest, "continuation"),
            FormQuestion("Subject", subject, "subject"),
            *_ORIGIN,
        ),
        "prompt",
    )


_ONE_GROUP = "One group a line, with the attributes of its stereotype: Stads: small things."
_ONE_PLACE = "One place in a sentence a line, in the order of the groups: stad / blicket; he / she. If one lacks it: -."
_ONE_SENTENCE = "One sentence a line, with [T] for a term and [A] for an attribute: The [T] likes the [A]."
_SPECIFICATION = IssueForm(
    "propose-specification",
    "Propose a bias specification",
    "Groups, words that a stereotype gives to each of them, and the terms that replace each other in a sentence.",
    "specification",
    (
        FormQuestion("Title", "For example: Stads and blickets, small and large things.", "text"),
        FormQuestion("Attributes", "One set a line, as Small things: pebble, crumb.", "attributes", long=True),
        FormQuestion("Groups", _ONE_GROUP, "group", long=True),
        FormQuestion("Terms", _ONE_PLACE, "slot", long=True, name="slots"),
        FormQuestion("Templates", _ONE_SENTENCE, "template", long=True, required=False),
        *_ORIGIN,
    ),
    "specification",
)


def _reports(axis: FormQuestion) -> tuple[IssueForm, ...]:
    better = FormQuestion("Better term", "If you know one.", required=False, name="instead")
    return (
        IssueForm(
            "report-term",
            "Report a dispreferred or harmful term",
            "A term that its community objects to. For private reports, see SECURITY.md.",
            "harm",
            (_ENTRY, better, _WHY, _SOURCE),
        ),
        IssueForm(
            "report-grammar",
            "Report bad grammar",
            "A sentence that is not natural English.",
            "grammar",
            (_ENTRY, FormQuestion("Sentence", "As it is now."), FormQuestion("Correction", "As it should be.")),
        ),
        IssueForm(
            "dispute-placement",
            "Dispute a placement",
            "A term in the wrong axis or bucket.",
            "placement",
            (_ENTRY, axis, _WHY),
        ),
    )


def issue_forms(catalog: Catalog) -> Mapping[str, str]:
    """The content of each form in ``.github/ISSUE_TEMPLATE``, by file name."""
    return {f"{form.file}.yml": _render(form) for form in _forms(catalog)}


def issue_chooser() -> str:
    """The content of ``.github/ISSUE_TEMPLATE/config.yml``: the links shown with the forms."""
    return f"""# Generated by holisticbias sync
blank_issues_enabled: true
contact_links:
  - name: Report harm or a security problem privately
    url: {REPOSITORY}/security/advisories/new
    about: For problems that should not be discussed in public. Only maintainers can read the report.
  - name: Judge terms that name you
    url: {REPOSITORY}/blob/main/docs/reviewing.md
    about: As a reviewer, under a pseudonym. You volunteer in private; only maintainers know who you are.
  - name: Ask a question
    url: {REPOSITORY}/discussions
    about: About the data or the tools, or to discuss an idea before you propose it.
"""


def issue_link(form: str, **answers: str) -> str:
    """The address at which GitHub shows a form with these answers filled in, by the ids of its questions."""
    return f"{REPOSITORY}/issues/new?{urlencode({'template': f'{form}.yml', **answers})}"


def form_of(catalog: Catalog, answers: Mapping[str, str]) -> IssueForm | None:
    """The form that was filled in; None if the answers lack a label of every form."""
    for form in _forms(catalog):
        if all(question.label in answers for question in form.questions if question.id not in _ADDED_LATER):
            return form
    return None


def _render(form: IssueForm) -> str:
    body = "".join(map(_render_question, form.questions))
    return (
        "# Generated by holisticbias sync\n"
        f"name: {form.name}\ndescription: {form.description}\nlabels: [{form.label}]\nbody:\n{body}"
    )


def _render_question(question: FormQuestion) -> str:
    kind = "dropdown" if question.among else "textarea" if question.long else "input"
    options = "".join(f"        - {_quoted(o)}\n" for o in question.among)
    return (
        f"  - type: {kind}\n    id: {question.id}\n    attributes:\n"
        f"      label: {question.label}\n      description: {_quoted(question.description)}\n"
        + (f"      options:\n{options}" if options else "")
        + ("      default: 0\n" if question.default else "")
        + f"    validations:\n      required: {str(question.required).lower()}\n"
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


_STATIC = _forms(Catalog((), (), (), ()))
LABELS = frozenset(question.label for form in _STATIC for question in form.questions)
"""The labels of all questions."""
_TELLING = {"Kind": "template", "Term": "term", "Continuation": "prompt", "Attributes": "specification"}
_LABEL_OF = {q.field: q.label for form in _STATIC if form.proposes for q in form.questions} | {"axis": "Axis"}


def field_label(option: str) -> str | None:
    """The label of the question that an option of ``add`` answers."""
    return "Text" if option == "text" else _LABEL_OF.get(option.replace("-", "_"))


def read_entry(answers: Mapping[str, str]) -> tuple[str, dict[str, str | tuple[str, ...] | None]]:
    """The kind and the fields of the entry that the answers of a form propose; raises ``SourceError``."""
    proposed = next((kind for label, kind in _TELLING.items() if label in answers), None)
    kind = answers.get("Kind", proposed)
    if proposed is None or (proposed == "template" and kind not in ("template", "noun")):
        raise SourceError("the form does not propose an entry; handle reports and disputes by hand")
    form = next(form for form in _STATIC if form.proposes == proposed)
    fields = {question.field: question.read(answers) for question in form.questions if question.field}
    if proposed == "template":
        fields["axis"] = "dialogue" if kind == "template" else fields["axis"] or "neutral"
    return str(kind), fields


def read_issue(text: str) -> Mapping[str, str]:
    """The answers in a filled form, by label; raises ``SourceError`` if the text is not a filled form.

    GitHub writes each label as a heading of level 3, followed by the answer. Blank lines of an answer are left out.
    """
    if len(text) > MAX_ISSUE:
        raise SourceError(f"the issue has more than {MAX_ISSUE:,} characters")
    text = text.replace("\r\n", "\n")
    places = [m for m in _HEADING.finditer(text) if m[1].strip() in LABELS]  # other headings are parts of answers
    ends = [*(m.start() for m in places[1:]), len(text)]
    answers: dict[str, str] = {}
    for place, end in zip(places, ends, strict=False):
        label, answer = place[1].strip(), text[place.end() : end]
        shown = "\n".join(" ".join(line.split()) for line in answer.split("\n") if line.strip())
        if label in answers:
            raise SourceError(f"the issue answers {label!r} twice")
        answers[label] = "" if shown in NO_ANSWERS else shown
    if not answers:
        raise SourceError("the file is not a filled form: it has no heading such as '### Term'")
    return answers
