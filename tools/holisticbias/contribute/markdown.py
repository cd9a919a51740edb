"""Text of others in Markdown: shown as it is, and never obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_SHOWN = 200


def plain(text: str) -> str:
    """One line without control, format and line-separator characters, which are written out; cut where it is long."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…"


def code(text: str) -> str:
    """A text as a code span, in which HTML, links and mentions mean nothing; fit for a cell of a table."""
    shown = plain(text) or " "
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    inner = f" {shown} " if longest or shown.strip() != shown else shown
    return f"{fence}{inner}{fence}".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(summary: str, content: str) -> str:
    """Content that shows when its summary is clicked; both are Markdown of ours."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"
