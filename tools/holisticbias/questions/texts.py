"""The text of a new term or noun: asked again until it can be used, and compared with what is in the data."""

import re
from collections.abc import Iterable
from typing import NoReturn

import click

from holisticbias.contribute.authoring import OpenTerms
from holisticbias.contribute.proposals import (
    CRITERIA,
    Existing,
    instead,
    objections,
    propose_article,
    propose_plural,
    same_entries,
    same_phrase,
    similar_terms,
    stated,
)
from holisticbias.errors import SourceError
from holisticbias.questions.questions import Questions, answered, print_lines
from holisticbias.rules.validate import term_fault
from holisticbias.rules.wording import article_by_sound, corrected
from holisticbias.terminal import write
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry, Position
from holisticbias.terms.grammar import as_written

_VALUES = {"text": "The text", "continuation": "The continuation", "subject": "The subject, or none"}
_OF_A_TEXT = (
    "clean-text", "latin-letters", "sentence-mark", "clause", "capital", "article-written", "article-sound",
)  # fmt: skip


def ask_text(ask: Questions, question: str, proposal: str | None = None) -> tuple[str, str | None]:
    """Ask for a text until it follows the rules on wording; returns it without its article, and the article."""

    def check(answer: str) -> tuple[str, str | None]:
        text, article = split_article(as_written(answer))
        wrong = _wrong_text(text, article)
        if wrong:
            raise SourceError(wrong)
        return text, article

    def near(answer: str) -> str | None:
        written = as_written(answer)
        better = corrected(written)
        text, article = split_article(better)
        better = f"{article_by_sound(text) or article} {text}" if article else better
        return better if better != written and not _wrong_text(*split_article(better)) else None

    return ask.find("text", question, check, near, proposal)


def split_article(text: str) -> tuple[str, str | None]:
    """A text without the article "a" or "an" at its start, and the article."""
    first, _, rest = text.partition(" ")
    return (rest, first.lower()) if first.lower() in ("a", "an") and rest else (text, None)


def _wrong_text(text: str, article: str | None) -> str | None:
    """The first fault of a text with its article, in words without a full stop, or None."""
    return term_fault({"text": text, "article": article}, _OF_A_TEXT)


def ask_article(ask: Questions, text: str, written: str | None) -> str | None:
    """The article of a text, or None if it follows from the sound; asks if the letters do not show it."""
    if article_by_sound(text) is None or ask.given.get("article"):
        written = ask.choice("article", f"'a {text}' or 'an {text}'?", ["a", "an"], written or propose_article(text))
    return stated("article", written, text)


def check_existing(terms: OpenTerms, ask: Questions, text: str) -> tuple[Existing, ...]:
    """Show the entries that are the same as a text, and ask whether to go on; similar entries are only named.

    Returns the entries that are the same. Without questions, a phrase that the data makes raises ``SourceError``.
    """
    found = same_entries(terms.root, terms.catalog, text)
    phrase = same_phrase(terms.catalog, text)
    if phrase and ask.yes:
        raise SourceError(f"nothing was written: {text!r} is in the data already, as {phrase}")
    if phrase:
        print_lines(f"{text!r} is in the data already, as {phrase}.", err=True)
    for existing in () if ask.yes else found:
        print_lines(f"{text!r} is in the data already, as {existing}.", instead(existing), err=True)
    if (found or phrase) and not ask.yes:
        question = "Add it again, on another axis or in another form?"
        if not answered("--yes", click.confirm, question):
            _add_nothing()
    same = {existing.entry.id for existing in found}
    similar = [entry_id for entry_id in similar_terms(terms.catalog, text) if entry_id not in same]
    if similar:
        print_lines(f"Similar, but not the same: {', '.join(similar)}", err=True)
    return found


def refuse(found: Iterable[Existing], text: str) -> None:
    """Raise ``SourceError`` for the first entry that is the same as a text and not retired, with what to do instead."""
    for existing in (e for e in found if e.entry.until is None):
        todo = "; ".join(re.sub(r": +", ": ", line) for line in instead(existing))
        raise SourceError(f"nothing was written: {text!r} is in the data already, as {existing}; {todo}")


def check_criteria(catalog: Catalog, ask: Questions, text: str) -> None:
    """Show the criteria if something is on record against a word of the text, and ask whether the term meets them."""
    against = objections(catalog, text)
    if not against:
        return
    for line in against:
        print_lines(f"{line}.", err=True)
    print_lines("A term is accepted if all of these hold:", (f"- {line}" for line in CRITERIA), err=True)
    if ask.yes and not ask.given.get("meets_criteria"):
        raise SourceError(
            f"nothing was written: {against[0]}; if the term meets the criteria, say so with --meets-criteria"
        )
    if not ask.confirm("meets_criteria", "Does it meet the criteria?", False):
        _add_nothing()


def _add_nothing() -> NoReturn:
    """End the command, because the user decided against a new entry."""
    write("Nothing was written.")
    raise click.exceptions.Exit(0)


def ask_values(ask: Questions, entry: Entry) -> dict[str, str | None]:
    """Ask for the texts that the entry has, and for an article that the new text needs; options change the others."""
    if ask.yes:
        raise click.UsageError("name what changes: --text, --plural, --article or another option.")
    keys = type(entry).model_fields
    if "plural" not in keys:
        asked = {key: question for key, question in _VALUES.items() if key in keys}
        return {key: ask.text(key, question, getattr(entry, key) or "none") for key, question in asked.items()}
    text, written = ask_text(ask, "The text", entry.text)
    values: dict[str, str | None] = {"text": text}
    position: Position = getattr(entry, "position", "standalone")
    plural = getattr(entry, "plural", None)
    if text != entry.text:
        plural = propose_plural(text, position)
        values["article"] = None if position == "after" else ask_article(ask, text, written)
    values["plural"] = ask.text("plural", "The plural, or none if it does not differ", plural or "none")
    return values
