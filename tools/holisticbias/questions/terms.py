"""The questions of ``holisticbias add`` about a term, a noun or a template."""

from collections.abc import Mapping, Sequence
from typing import get_args

import click

from holisticbias.contribute.authoring import Draft, OpenTerms
from holisticbias.contribute.entry_text import Field
from holisticbias.contribute.proposals import (
    POSITIONS,
    Existing,
    axes_for_proposals,
    find_bucket,
    likely_buckets,
    only_bucket,
    plural_of,
    possible_buckets,
    propose_id,
    propose_plural,
    propose_position,
    stated,
)
from holisticbias.contribute.readings import forms, template_examples
from holisticbias.questions import texts
from holisticbias.questions.questions import QUESTION, Questions, print_lines, tried
from holisticbias.rules.validate import term_fault
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, NounGender, Position
from holisticbias.terms.file_kinds import DescriptorFile, Kind
from holisticbias.terms.grammar import fill, with_article

_SHOWN = 12  # buckets in a question; of more, the likely ones are shown and others are searched


def ask_term(terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for a term; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    catalog = terms.catalog
    text, article = texts.ask_text(ask, QUESTION["term"])
    same = texts.check_existing(terms, ask, text)
    texts.check_criteria(catalog, ask, text)
    axis, position = _ask_place(catalog, ask, text, article, same)
    file = next(a for a in catalog.axes if a.axis == axis)
    bucket = _ask_bucket(ask, file, text, position) if file.buckets else None
    entry: dict[str, Field] = {"text": text, "bucket": bucket, "position": position}
    if not ask.yes:
        _show_term(terms, entry | {"plural": propose_plural(text, position)}, sentences=False)
    grammar = _grammar(ask, text, position, article)
    _show_term(terms, entry | grammar)
    given = grammar["article"]
    proposed = propose_id(axis, text, position, given if given in ("a", "an") else None)  # type: ignore[arg-type]
    return Draft("descriptors", axis, {"id": proposed, "text": text, "bucket": bucket, **grammar})


def _ask_place(
    catalog: Catalog, ask: Questions, text: str, article: str | None, same: Sequence[Existing]
) -> tuple[str, Position]:
    """Ask for the axis and the position, until no entry in ``same`` has both."""
    while True:
        axis = ask.choice("axis", "Which axis?", list(axes_for_proposals(catalog)))
        position = _ask_position(ask, text, article)
        taken = [e for e in same if e.group == axis and getattr(e.entry, "position", None) == position]
        if ask.yes or (ask.given.get("axis") and ask.given.get("position")):
            texts.refuse(taken, text)
        if all(existing.entry.until for existing in taken):
            return axis, position
        print_lines(f"{taken[0].entry.id} has this axis and position: choose others, or stop with Ctrl-C.", err=True)
        ask.forget("axis")


def _ask_position(ask: Questions, text: str, article: str | None) -> Position:
    proposal = "standalone" if article else propose_position(text)
    if not ask.yes and not ask.given.get("position"):
        print_lines("Where does it go?", (f"{name}: {where}" for name, where in POSITIONS.items()))
    while True:
        position: Position = ask.choice("position", "Position", list(POSITIONS), proposal)  # type: ignore[assignment]
        wrong = term_fault({"text": text, "position": position}, ("position", "position-after"))
        if article and position != "standalone":
            wrong = f"'{article} {text}' is a standalone phrase: choose standalone, or leave out the article"
        if wrong is None:
            return position
        ask.refuse("position", wrong)


def _ask_bucket(ask: Questions, axis: DescriptorFile, text: str, position: Position) -> str:
    """Ask for the bucket; without questions it has to be given, unless only one is possible."""
    only, likely = only_bucket(axis, position), likely_buckets(axis, text, position)
    buckets = possible_buckets(axis, position)
    many = len(buckets) > _SHOWN
    if ask.given.get("bucket") is None and only is None and ask.yes:
        near = f"likely: {', '.join(likely)}; " if likely else ""
        known = f"all {len(buckets)} are at the top of descriptors/{axis.axis}.yaml" if many else ", ".join(buckets)
        raise click.UsageError(f"--bucket is needed, the group of the term within the axis {axis.axis}; {near}{known}.")
    if ask.given.get("bucket") is None and not ask.yes:
        known = f"{len(buckets)}; type a name, or a part of one to search" if many else ", ".join(buckets)
        print_lines(f"Buckets of {axis.axis}: {known}")
        if many and likely:
            print_lines(f"Likely, by similar terms: {', '.join(likely)}")
    proposal = only or (likely[0] if likely else None)
    return ask.find("bucket", "Which bucket?", lambda name: find_bucket(axis.axis, buckets, name), proposal=proposal)


def _grammar(ask: Questions, text: str, position: Position, article: str | None) -> dict[str, Field]:
    """Grammar keys of a term; the user is asked only if a key cannot be derived from the text."""
    keys: dict[str, Field] = {"position": None if position == "before" else position}
    keys["article"] = None if position == "after" else texts.ask_article(ask, text, article)
    if position != "before":
        plural = ask.text("plural", "The plural", propose_plural(text, position) or text)
        keys["plural"] = stated("plural", plural, text, position)
    if position != "standalone":
        genders = list(get_args(NounGender))
        gender = ask.choice("noun_gender", "Which nouns does it go with?", genders, "any")
        keys["noun_gender"] = None if gender == "any" else gender
    if position == "before" and not ask.confirm("without_noun", f'Is "I\'m {text}." natural English?', True):
        keys["without_noun"] = False
    return keys


def _show_term(terms: OpenTerms, entry: Mapping[str, Field], *, sentences: bool = True) -> None:
    """Print the phrases of the term, and a few sentences of each form."""
    descriptor, newest = tried(Descriptor, entry), terms.catalog.versions[-1]
    rule = terms.catalog.release(newest).article_rule
    for form in forms(terms.catalog.at(newest), descriptor, rule) if descriptor else ():
        print_lines(f"{form.name}: {form.singular} / {form.plural}", form.sentences[::9] if sentences else ())


def ask_noun(terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for a noun; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    catalog = terms.catalog
    text, written = texts.ask_text(ask, QUESTION["noun"])
    _refuse_same(terms, ask, "nouns", text)
    texts.check_criteria(catalog, ask, text)
    gender = ask.choice("axis", "Which gender?", [g.gender for g in catalog.genders])
    plural = ask.text("plural", "The plural", plural_of(text))
    article = texts.ask_article(ask, text, written)
    singular = with_article(text, "sound", article)  # type: ignore[arg-type]
    templates = catalog.at(catalog.versions[-1]).templates
    print_lines(f"{singular} / {plural}", [fill(t.text, singular, plural) for t in templates[::9]])
    keys = {"id": propose_id("noun", text), "text": text, "plural": plural, "article": article}
    return Draft("nouns", gender, keys)


def ask_template(terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for a template; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    text = ask.text("text", QUESTION["template"]).strip()
    _refuse_same(terms, ask, "templates", text)
    families = [f.family for f in terms.catalog.families]
    family = ask.choice("axis", "Which family?", families, families[0] if len(families) == 1 else None)
    bare = ask.confirm("without_noun", 'Can an adjective alone fill the slot, as in "I\'m Deaf."?', True)
    print_lines("it reads:", template_examples(text, bare=bare))
    keys = {"id": propose_id(family, text), "text": text, "must_be_noun": None if bare else True}
    return Draft("templates", family, keys)


def _refuse_same(terms: OpenTerms, ask: Questions, kind: Kind, text: str) -> None:
    """Without questions, raise ``SourceError`` for an entry of the same kind; with questions, the user knows of it."""
    found = texts.check_existing(terms, ask, text)
    if ask.yes:
        texts.refuse([existing for existing in found if existing.kind == kind], text)
