"""Show untrusted text in Markdown without letting it act as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from holisticbias.source.findings import one_line

MAX_SHOWN = 200


def plain(text: str, most: int = MAX_SHOWN) -> str:
    """The text as one line with escaped control characters, cut after ``most`` characters."""
    shown = one_line(text)
    return shown if len(shown) <= most else f"{shown[:most]}…"


def code(text: str, most: int = MAX_SHOWN) -> str:
    """The text as a code span, without HTML, links or mentions; safe in a table cell."""
    shown = plain(text, most) or " "
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    inner = f" {shown} " if longest or shown.strip() != shown else shown
    return f"{fence}{inner}{fence}".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are already Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def collapsed(summary: str, content: str) -> str:
    """A collapsed section; summary and content are already Markdown."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def block(lines: Iterable[str]) -> str:
    """Lines as a block of code, without HTML, links or mentions."""
    shown = [plain(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *shown, fence])
