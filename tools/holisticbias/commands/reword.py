"""``holisticbias reword``: change the text or the grammar of an entry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write

if TYPE_CHECKING:
    from holisticbias.contribute.entry_text import Field
    from holisticbias.questions.questions import Questions
    from holisticbias.terms.entries import Entry, Position

_ASKED = {"text": "The text", "continuation": "The continuation", "subject": "The subject, or none"}


@click.command()
@click.argument("entry_id", metavar="ID")
@click.option("--text", help="The new text.")
@click.option("--plural", help="The new plural, or none.")
@click.option("--article", type=click.Choice(["a", "an", "none"]), help="The article, or none if it follows the sound.")
@options.entry_fields("position", "noun_gender", "without_noun", "continuation", "subject")
@click.option("--reason", help="Why a published entry changes.")
@options.meets_criteria
@options.yes
@options.dry_run
@options.version
@options.source
def command(
    entry_id: str,
    reason: str | None,
    meets_criteria: bool | None,
    yes: bool,
    dry_run: bool,
    version: str,
    source: Path | None,
    **given: str | bool | None,
) -> None:
    """Change the text or the grammar of an entry; without options, it asks.

    Published versions keep the earlier wording, which moves to the entry's
    history with the reason.
    """
    from holisticbias.contribute.authoring import open_terms
    from holisticbias.contribute.changing import find_entry, reword
    from holisticbias.questions.adding import show_and_write
    from holisticbias.questions.questions import Questions
    from holisticbias.questions.texts import check_criteria

    terms = open_terms(source, version)
    found = find_entry(terms.catalog, entry_id)
    ask = Questions({"reason": reason, "meets_criteria": meets_criteria, **given}, yes)
    changed: dict[str, Field] = {key: value for key, value in given.items() if value is not None}
    answers = changed or _ask_values(ask, found.entry)
    values = {key: None if value == "none" else value for key, value in answers.items()}
    text = values.get("text")
    if isinstance(text, str) and text != found.entry.text and found.file.kind in ("descriptors", "nouns"):
        check_criteria(terms.catalog, ask, text)
    why = ask.text("reason", "Why does it change?") if found.published else ""
    refuse_unused({"reason"} - ask.asked | ({"meets_criteria"} if text is None else set()), "on this change")
    edits = reword(terms, entry_id, values, why)
    if show_and_write(terms, edits, yes=yes, dry_run=dry_run):
        write(f"{entry_id} is reworded{f' from version {terms.version} on' if found.published else ''}.")


def _ask_values(ask: Questions, entry: Entry) -> dict[str, Field]:
    """Ask for the texts that the entry has, and for an article that the new text needs; options change the others."""
    from holisticbias.contribute.proposals import propose_plural
    from holisticbias.questions.texts import ask_article, ask_text

    if ask.yes:
        raise click.UsageError("name what changes: --text, --plural, --article or another option.")
    keys = type(entry).model_fields
    if "plural" not in keys:
        asked = {key: question for key, question in _ASKED.items() if key in keys}
        return {key: ask.text(key, question, getattr(entry, key) or "none") for key, question in asked.items()}
    text, written = ask_text(ask, "The text", entry.text)
    values: dict[str, Field] = {"text": text}
    position: Position = getattr(entry, "position", "standalone")
    plural = getattr(entry, "plural", None)
    if text != entry.text:
        plural = propose_plural(text, position)
        values["article"] = None if position == "after" else ask_article(ask, text, written)
    values["plural"] = ask.text("plural", "The plural, or none if it does not differ", plural or "none")
    return values
