"""``holisticbias add``: add an entry by answering questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.commands.prompt_questions import prompt_draft
from holisticbias.commands.questions import Given, Questions, ask_source, print_lines
from holisticbias.commands.specification_questions import specification_draft
from holisticbias.commands.term_questions import term_draft
from holisticbias.commands.texts import QUESTION, ask_text, check_criteria, check_existing, refuse, warn_of_spelling
from holisticbias.contribute.fields import FIELDS
from holisticbias.terminal import write

if TYPE_CHECKING:
    from holisticbias.contribute.authoring import Draft, Edit, Field
    from holisticbias.contribute.proposals import Existing
    from holisticbias.terms.catalog import Catalog
    from holisticbias.terms.file_kinds import Kind

_KINDS = ["term", "noun", "template", "prompt", "specification"]
_WRITE = click.Choice(["yes", "change", "no"])


@click.command()
@click.argument("kind", metavar="[KIND]", type=click.Choice(_KINDS), default="term")
@options.entry_fields(*FIELDS)
@options.meets_criteria
@click.option("--yes", is_flag=True, help="Ask nothing, and accept all proposals.")
@click.option("--dry-run", is_flag=True, help="Check and show the entry, but write nothing.")
@options.version
@options.source
def command(
    kind: str,
    version: str,
    source: Path | None,
    yes: bool,
    dry_run: bool,
    **given: str | bool | tuple[str, ...] | None,
) -> None:
    """Add an entry by answering a few questions.

    KIND is term (default), noun, template, prompt or specification.

    Shows how the entry reads in sentences, and writes it to the right file.

    Every answer can be given as an option.
    """
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=True)
    questions = Questions(_one_group(given) if kind == "prompt" else given, yes)
    if kind in QUESTION:
        questions.text_early("text", QUESTION[kind])  # reading the data takes longer than printing a question
    from holisticbias.contribute.authoring import add_entry, apply_edits, next_version, prepare_version
    from holisticbias.rules.validate import load_catalog

    catalog = load_catalog(root)
    version = next_version(catalog, version)
    edits: list[Edit] = []
    while not edits:
        draft = draft_of(kind, root, catalog, questions, version)
        edits = [add_entry(root, draft), *prepare_version(catalog, root, version)]
        answer = _checked(root, edits, ask=not yes)
        if answer == "yes" and not (yes or dry_run):
            answer = click.prompt(f"Write {draft.entry['id']} for version {version}?", type=_WRITE, default="yes")
        if answer == "no":
            write("Nothing was written.")
            return
        if answer == "change":
            edits, questions = [], questions.again()
    if dry_run:
        write(f"{draft.entry['id']} could be written for version {version}.")
        return
    for path in apply_edits(root, edits):
        write(f"wrote {path}")
    write("Next: holisticbias preview, then commit and open a pull request (CONTRIBUTING.md).")


def draft_of(kind: str, root: Path, catalog: Catalog, ask: Questions, version: str) -> Draft:
    """Ask for an entry of a kind; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    if kind == "prompt":
        return prompt_draft(catalog, ask, version)
    if kind == "specification":
        return specification_draft(catalog, ask, version)
    return {"term": term_draft, "noun": _noun, "template": _template}[kind](root, catalog, ask, version)


def _checked(root: Path, edits: list[Edit], *, ask: bool) -> str:
    """Whether the edits follow the rules: ``yes``, or ``change`` to ask again; without ``ask`` an error is raised."""
    from holisticbias.contribute.authoring import check_edits
    from holisticbias.errors import SourceError

    try:
        check_edits(root, edits)
    except SourceError as error:
        if not ask:
            raise
        write(f"\n{error}\nTry again; your answers are now the defaults:\n", err=True)
        return "change"
    return "yes"


def _one_group(given: Mapping[str, Given]) -> Mapping[str, Given]:
    """The options of a prompt, with its only group as a text."""
    groups = given.get("group") or ()
    if isinstance(groups, tuple) and len(groups) > 1:
        raise click.UsageError("A prompt has one group: name --group once.")
    return {**given, "group": groups[0] if isinstance(groups, tuple) and groups else None}


def _noun(root: Path, catalog: Catalog, ask: Questions, version: str) -> Draft:
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import plural_of, propose_article, propose_id
    from holisticbias.rules.wording import article_by_sound
    from holisticbias.terms.grammar import article as by_sound

    text, written = ask_text(ask, QUESTION["noun"])
    _refuse_same(ask, "nouns", check_existing(root, catalog, ask, text), text)
    check_criteria(catalog, ask, text)
    warn_of_spelling(catalog, text)
    gender = ask.choice("axis", "Which gender?", [g.gender for g in catalog.genders])
    plural = ask.text("plural", "The plural", plural_of(text))
    article = written if written not in (None, by_sound(text, "sound", None)) else None
    if article_by_sound(text) is None or ask.given.get("article"):
        article = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], written or propose_article(text))
    keys: dict[str, Field] = {"text": text, "plural": plural, "article": article}
    _show_noun(catalog, keys)
    entry: dict[str, Field] = {"id": ask.text("entry-id", "Its id", propose_id("noun", text)), **keys}
    return Draft("nouns", gender, entry | {"sources": [ask_source(catalog, ask)], "since": version})


def _refuse_same(ask: Questions, kind: Kind, found: Iterable[Existing], text: str) -> None:
    """Without questions, raise ``SourceError`` for an entry of the same kind; with questions, the user knows of it."""
    if ask.yes:
        refuse([existing for existing in found if existing.kind == kind], text)


def _template(root: Path, catalog: Catalog, ask: Questions, version: str) -> Draft:
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import propose_id

    text = ask.text("text", QUESTION["template"]).strip()
    _refuse_same(ask, "templates", check_existing(root, catalog, ask, text), text)
    families = [f.family for f in catalog.families]
    family = ask.choice("axis", "Which family?", families, families[0] if len(families) == 1 else None)
    bare = ask.confirm("without-noun", 'Can an adjective alone fill the slot, as in "I\'m Deaf."?', True)
    _show_template(text, bare)
    entry: dict[str, Field] = {"id": ask.text("entry-id", "Its id", propose_id(family, text)), "text": text}
    entry |= {"must_be_noun": None if bare else True, "sources": [ask_source(catalog, ask)], "since": version}
    return Draft("templates", family, entry)


def _show_noun(catalog: Catalog, keys: Mapping[str, Field]) -> None:
    from holisticbias.terms.grammar import fill, with_article

    text, plural, article = str(keys["text"]), str(keys["plural"]), keys["article"]
    singular = with_article(text, "sound", article)  # type: ignore[arg-type]
    templates = [t.text for t in catalog.templates]
    print_lines(f"{singular} / {plural}", [fill(t, singular, plural) for t in templates[::9]])


def _show_template(text: str, bare: bool) -> None:
    from holisticbias.terms.grammar import fill

    filled = [("a Deaf person", "Deaf people"), ("an amputee", "amputees"), *([("Deaf", "Deaf")] if bare else [])]
    print_lines("it reads:", [fill(text, singular, plural) for singular, plural in filled])
