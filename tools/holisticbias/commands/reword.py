"""``holisticbias reword``: change the text or the grammar of an entry."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write


@click.command()
@click.argument("entry_id", metavar="ID")
@click.option("--text", help="The new text.")
@click.option("--plural", help="The new plural, or none.")
@click.option("--article", type=click.Choice(["a", "an", "none"]), help="The article, or none if it follows the sound.")
@options.entry_fields("position", "noun_gender", "without_noun", "continuation", "subject")
@click.option("--reason", help="Why a published entry changes.")
@options.meets_criteria
@options.change
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
    from holisticbias.questions.texts import ask_values, check_criteria

    terms = open_terms(source, version)
    found = find_entry(terms.catalog, entry_id)
    ask = Questions({"reason": reason, "meets_criteria": meets_criteria, **given}, yes)
    changed = {key: value for key, value in given.items() if value is not None}
    answers = changed or ask_values(ask, found.entry)
    values = {key: None if value == "none" else value for key, value in answers.items()}
    text = values.get("text")
    if isinstance(text, str) and text != found.entry.text and found.file.kind in ("descriptors", "nouns"):
        check_criteria(terms.catalog, ask, text)
    why = ask.text("reason", "Why does it change?") if found.published else ""
    refuse_unused({"reason"} - ask.asked | ({"meets_criteria"} if text is None else set()), "on this change")
    edits = reword(terms, entry_id, values, why)
    if show_and_write(terms, edits, published=found.published, yes=yes, dry_run=dry_run):
        write(f"{entry_id} is reworded{f' from version {terms.version} on' if found.published else ''}.")
