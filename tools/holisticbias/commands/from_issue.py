"""``holisticbias from-issue``: add the entry that a filled issue form proposes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from holisticbias.commands import options


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--text", help="The text, in place of the form's.")
@click.option("--axis", help="The axis, gender or family, in place of the form's.")
@click.option("--bucket", help="Group within the axis, if the form does not name it.")
@click.option(
    "--position", type=click.Choice(["before", "after", "standalone"]), help="The position, in place of the form's."
)
@click.option("--plural", help="The plural, in place of the form's.")
@click.option(
    "--article", type=click.Choice(["a", "an"]), help="Article, if the letters do not show how the text is heard."
)
@click.option(
    "--meets-criteria", is_flag=True, default=None, help="The term meets the criteria, despite objections on record."
)
@click.option("--dry-run", is_flag=True, help="Check and show the entry, but write nothing.")
@options.source
@click.pass_context
def command(
    context: click.Context, /, file: Path, dry_run: bool, source: Path | None, **more: str | bool | None
) -> int:
    """Add the entry that a filled issue form proposes.

    FILE contains the text of the issue; - reads it from standard input.

    Options add answers that the form does not have, or replace its answers.
    """
    from holisticbias.commands.add import command as add
    from holisticbias.contribute.issue_answers import read_issue

    given = issue_options(read_issue(_read(file))) | {name: value for name, value in more.items() if value is not None}
    result = context.invoke(add, **given, version="next", yes=True, dry_run=dry_run, source=source)
    return result if isinstance(result, int) else 0


def _read(file: Path) -> str:
    from holisticbias.contribute.issue_answers import MAX_ISSUE
    from holisticbias.errors import SourceError

    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            return str(stream.read(MAX_ISSUE + 1))
    except UnicodeDecodeError as error:
        raise SourceError(f"{file} is not UTF-8") from error


def issue_options(answers: Mapping[str, str]) -> dict[str, str | tuple[str, ...] | None]:
    """Options of ``holisticbias add`` for the answers in a form."""
    from holisticbias.errors import SourceError

    def lines(label: str) -> tuple[str, ...]:
        if not answers.get(label):
            raise SourceError(f"the form has no answer for {label!r}")
        return tuple(answers[label].split("\n"))

    def needed(label: str) -> str:
        return " ".join(lines(label))

    telling = {"Term": "term", "Continuation": "prompt", "Attributes": "specification"}
    kind = answers.get("Kind", next((kind for label, kind in telling.items() if label in answers), ""))
    if kind == "term":
        position = answers.get("Position", "").split(" ", maxsplit=1)[0]
        places = {"before": "before", "after": "after", "on": "standalone"}
        return {
            "kind": "term",
            "text": needed("Term"),
            "axis": needed("Axis"),
            "position": places.get(position),
            "bucket": " ".join(answers.get("Bucket", "").split()) or None,
            "plural": " ".join(answers.get("Plural", "").split()) or None,
            "article": answers.get("Article") or None,
        }
    if kind in ("template", "noun"):
        group = "dialogue" if kind == "template" else answers.get("Gender of the noun") or "neutral"
        return {"kind": kind, "text": needed("Text"), "axis": group}
    if kind == "prompt":
        return {
            "kind": kind,
            "group": (needed("Group"),),
            "text": needed("Opening"),
            "continuation": needed("Continuation"),
            "subject": needed("Subject"),
        }
    if kind == "specification":
        return {
            "kind": kind,
            "text": needed("Title"),
            "attributes": lines("Attributes"),
            "group": lines("Groups"),
            "slot": lines("Terms"),
            "template": lines("Templates") if answers.get("Templates") else (),
        }
    raise SourceError("the form does not propose an entry; handle reports and disputes by hand")
