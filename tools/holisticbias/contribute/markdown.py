"""Markdown in which untrusted text does not act as markup."""

import re
from collections.abc import Iterable, Sequence

from holisticbias.terminal import cut, visible

MAX_SHOWN = 200
MAX_LENGTH = 60_000
"""The most characters of a text that is shown, and of a comment."""


def plain(text: str, most: int = MAX_SHOWN) -> str:
    """The text as one line with escaped control characters, of at most ``most`` characters."""
    return cut(visible(text, keep=""), most)


def code(text: str, most: int = MAX_SHOWN) -> str:
    """The text as a code span, without HTML, links or mentions; safe in a table cell."""
    shown = plain(text, most) or " "
    fence = fence_around(shown, least=1)
    inner = f" {shown} " if "`" in shown or shown.strip() != shown else shown
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
    text = "\n".join(map(plain, lines))
    fence = fence_around(text)
    return f"{fence}\n{text}\n{fence}"


def fence_around(text: str, least: int = 3) -> str:
    """As many backticks as the text does not have in a row, and at least that many."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def comment(marker: str, sections: Iterable[str], rest: str) -> str:
    """A comment of at most ``MAX_LENGTH`` characters; ``rest`` stands for the sections that do not fit."""
    text = marker
    for section in sections:
        if len(text) + len(section) > MAX_LENGTH:
            return f"{text}\n\n{rest}"
        text = f"{text}\n\n{section}"
    return text
