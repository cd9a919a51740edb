"""The sections of an answer to an issue that fills in a form, in Markdown; nothing in the issue is trusted."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holisticbias.contribute.entry_text import find_place
from holisticbias.contribute.markdown import block, code
from holisticbias.contribute.preview import findings_table
from holisticbias.contribute.proposals import same_entries, same_phrase, similar_terms
from holisticbias.contribute.readings import preference_line
from holisticbias.source.addresses import file_link
from holisticbias.source.findings import Finding
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry, Judged
from holisticbias.terms.file_kinds import Kind
from holisticbias.terms.specification_entries import Specification

MARKER = "<!-- holisticbias answer -->"
ACCEPTED = "accepted"
"""The label with which a maintainer turns a proposal into a pull request."""
EDIT = (
    "Edit the text of the issue (**...**, then **Edit**) and leave the headings as they are. This answer is then "
    "written again."
)
_NEXT = {
    "report-term": (
        "A maintainer asks reviewers who know the term. Their judgements are recorded with a date, and the term stays "
        "in the data or is retired by the [rules for retiring]({retire})."
    ),
    "report-grammar": (
        "A maintainer corrects the entry for the next version; published versions do not change. You can do it "
        "yourself: [change an entry]({retire})."
    ),
    "dispute-placement": "Reviewers of both axes discuss it here. A maintainer then runs `holisticbias move`.",
}


def refused(reason: str) -> Iterator[str]:
    """The answer to a form whose answers cannot be used."""
    yield "## Not ready yet"
    yield f"{code(reason, most=600)}"
    yield EDIT


def proposal(
    entry_lines: Sequence[str], findings: Sequence[Finding], same: str, reviews: Sequence[str], path: str
) -> Iterator[str]:
    """The answer to a proposal that can become an entry."""
    errors = sum(f.level == "error" for f in findings)
    yield f"## Not ready yet: {errors:,} to fix" if errors else "## Thank you: this can become an entry"
    if same:
        yield same
    if findings:
        yield findings_table(findings)
    yield from reviews
    yield f"The entry for {code(path)}:\n\n{block(entry_lines)}"
    yield f"**To correct it:** {EDIT}"
    if not errors:
        yield (
            f"**A maintainer** reads the sentences and adds the label `{ACCEPTED}`. That says that the term meets the "
            f"[criteria]({file_link('CONTRIBUTING.md')}#criteria), also if there are objections, and makes the pull "
            "request, with this issue as the source of the entry. Two reviewers then read it."
        )


def report(root: Path, catalog: Catalog, form: str, answers: Mapping[str, str]) -> Iterator[str]:
    """The answer to a report of an entry: the entry, its judgements, and what happens next."""
    named = answers.get("Entry", "")
    found = list(_named(catalog, named))
    if not found:
        yield f"## No entry has the id or the text {code(named)}"
        ids = [d.id for d in catalog.descriptors]
        close = difflib.get_close_matches(named.strip().lower(), ids, n=3, cutoff=0.75)
        near = dict.fromkeys([*similar_terms(catalog, named), *close])
        if near:
            yield f"Did you mean {', '.join(map(code, near))}?"
        yield EDIT
        return
    yield "## Thank you: a maintainer reads this"
    for kind, entry in found[:10]:
        yield f"{code(entry.text)}, {code(entry.id)}, at {_link(find_place(root, kind, entry.id))}"
        if isinstance(entry, Judged):
            name = "specification" if isinstance(entry, Specification) else "term"
            yield f"Judgements: {code(preference_line(entry, name))}"
    better = answers.get("Better term")
    if better:
        known = ", ".join(code(entry.id) for _, entry in _named(catalog, better))
        said = f"in the data as {known}." if known else "not in the data yet: please propose it in its own issue."
        yield f"The better term {code(better)} is {said}"
    yield _NEXT[form].format(retire=f"{file_link('CONTRIBUTING.md')}#change-an-entry")


def duplicates(root: Path, catalog: Catalog, text: str) -> str:
    """A list of the terms, nouns and templates that are the same as a text; empty if there are none."""
    lines = []
    for found in same_entries(root, catalog, text):
        retired = f", until version {found.entry.until}" if found.entry.until else ""
        known = f"{code(found.entry.text)} is in the data as {code(found.entry.id)}"
        lines.append(f"- {known}, {_link(found.place)}{retired}")
    phrase = same_phrase(catalog, text)
    if phrase:
        lines.append(f"- the data makes this phrase already: {code(phrase)}")
    return "\n".join(lines)


def _link(place: str) -> str:
    """A file and a line in it, as a link."""
    path, _, line = place.partition(":")
    return f"[{code(place)}]({file_link(path, int(line) if line.isdigit() else None)})"


def _named(catalog: Catalog, name: str) -> Iterator[tuple[Kind, Entry]]:
    wanted = name.strip().casefold()
    return ((f.kind, e) for f, e in catalog.entries() if wanted and wanted in (e.id, e.text.casefold()))
