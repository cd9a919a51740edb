"""Markdown as HTML: headings with ids, links that stay within the documentation, no raw HTML, no inline styles."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from holisticbias_eval.report.plain_text import printable

Resolve = Callable[[str, str], str | None]
"""The address of a path of the repository and of a heading in it; None if it does not exist."""

Size = Callable[[str], Mapping[str, str]]
"""The attributes ``width`` and ``height`` of the picture at an address, if they are known."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level from 1, its id, and its text."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The text below a heading, to be searched."""

    heading: Heading
    text: str


@dataclass(frozen=True)
class Parsed:
    """A Markdown file, parsed: its path, and its headings in order, each with the text below it."""

    path: str
    tokens: Sequence[Token]
    passages: tuple[Passage, ...]

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings in order."""
        return tuple(passage.heading for passage in self.passages)

    @property
    def linked(self) -> tuple[str, ...]:
        """The paths of the repository that the page links to, in order."""
        parts = (part for token in self.tokens for part in token.children or ())
        targets = (urlsplit(str(part.attrs["href"])) for part in parts if part.type == "link_open")
        return tuple(dict.fromkeys(_path(self, target.path) for target in targets if not target.scheme and target.path))

    @property
    def title(self) -> str:
        """The first heading, else the path."""
        return self.headings[0].text if self.headings else self.path


@dataclass(frozen=True, slots=True)
class Rendered:
    """HTML, and the broken links: the line and the target of each."""

    html: Markup
    broken: tuple[tuple[int, str], ...]


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def parse_markdown(path: str, text: str) -> Parsed:
    """Parse a file; headings get the ids that GitHub gives them."""
    tokens = _parser().parse(printable_lines(text))
    found: list[tuple[Heading, list[str]]] = []
    used: Counter[str] = Counter()
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if before.type == "heading_open":
            words = _plain(token)
            heading = Heading(int(before.tag[1:]), _unused(_slug(words), used), words)
            before.attrSet("id", heading.id)
            found.append((heading, []))
        elif found and token.type in ("inline", "fence", "code_block"):
            found[-1][1].append(_plain(token) if token.type == "inline" else token.content)
    return Parsed(path, tokens, tuple(Passage(heading, " ".join(texts)) for heading, texts in found))


def printable_lines(text: str) -> str:
    """Text whose lines have no hidden characters."""
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines()) + "\n"


def _plain(token: Token) -> str:
    """The text of an inline token without its markup."""
    parts = token.children or ()
    return "".join(" " if part.type in ("softbreak", "hardbreak") else part.content for part in parts)


def _slug(text: str) -> str:
    """The id that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _unused(slug: str, used: Counter[str]) -> str:
    used[slug] += 1
    return slug if used[slug] == 1 else f"{slug}-{used[slug] - 1}"


def render_markdown(parsed: Parsed, resolve: Resolve, size: Size = lambda _: {}) -> Rendered:
    """Render a file; a broken link is left out, and its text stays."""
    broken: list[tuple[int, str]] = []
    shown: list[Token] = []
    used: Counter[str] = Counter()
    for token in parsed.tokens:
        shown += _wrapped(token, used)
        if token.type == "inline" and token.children:
            token.children[:] = _linked(parsed, token, resolve, size, broken)
    html = _parser().renderer.render(shown, _parser().options, {})
    return Rendered(Markup(html), tuple(broken))  # noqa: S704 - the renderer escapes all text, and raw HTML is off


def _wrapped(token: Token, used: Counter[str]) -> Iterator[Token]:
    """A block with what a page needs around it: tables and code scroll by themselves, and are numbered for that."""
    if token.type in ("th_open", "td_open") and "style" in token.attrs:
        number = str(token.attrs.pop("style")).endswith("right")
        token.attrs.update({"class": "number"} if number else {})
    if token.type == "th_open":
        token.attrs["scope"] = "col"
    if token.type == "table_open":
        used["table"] += 1
        yield _html(f'<div class="scroll" tabindex="0" role="region" aria-label="Table {used["table"]}">')
    if token.type in ("fence", "code_block"):
        used["code"] += 1
        opening = Markup('<pre class="listing" tabindex="0" role="region" aria-label="Code {}"><code>{}</code></pre>\n')
        yield _html(opening.format(used["code"], token.content))
        return
    yield token
    if token.type == "table_close":
        yield _html("</div>")


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text)


def _linked(
    parsed: Parsed, inline: Token, resolve: Resolve, size: Size, broken: list[tuple[int, str]]
) -> Iterator[Token]:
    """The parts of an inline token with their targets as addresses; a link without a target is left out."""
    dropped: list[bool] = []
    for part in inline.children or ():
        if part.type == "link_close" and dropped.pop():
            continue
        name = {"link_open": "href", "image": "src"}.get(part.type)
        if name is not None:
            target = str(part.attrs.get(name, ""))
            address = _address(parsed, target, resolve, is_image=name == "src")
            if address is None:
                broken.append((inline.map[0] + 1 if inline.map else 1, target))
            if part.type == "link_open":
                dropped.append(address is None)
            if address is None:
                continue
            part.attrs.update({name: address, **(size(address) if name == "src" else {})})
        yield part


def _address(parsed: Parsed, target: str, resolve: Resolve, *, is_image: bool) -> str | None:
    """The address of a target; an image must be one of the repository's files."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return target if parts.scheme in ("https", "http", "mailto") and not is_image else None
    path = _path(parsed, parts.path) if parts.path else parsed.path
    if path.startswith(("../", "/")):
        return None
    return resolve(path, unquote(parts.fragment))


def _path(parsed: Parsed, target: str) -> str:
    """A relative path as one of the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(parsed.path), unquote(target)))
