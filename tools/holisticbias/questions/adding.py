"""Add an entry by questions, and write what a change of an entry makes of the sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from holisticbias.contribute.authoring import Draft, OpenTerms, add_entry, check_edits, open_terms, write_edits
from holisticbias.contribute.diff import compare
from holisticbias.contribute.entry_text import Edit
from holisticbias.contribute.judging import JUDGED
from holisticbias.contribute.proposals import unknown_id
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.questions.prompts import ask_prompt
from holisticbias.questions.questions import Questions, answered, print_lines
from holisticbias.questions.specifications import ask_specification
from holisticbias.questions.terms import ask_noun, ask_template, ask_term
from holisticbias.source.findings import Finding, in_words
from holisticbias.terminal import counted, refuse_unused, write, write_changed
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Judgement

KINDS: Mapping[str, Callable[[OpenTerms, Questions], Draft]] = {
    "term": ask_term,
    "noun": ask_noun,
    "template": ask_template,
    "prompt": ask_prompt,
    "specification": ask_specification,
}
_WRITE = click.Choice(["yes", "change", "no"])
_SAMPLES = 6  # sentences that a change is shown with


def ask_entry(kind: str, terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for an entry of a kind; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    draft = KINDS[kind](terms, ask)
    entry_id = ask.text("entry_id", "Its id", str(draft.entry["id"]))
    question = "Where does it come from (contributors, or another id in sources.yaml)?"
    source = ask.choice("from", question, [s.id for s in terms.catalog.sources], "contributors", show=False)
    return replace(draft, entry={**draft.entry, "id": entry_id, "sources": [source], "since": terms.version})


def add(kind: str, source: Path | None, ask: Questions, version: str, *, dry_run: bool) -> None:
    """Ask for an entry until it follows the rules, and write it; nothing is written if the user decides against it."""
    terms = open_terms(source, version)
    while True:
        draft = ask_entry(kind, terms, ask)
        edits = terms.whole([add_entry(terms, draft)])
        answer = "yes"
        try:
            refuse_unused(ask.given.keys() - ask.asked - {"meets_criteria"}, "on this entry")
        except click.UsageError as error:
            if ask.yes:
                raise
            write(f"\n{error}", err=True)
        try:
            _print_warnings(check_edits(terms.root, edits)[1])
        except SourceError as error:
            if ask.yes:
                raise
            write(f"\n{error}\nTry again; your answers are now the defaults:\n", err=True)
            answer = "change"
        if answer == "yes" and not (ask.yes or dry_run):
            question = f"Write {draft.entry['id']} for version {terms.version}?"
            answer = answered("--yes", click.prompt, question, type=_WRITE, default="yes")
        if answer != "change":
            break
        ask = ask.again()
    if answer == "no":
        write("Nothing was written.")
    elif dry_run:
        write(f"{draft.entry['id']} could be written for version {terms.version}.")
    else:
        write_changed(write_edits(edits))
        write("Next: holisticbias preview, then commit and open a pull request (CONTRIBUTING.md).")


def show_and_write(terms: OpenTerms, edits: Sequence[Edit], *, published: bool, yes: bool, dry_run: bool) -> bool:
    """Show the sentences that edits change, ask unless ``yes``, and write the files; returns whether they were written.

    ``published`` says whether a published version has the entry that is edited.

    Raises ``SourceError``, and writes nothing, if the edits break a rule.
    """
    edits = terms.whole(edits)
    after, warnings = check_edits(terms.root, edits)
    before = terms.version if terms.version in terms.catalog.versions else terms.catalog.versions[-1]
    old, new = Revision(before, terms.catalog, before), Revision(terms.version, after, terms.version)
    changes = compare(old, new, _SAMPLES)
    _print_warnings(warnings)
    for sample in changes.samples:
        print_lines("", sample.lines)
    count = changes.sentences
    write(f"\n{counted(count.added, 'sentences')} added, {count.changed:,} changed, {count.gone:,} gone.")
    if published and changes.bump == "major":
        write("Published sentences that change or go make the next version a major version.")
    if dry_run:
        write("Nothing was written: this was a dry run.")
        return False
    if not yes and not answered("--yes", click.confirm, "Write it?", default=True):
        write("Nothing was written.")
        return False
    write_changed(write_edits(edits))
    return True


def ask_judgement(
    catalog: Catalog, entry_id: str, given: Mapping[str, str | None], today: str
) -> Mapping[str, Assessment]:
    """The judgement of one entry; asks for what is missing. Its values are checked with the file that it goes into."""
    if entry_id not in {entry.id for entry in catalog.judged}:
        raise SourceError(unknown_id(entry_id, catalog.judged, JUDGED))
    ask = Questions(given, yes=False)
    asked = {
        "judgement": ask.choice("judgement", "Judgement", list(get_args(Judgement))),
        "reviewer": ask.text("reviewer", "Reviewer"),
    }
    usual: dict[str, Any] = {"locale": "en-US", "date": today}
    chosen = {key: value for key, value in given.items() if value is not None}
    return {entry_id: Assessment.model_construct(**{**usual, **chosen, **asked})}


def _print_warnings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        write(f"  Warning: {in_words(finding)}.", err=True)
