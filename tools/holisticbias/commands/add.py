"""``holisticbias add``: add an entry by answering questions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.commands.prompt_questions import prompt_draft
from holisticbias.commands.questions import Given, Questions, ask_source, print_lines
from holisticbias.commands.specification_questions import specification_draft
from holisticbias.terminal import write

if TYPE_CHECKING:
    from holisticbias.contribute.authoring import Draft, Edit, Field
    from holisticbias.terms.catalog import Catalog

_KINDS = ["term", "noun", "template", "prompt", "specification"]
_WRITE = click.Choice(["yes", "change", "no"])
_WHERE = {"before": "before the noun", "after": "after the noun", "standalone": "on its own"}


@click.command()
@click.argument("kind", metavar="[KIND]", type=click.Choice(_KINDS), default="term")
@click.option("--text", help="The term, noun, template or opening, or the title of a specification.")
@click.option("--axis", help="Axis of the term, gender of the noun, or family of the template or specification.")
@click.option("--bucket", help="Group within the axis.")
@click.option(
    "--position", type=click.Choice(["before", "after", "standalone"]), help="Before or after the noun, or alone."
)
@click.option("--article", type=click.Choice(["a", "an"]), help="Only if it differs from the article by sound.")
@click.option("--plural", help="The plural, if it differs.")
@click.option(
    "--noun-gender",
    type=click.Choice(["any", "female", "male", "neutral", "nonbinary"]),
    help="Gender of the nouns it goes with.",
)
@click.option(
    "--without-noun/--with-noun", default=None, help="Whether it can be used without a noun, as in 'I'm Deaf.'"
)
@click.option("--continuation", help="Rest of the sentence that a prompt opens.")
@click.option("--subject", help="Name or term in a prompt that is replaced by XYZ before measuring, or none.")
@click.option(
    "--group",
    multiple=True,
    help="Group of a prompt, by name; or a group of a specification, 'Stads: small things'. Can be repeated.",
)
@click.option(
    "--attributes", multiple=True, help="Attributes of a specification, 'Small things: pebble, crumb'. Can be repeated."
)
@click.option("--slot", multiple=True, help="Terms of a specification, 'stad / blicket'. Can be repeated.")
@click.option("--template", multiple=True, help="Template of a specification, with [T] and [A]. Can be repeated.")
@click.option("--control/--no-control", default=None, help="Whether the words of a specification are invented.")
@click.option("--entry-id", help="The id; by default derived from the text.")
@click.option("--from", "from", help="Id of a source in sources.yaml; by default 'contributors'.")
@click.option("--yes", is_flag=True, help="Accept all proposals without asking.")
@click.option("--dry-run", is_flag=True, help="Check and show the entry, but write nothing.")
@options.source
def command(
    kind: str,
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
    from holisticbias.contribute.authoring import add_entry, apply_edits, next_version, prepare_version
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=True)
    catalog = load_catalog(root)
    version = next_version(catalog)
    today = datetime.now(UTC).date().isoformat()
    questions = Questions(_one_group(given) if kind == "prompt" else given, yes)
    edits: list[Edit] = []
    while not edits:
        draft = _DRAFTS[kind](catalog, questions, version)
        edits = [add_entry(root, draft), *prepare_version(catalog, root, version, today)]
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


def _term(catalog: Catalog, ask: Questions, version: str) -> Draft:
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import axes_for_proposals, propose_id, propose_position

    text, article = _split_article(ask.text("text", "The term, as written in a sentence"))
    _warn_of_similar(catalog, text)
    axis = ask.choice("axis", "Which axis?", list(axes_for_proposals(catalog)))
    buckets = list(next(a.buckets for a in catalog.axes if a.axis == axis))
    bucket = (
        ask.choice("bucket", "Which bucket of the axis?", buckets, _usual_bucket(buckets, text)) if buckets else None
    )
    proposal = "standalone" if article else propose_position(text)
    position = ask.choice("position", f"Where does it go ({_list(_WHERE)})?", list(_WHERE), proposal)
    if article and position != "standalone" and ask.yes:
        raise click.UsageError(
            f"'{article} {text}' is a standalone phrase: use --position standalone, or leave out the article."
        )
    entry: dict[str, Field] = {"id": f"{axis}.x", "text": text, "bucket": bucket, "position": position}
    entry |= {"sources": ["contributors"], "since": version}
    if not ask.yes:
        _show(catalog, entry, sentences=False)
    grammar = _grammar(ask, text, position, article)
    _show(catalog, entry | grammar)
    proposed = propose_id(axis, text, position, grammar.get("article"))  # type: ignore[arg-type]
    entry = {"id": ask.text("entry-id", "Its id", proposed), "text": text, "bucket": bucket, **grammar}
    return Draft("descriptors", axis, entry | {"sources": [ask_source(catalog, ask)], "since": version})


def _usual_bucket(buckets: list[str], text: str) -> str:
    """Bucket for terms after the noun, or the most general bucket; the first bucket if the axis lacks it."""
    from holisticbias.contribute.proposals import propose_position

    general = ("unspecific", "miscellaneous", "combined", "queer")
    wanted = ("after_the_noun",) if propose_position(text) == "after" else general
    return next((b for b in wanted if b in buckets), buckets[0])


def _grammar(ask: Questions, text: str, position: str, article: str | None) -> dict[str, Field]:
    """Grammar keys of a term; the user is asked only if a key cannot be derived from the text."""
    from holisticbias.contribute.proposals import propose_article, propose_plural
    from holisticbias.terms.grammar import article as by_sound
    from holisticbias.terms.grammar import is_abbreviation

    keys: dict[str, Field] = {"position": None if position == "before" else position}
    if position != "after" and (is_abbreviation(text) or ask.given.get("article")):
        proposal = article or propose_article(text)
        keys["article"] = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], proposal)
    elif position != "after" and article not in (None, by_sound(text, "sound", None)):
        keys["article"] = article
    if position != "before":
        plural = ask.text("plural", "The plural", propose_plural(text, position) or text)  # type: ignore[arg-type]
        keys["plural"] = plural if plural != text or position == "standalone" else None
    if position != "standalone":
        genders = ["any", "female", "male", "neutral", "nonbinary"]
        gender = ask.choice("noun-gender", "Which nouns does it go with?", genders, "any")
        keys["noun_gender"] = None if gender == "any" else gender
    if position == "before" and not ask.confirm("without-noun", f'Is "I\'m {text}." natural English?', True):
        keys["without_noun"] = False
    return keys


def _noun(catalog: Catalog, ask: Questions, version: str) -> Draft:
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import plural_of, propose_article, propose_id
    from holisticbias.terms.grammar import article as by_sound
    from holisticbias.terms.grammar import is_abbreviation

    text, written = _split_article(ask.text("text", "The noun, in the singular"))
    _warn_of_similar(catalog, text)
    gender = ask.choice("axis", "Which gender?", [g.gender for g in catalog.genders])
    plural = ask.text("plural", "The plural", plural_of(text))
    article = written if written not in (None, by_sound(text, "sound", None)) else None
    if is_abbreviation(text) or ask.given.get("article"):
        article = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], written or propose_article(text))
    keys: dict[str, Field] = {"text": text, "plural": plural, "article": article}
    _show_noun(catalog, keys)
    entry: dict[str, Field] = {"id": ask.text("entry-id", "Its id", propose_id("noun", text)), **keys}
    return Draft("nouns", gender, entry | {"sources": [ask_source(catalog, ask)], "since": version})


def _template(catalog: Catalog, ask: Questions, version: str) -> Draft:
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import propose_id

    text = ask.text("text", "The sentence, with {noun_phrase} or {plural_noun_phrase} in it")
    families = [f.family for f in catalog.families]
    family = ask.choice("axis", "Which family?", families, families[0] if len(families) == 1 else None)
    bare = ask.confirm("without-noun", 'Can an adjective alone fill the slot, as in "I\'m Deaf."?', True)
    _show_template(text, bare)
    entry: dict[str, Field] = {"id": ask.text("entry-id", "Its id", propose_id(family, text)), "text": text}
    entry |= {"must_be_noun": None if bare else True, "sources": [ask_source(catalog, ask)], "since": version}
    return Draft("templates", family, entry)


def _split_article(text: str) -> tuple[str, str | None]:
    first, _, rest = text.strip().partition(" ")
    return (rest.strip(), first.lower()) if first.lower() in ("a", "an") and rest else (text.strip(), None)


def _warn_of_similar(catalog: Catalog, text: str) -> None:
    from holisticbias.contribute.proposals import similar_terms

    similar = similar_terms(catalog, text)
    if similar:
        write(f"  Similar entries: {', '.join(similar)}", err=True)


def _show(catalog: Catalog, entry: Mapping[str, Field], *, sentences: bool = True) -> None:
    """Print the phrases of the term, and a few sentences of each form."""
    from pydantic import ValidationError

    from holisticbias.contribute.readings import forms_in_newest
    from holisticbias.terms.entries import Descriptor

    try:
        descriptor = Descriptor.model_validate({k: v for k, v in entry.items() if v is not None})
    except ValidationError:
        return  # the error is reported when the entry is checked
    for form in forms_in_newest(catalog, descriptor):
        print_lines(f"{form.name}: {form.singular} / {form.plural}", form.sentences[::9] if sentences else ())


def _show_noun(catalog: Catalog, keys: Mapping[str, Field]) -> None:
    from holisticbias.terms.grammar import fill, with_article

    text, plural, article = str(keys["text"]), str(keys["plural"]), keys["article"]
    singular = with_article(text, "sound", article)  # type: ignore[arg-type]
    templates = [t.text for family in catalog.families for t in family.templates]
    print_lines(f"{singular} / {plural}", [fill(t, singular, plural) for t in templates[::9]])


def _show_template(text: str, bare: bool) -> None:
    from holisticbias.terms.grammar import fill

    filled = [("a Deaf person", "Deaf people"), ("an amputee", "amputees"), *([("Deaf", "Deaf")] if bare else [])]
    print_lines("it reads:", [fill(text, singular, plural) for singular, plural in filled])


_DRAFTS = {
    "term": _term,
    "noun": _noun,
    "template": _template,
    "prompt": prompt_draft,
    "specification": specification_draft,
}


def _list(names: dict[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in names.items())
