"""The questions of ``holisticbias add`` about a term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands.questions import Questions, ask_source, print_lines
from holisticbias.commands.texts import QUESTION, ask_text, check_criteria, check_existing, refuse, warn_of_spelling

if TYPE_CHECKING:
    from holisticbias.contribute.authoring import Draft, Field
    from holisticbias.contribute.proposals import Existing
    from holisticbias.terms.catalog import Catalog
    from holisticbias.terms.entries import Position
    from holisticbias.terms.file_kinds import DescriptorFile

_WHERE: Mapping[Position, str] = {
    "before": "before the noun (a Deaf person)",
    "after": "after the noun (a person with a stoma)",
    "standalone": "on its own (an amputee)",
}
_SHOWN = 12  # buckets in a question; of more, the likely ones are shown and others are searched


def term_draft(root: Path, catalog: Catalog, ask: Questions, version: str) -> Draft:
    """Ask for a term; raises ``click`` errors and ``SourceError`` for options that cannot be used."""
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import propose_id

    text, article = ask_text(ask, QUESTION["term"])
    same = check_existing(root, catalog, ask, text)
    check_criteria(catalog, ask, text)
    warn_of_spelling(catalog, text)
    axis, position = _ask_place(catalog, ask, text, article, same)
    file = next(a for a in catalog.axes if a.axis == axis)
    bucket = _ask_bucket(ask, file, text, position) if file.buckets else None
    entry: dict[str, Field] = {"id": f"{axis}.x", "text": text, "bucket": bucket, "position": position}
    entry |= {"sources": ["contributors"], "since": version}
    if not ask.yes:
        _show(catalog, entry | {"plural": _plural(text, position)}, sentences=False)
    grammar = _grammar(ask, text, position, article)
    _show(catalog, entry | grammar)
    proposed = propose_id(axis, text, position, grammar.get("article"))  # type: ignore[arg-type]
    entry = {"id": ask.text("entry-id", "Its id", proposed), "text": text, "bucket": bucket, **grammar}
    return Draft("descriptors", axis, entry | {"sources": [ask_source(catalog, ask)], "since": version})


def _ask_place(
    catalog: Catalog, ask: Questions, text: str, article: str | None, same: Sequence[Existing]
) -> tuple[str, Position]:
    """Ask for the axis and the position, until no entry in ``same`` has both."""
    from holisticbias.contribute.proposals import axes_for_proposals

    while True:
        axis = ask.choice("axis", "Which axis?", list(axes_for_proposals(catalog)))
        position = _ask_position(ask, text, article)
        taken = [e for e in same if e.group == axis and getattr(e.entry, "position", None) == position]
        if ask.yes or (ask.given.get("axis") and ask.given.get("position")):
            refuse(taken, text)
        if all(existing.entry.until for existing in taken):
            for existing in same if ask.yes else ():
                print_lines(f"{text!r} is in the data too, as {existing}.", err=True)
            return axis, position
        print_lines(f"{taken[0].entry.id} has this axis and position: choose others, or stop with Ctrl-C.", err=True)
        ask.forget("axis")


def _ask_position(ask: Questions, text: str, article: str | None) -> Position:
    from holisticbias.contribute.proposals import propose_position
    from holisticbias.rules.language import wrong_position

    proposal = "standalone" if article else propose_position(text)
    if not ask.yes and not ask.given.get("position"):
        print_lines("Where does it go?", (f"{name}: {where}" for name, where in _WHERE.items()))
    while True:
        position: Position = ask.choice("position", "Position", list(_WHERE), proposal)  # type: ignore[assignment]
        wrong = wrong_position(text, position)
        if article and position != "standalone":
            wrong = f"'{article} {text}' is a standalone phrase: choose standalone, or leave out the article"
        if wrong is None:
            return position
        if ask.yes or ask.given.get("position"):
            raise click.BadParameter(f"{wrong}.", param_hint="--position")
        print_lines(f"{wrong}.", err=True)
        ask.forget("position")


def _ask_bucket(ask: Questions, axis: DescriptorFile, text: str, position: Position) -> str:
    """Ask for the bucket; without questions it has to be given, unless only one is possible."""
    from holisticbias.contribute.proposals import find_bucket, likely_buckets, only_bucket, possible_buckets

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
    from holisticbias.contribute.proposals import propose_article
    from holisticbias.rules.wording import article_by_sound
    from holisticbias.terms.grammar import article as by_sound

    keys: dict[str, Field] = {"position": None if position == "before" else position}
    if position != "after" and (article_by_sound(text) is None or ask.given.get("article")):
        proposal = article or propose_article(text)
        keys["article"] = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], proposal)
    elif position != "after" and article not in (None, by_sound(text, "sound", None)):
        keys["article"] = article
    if position != "before":
        plural = ask.text("plural", "The plural", _plural(text, position) or text)
        keys["plural"] = plural if plural != text or position == "standalone" else None
    if position != "standalone":
        genders = ["any", "female", "male", "neutral", "nonbinary"]
        gender = ask.choice("noun-gender", "Which nouns does it go with?", genders, "any")
        keys["noun_gender"] = None if gender == "any" else gender
    if position == "before" and not ask.confirm("without-noun", f'Is "I\'m {text}." natural English?', True):
        keys["without_noun"] = False
    return keys


def _plural(text: str, position: Position) -> str | None:
    from holisticbias.contribute.proposals import propose_plural

    return propose_plural(text, position)


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
