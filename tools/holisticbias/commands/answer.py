"""``holisticbias answer``: answer an issue that fills in a form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data

if TYPE_CHECKING:
    from holisticbias.commands.issue_proposals import Proposal
    from holisticbias.contribute.answer import Issue
    from holisticbias.terms.catalog import Catalog


@click.command()
@click.argument("event", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the entry if the event is that a maintainer accepted it, and the pull request to this folder.",
)
@options.source
def command(event: Path, folder: Path | None, source: Path | None) -> None:
    """Print the answer to an issue as a comment in Markdown.

    EVENT is the JSON file that GitHub gives a workflow. A proposal is shown as
    an entry, with what is missing, entries that are the same, objections on
    record and sentences; a report with the entry and its judgements. Nothing is
    printed for an issue without a form.
    """
    from holisticbias.contribute.answer import read_event, render
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=folder is not None)
    catalog = load_catalog(root)
    sections = list(_sections(root, catalog, read_event(event), folder))
    if sections:
        write_data(render(sections))


def _sections(root: Path, catalog: Catalog, issue: Issue, folder: Path | None) -> Iterator[str]:
    from holisticbias.commands.issue_proposals import propose
    from holisticbias.contribute.answer import duplicates, refused, report
    from holisticbias.contribute.issue_forms import LABELS, form_of, read_issue
    from holisticbias.errors import SourceError

    if not any(f"### {label}" in issue.body for label in LABELS):
        return
    try:
        answers = read_issue(issue.body)
    except SourceError as error:
        yield from refused(str(error))
        return
    form = form_of(catalog, answers)
    if form is None:
        yield from refused("a heading of the form is missing")
    elif not form.file.startswith("propose-"):
        yield from report(root, catalog, form.file, answers)
    else:
        same = duplicates(root, catalog, answers.get("Term") or answers.get("Text") or "")
        try:
            made = propose(root, catalog, issue, answers)
        except (SourceError, click.ClickException) as error:
            yield from refused(_reason(error))
            if same:
                yield "\n".join(same)
            return
        yield from _proposal(root, made, same)
        if folder is not None and issue.accepted:
            _write(root, folder, made, issue, answers)


def _reason(error: Exception) -> str:
    """The message of an error in the words of the form."""
    from holisticbias.contribute.issue_forms import field_label

    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    message = message.removeprefix("nothing was written: ").removeprefix("Invalid value for ")
    return re.sub(r"--([a-z-]+)", lambda m: f"'{field_label(m[1]) or m[0]}'", message)


def _proposal(root: Path, made: Proposal, same: tuple[str, ...]) -> Iterator[str]:
    from holisticbias.contribute.answer import proposal
    from holisticbias.contribute.authoring import edited_files, new_findings
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.reviews import entry_reviews
    from holisticbias.contribute.revisions import Files, open_sides
    from holisticbias.source.folder import read_source

    before = read_source(root)
    sides = open_sides(Files("before", before), Files("after", edited_files(before, made.edits)))
    reviews = list(entry_reviews(compare(sides.old, sides.new, samples=0), sides.old, sides.new))
    path = made.edits[0].path
    lines = _entry_lines(str(made.edits[0].text), str(made.draft.entry["id"]))
    yield from proposal(lines, new_findings(root, made.edits), same, reviews, str(path.relative_to(root)))


def _entry_lines(text: str, entry_id: str) -> list[str]:
    """The lines of an entry in the text of its file."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line == f"  - id: {entry_id}"), 0)
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith("    ")), len(lines))
    return lines[start:end]


def _write(root: Path, folder: Path, made: Proposal, issue: Issue, answers: Mapping[str, str]) -> None:
    """Write the entry, and the title, message and text of its pull request; nothing if the entry breaks a rule."""
    from holisticbias.contribute.authoring import apply_edits, new_findings
    from holisticbias.contribute.diff_report import code
    from holisticbias.contribute.issue_forms import CREDIT

    if any(f.level == "error" for f in new_findings(root, made.edits)):
        return
    apply_edits(root, made.edits)
    entry_id = str(made.draft.entry["id"])
    credited = issue.co_author if answers.get("Credit", CREDIT[0]) != CREDIT[1] else None
    # words of the issue stay out of the message: git reads trailers in it, and GitHub mentions and closing words
    message = f"Add {entry_id}\n\nProposed in #{issue.number}; sources.yaml has its source.\n"
    quoted = "\n".join(f"- {label}: {code(answers[label], 600)}" for label in ("Source", "Why") if answers.get(label))
    body = (
        f"Closes #{issue.number}. Adds {code(entry_id)}, as proposed there.\n\n{quoted}\n\n"
        "Choose **Ready for review** to start the checks and the preview.\n"
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "title.txt").write_text(f"Add {entry_id}\n", "utf-8")
    (folder / "message.txt").write_text(message + (f"\nCo-authored-by: {credited}\n" if credited else ""), "utf-8")
    (folder / "body.md").write_text(body, "utf-8")
