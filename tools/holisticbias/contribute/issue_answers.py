"""The answers in a filled issue form; nothing in them is trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from holisticbias.contribute.issue_forms import LABELS
from holisticbias.errors import SourceError

MAX_ISSUE = 20_000
"""The most characters of an issue."""
NO_ANSWERS = ("_No response_", "None")  # GitHub writes these for an empty field and a list without a choice
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


def read_issue(text: str) -> Mapping[str, str]:
    """The answers in a filled form, by label; raises ``SourceError`` if the text is not a filled form.

    GitHub writes each label as a heading of level 3, followed by the answer. Blank lines of an answer are left out.
    """
    if len(text) > MAX_ISSUE:
        raise SourceError(f"the issue has more than {MAX_ISSUE:,} characters")
    answers: dict[str, str] = {}
    for label, answer in _parts(text.replace("\r\n", "\n")):
        shown = "\n".join(" ".join(line.split()) for line in answer.split("\n") if line.strip())
        if label in answers:
            raise SourceError(f"the issue answers {label!r} twice")
        answers[label] = "" if shown in NO_ANSWERS else shown
    if not answers:
        raise SourceError("the file is not a filled form: it has no heading such as '### Term'")
    return answers


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The labels and answers; a heading that is not a label of a form is a part of the answer above it."""
    places = [m for m in _HEADING.finditer(text) if m[1].strip() in LABELS]
    ends = [*(m.start() for m in places[1:]), len(text)]
    for place, end in zip(places, ends, strict=False):
        yield place[1].strip(), text[place.end() : end]
