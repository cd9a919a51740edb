"""``holisticbias add``: a term, noun or template, asked for in plain words and written in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options

if TYPE_CHECKING:
    from holisticbias.authoring import Draft, Field
    from holisticbias.catalog import Catalog

_WHERE = {"before": "before the noun", "after": "after the noun", "standalone": "on its own"}


@dataclass(frozen=True, slots=True)
class _Questions:
    """Answers given as options; what is missing is asked for, or proposed where ``yes`` is set."""

    given: dict[str, str | bool | None]
    yes: bool
    answers: dict[str, str | bool] = field(default_factory=dict)

    def text(self, name: str, question: str, proposal: str | None = None) -> str:
        """The answer as text, empty where nothing was proposed and nothing said."""
        return str(self._answer(name, proposal, lambda: click.prompt(question, default=proposal or "")))

    def choice(self, name: str, question: str, among: list[str], proposal: str | None = None) -> str:
        """One of several answers."""
        kind = click.Choice(among)
        answer = self._answer(name, proposal, lambda: click.prompt(question, type=kind, default=proposal))
        if answer not in among:
            raise click.BadParameter(f"{answer!r} is none of {', '.join(among)}.", param_hint=f"--{name}")
        return str(answer)

    def confirm(self, name: str, question: str, proposal: bool) -> bool:
        """Yes or no."""
        return bool(self._answer(name, proposal, lambda: click.confirm(question, default=proposal)))

    def _answer(self, name: str, proposal: str | bool | None, ask: Callable[[], str | bool]) -> str | bool:
        given = self.given.get(name.replace("-", "_"))
        if given is not None:
            return given
        if not self.yes:
            return ask()
        if proposal is None:
            raise click.UsageError(f"--yes needs --{name}: there is nothing to propose.")
        return proposal


@click.command()
@click.option("--kind", type=click.Choice(["term", "noun", "template"]), default="term", show_default=True)
@click.option("--text", help="The term, noun or template, as in 'Deaf', 'with a stoma' or 'an amputee'.")
@click.option("--axis", help="Axis of the term; gender of the noun; family of the template.")
@click.option("--bucket", help="Group within the axis.")
@click.option("--position", type=click.Choice(["before", "after", "standalone"]))
@click.option("--article", type=click.Choice(["a", "an"]), help="Only where it is not the one that sounds right.")
@click.option("--plural", help="The plural, where it differs.")
@click.option("--noun-gender", type=click.Choice(["any", "female", "male", "neutral", "nonbinary"]))
@click.option("--without-noun/--with-noun", default=None, help="Whether it can stand alone, as in 'I'm Deaf.'")
@click.option("--entry-id", help="The id; by default made from the text.")
@click.option("--from", "origin", help="Id of a source in sources.yaml; by default 'contributors'.")
@click.option("--yes", is_flag=True, help="Ask nothing: take what is proposed.")
@click.option("--dry-run", is_flag=True, help="Check and show the entry, and write nothing.")
@options.source
def command(kind: str, source: Path | None, yes: bool, dry_run: bool, **given: str | bool | None) -> None:
    """Add an entry: answer a few questions, see how it reads, and find it written in its place.

    Every answer can be given as an option.
    """
    from holisticbias.authoring import add_entry, apply_edits, check_edits, next_version, prepare_version
    from holisticbias.source import find_source
    from holisticbias.validate import load_catalog

    root = source or find_source()
    catalog = load_catalog(root)
    version = next_version(catalog)
    questions = _Questions(given, yes)
    draft = {"term": _term, "noun": _noun, "template": _template}[kind](catalog, questions, version)
    if not yes and not click.confirm(f"Write {draft.entry['id']} for version {version}?", default=True):
        raise click.Abort
    today = datetime.now(UTC).date().isoformat()
    edits = [add_entry(root, draft), *prepare_version(catalog, root, version, today)]
    if dry_run:
        check_edits(root, edits)
        click.echo(f"{draft.entry['id']} could be written for version {version}.")
        return
    for path in apply_edits(root, edits):
        click.echo(f"wrote {path}")
    click.echo("Next: holisticbias preview, then commit and open a pull request (CONTRIBUTING.md).")


def _term(catalog: Catalog, ask: _Questions, version: str) -> Draft:
    from holisticbias.authoring import Draft
    from holisticbias.proposals import propose_id, propose_position

    text, article = _split_article(ask.text("text", "The term, as it stands in a sentence"))
    _warn_of_similar(catalog, text)
    axis = ask.choice("axis", "Which axis?", [a.axis for a in catalog.axes])
    buckets = list(next(a.buckets for a in catalog.axes if a.axis == axis))
    bucket = ask.choice("bucket", "Which bucket of it?", buckets, _usual_bucket(buckets, text)) if buckets else None
    proposal = "standalone" if article else propose_position(text)
    position = ask.choice("position", f"Where does it stand ({_list(_WHERE)})?", list(_WHERE), proposal)
    words = _words(ask, text, position, article)
    entry: dict[str, Field] = {
        "id": ask.text("entry-id", "Its id", propose_id(axis, text, position, words.get("article"))),  # type: ignore[arg-type]
        "text": text,
        "bucket": bucket,
        **words,
        "sources": [ask.text("origin", "Where does it come from (id of a source)?", "contributors")],
        "since": version,
    }
    _show(catalog, entry)
    return Draft("descriptors", axis, entry)


def _usual_bucket(buckets: list[str], text: str) -> str:
    """Terms after the noun have a bucket of their own in most axes; others go to the most general one there is."""
    from holisticbias.proposals import propose_position

    general = ("unspecific", "miscellaneous", "combined", "queer")
    wanted = ("after_the_noun",) if propose_position(text) == "after" else general
    return next((b for b in wanted if b in buckets), buckets[0])


def _words(ask: _Questions, text: str, position: str, article: str | None) -> dict[str, Field]:
    """What the grammar needs, asked for only where it cannot be told from the text."""
    from holisticbias.grammar import article as by_sound
    from holisticbias.grammar import is_abbreviation
    from holisticbias.proposals import propose_plural

    words: dict[str, Field] = {"position": None if position == "before" else position}
    sound = by_sound(text, "sound", None)
    if position != "after" and (is_abbreviation(text) or ask.given.get("article")):
        words["article"] = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], article or sound)
    elif article is not None and article != sound:
        words["article"] = article
    if position != "before":
        plural = ask.text("plural", "The plural", propose_plural(text, position) or text)  # type: ignore[arg-type]
        words["plural"] = plural if plural != text or position == "standalone" else None
    if position != "standalone":
        genders = ["any", "female", "male", "neutral", "nonbinary"]
        gender = ask.choice("noun-gender", "Which nouns does it go with?", genders, "any")
        words["noun_gender"] = None if gender == "any" else gender
    if position == "before" and not ask.confirm("without-noun", f'Is "I\'m {text}." good English?', True):
        words["without_noun"] = False
    return words


def _noun(catalog: Catalog, ask: _Questions, version: str) -> Draft:
    from holisticbias.authoring import Draft
    from holisticbias.proposals import plural_of, propose_id

    text, _ = _split_article(ask.text("text", "The noun, in the singular"))
    _warn_of_similar(catalog, text)
    gender = ask.choice("axis", "Which gender?", [g.gender for g in catalog.genders])
    plural = ask.text("plural", "The plural", plural_of(text))
    entry_id = ask.text("entry-id", "Its id", propose_id("noun", text))
    article = ask.given.get("article")
    origin = ask.text("origin", "Where does it come from (id of a source)?", "contributors")
    entry: dict[str, Field] = {
        "id": entry_id, "text": text, "plural": plural, "article": str(article) if article else None,
        "sources": [origin], "since": version,
    }  # fmt: skip
    return Draft("nouns", gender, entry)


def _template(catalog: Catalog, ask: _Questions, version: str) -> Draft:
    from holisticbias.authoring import Draft
    from holisticbias.proposals import propose_id

    text = ask.text("text", "The sentence, with {noun_phrase} or {plural_noun_phrase} in it")
    family = ask.choice("axis", "Which family?", [f.family for f in catalog.families])
    entry_id = ask.text("entry-id", "Its id", propose_id(family, text))
    bare = ask.confirm("without-noun", 'Can an adjective alone fill the slot, as in "I\'m Deaf."?', True)
    origin = ask.text("origin", "Where does it come from (id of a source)?", "contributors")
    entry: dict[str, Field] = {
        "id": entry_id, "text": text, "must_be_noun": None if bare else True, "sources": [origin], "since": version,
    }  # fmt: skip
    return Draft("templates", family, entry)


def _split_article(text: str) -> tuple[str, str | None]:
    first, _, rest = text.strip().partition(" ")
    return (rest.strip(), first.lower()) if first.lower() in ("a", "an") and rest else (text.strip(), None)


def _warn_of_similar(catalog: Catalog, text: str) -> None:
    from holisticbias.proposals import similar_terms

    similar = similar_terms(catalog, text)
    if similar:
        click.echo(f"  There is already: {', '.join(similar)}", err=True)


def _show(catalog: Catalog, entry: dict[str, Field]) -> None:
    """How the term reads: the phrases, and a few sentences of each form."""
    from pydantic import ValidationError

    from holisticbias.entries import Descriptor
    from holisticbias.markdown import plain
    from holisticbias.readings import forms_in_newest

    try:
        descriptor = Descriptor.model_validate({k: v for k, v in entry.items() if v is not None})
    except ValidationError:
        return  # what is wrong is said when the entry is checked
    for form in forms_in_newest(catalog, descriptor):
        click.echo(f"  {plain(f'{form.name}: {form.singular} / {form.plural}')}")
        click.echo("".join(f"    {plain(sentence)}\n" for sentence in form.sentences[::9]), nl=False)


def _list(names: dict[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in names.items())
