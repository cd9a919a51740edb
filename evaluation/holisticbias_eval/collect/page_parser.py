"""Parse the XML of a MediaWiki dump into pages, in bounded memory.

The parser keeps the texts that a page needs, each up to a limit. ``mwxml`` was measured against it: it keeps an
element for each page that it has read, stops at the first error, and cannot start in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.parsers import expat

LONGEST = 2 * 1024 * 1024
"""The longest wikitext of a page, in characters; MediaWiki's own limit is 2 MiB (``$wgMaxArticleSize``)."""
ROOT = b"<mediawiki>"
_SHORT = 1000  # characters of other values
_DEEPEST = 50
_KEPT = {
    ("page", "title"), ("page", "ns"), ("page", "id"), ("page", "revision", "id"), ("page", "revision", "timestamp"),
    ("page", "revision", "model"), ("page", "revision", "text"), ("siteinfo", "sitename"), ("siteinfo", "base"),
    ("siteinfo", "generator"), ("siteinfo", "namespaces", "namespace"),
}  # fmt: skip


class BrokenXmlError(Exception):
    """XML that cannot be parsed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class WikiPage:
    """The last revision of a page; ``offset`` is the byte of the dump at which the page begins.

    ``text`` is its wikitext, null if it is withheld, not wikitext, or longer than ``LONGEST``; ``why`` says which.
    ``redirect`` is the title that the page leads to, null if the page is not a redirect.
    """

    offset: int
    title: str
    namespace: int
    page_id: int
    redirect: str | None
    revision: int | None
    timestamp: str | None
    text: str | None
    why: str | None = None


class PageParser:
    """Takes bytes of XML, and gives pages. ``site`` and ``namespaces`` are filled from what stands before the pages."""

    def __init__(self, start: int, site: dict[str, str], namespaces: dict[str, int]) -> None:
        self.is_dump = self.has_pages = bool(start)
        self.is_closed = False
        self.fed = start  # bytes of the dump that were given
        self.error_byte = 0
        self._site, self._namespaces = site, namespaces
        self._base = start
        self._path: list[str] = []
        self._pages: list[WikiPage] = []
        self._page: dict[str, str] = {}
        self._parts: list[str] = []
        self._length = 0
        self._offset = 0
        self._namespace = ""
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.buffer_size = 1 << 16
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype
        if start:
            self._parser.Parse(ROOT)
            self._base -= len(ROOT)

    @property
    def waiting(self) -> int:
        """Bytes of markup that is not complete yet."""
        return self.fed - (self._base + self._parser.CurrentByteIndex)

    def feed(self, chunk: bytes) -> None:
        """Parse more bytes. Raises ``BrokenXmlError``."""
        self.fed += len(chunk)
        try:
            self._parser.Parse(chunk)
        except expat.ExpatError as error:
            self.error_byte = self._base + self._parser.ErrorByteIndex
            if self.is_closed:  # bytes after the end of the dump
                return
            raise BrokenXmlError(
                f"it is not XML at byte {self.error_byte:,}: {expat.ErrorString(error.code)}"
            ) from None

    def take(self) -> list[WikiPage]:
        """The pages that ended since the last call."""
        pages, self._pages = self._pages, []
        return pages

    def _broken(self, reason: str) -> BrokenXmlError:
        """The error for the markup that is being handled; its place is kept now, because expat reads on."""
        self.error_byte = self._base + self._parser.CurrentByteIndex
        return BrokenXmlError(reason)

    def _doctype(self, *_: object) -> None:
        raise self._broken("it declares entities, which the dump of a wiki does not")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._path and not self.is_dump:
            if name != "mediawiki":
                raise self._broken(f"its XML is {name[:60]!r}, not 'mediawiki'")
            self.is_dump = True
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            raise self._broken("its XML is nested too deeply")
        below = tuple(self._path[1:])
        if name == "page" and len(below) > 1:
            raise self._broken("a page begins inside another")
        if below == ("page",):
            self.has_pages = True
            self._page, self._offset = {}, self._base + self._parser.CurrentByteIndex
        elif below == ("page", "revision"):
            self._page = {key: value for key, value in self._page.items() if not key.startswith("revision.")}
        elif below == ("page", "redirect"):
            self._page["redirect"] = attributes.get("title", "")[:_SHORT]
        elif below in _KEPT:
            self._keep(below, attributes)

    def _keep(self, below: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        self._parts, self._length = [], 0
        self._namespace = attributes.get("key", "")
        if below[-1] == "text" and "deleted" in attributes:
            self._page["revision.deleted"] = "true"
        self._parser.CharacterDataHandler = self._characters

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length <= (LONGEST if self._path[-1] == "text" else _SHORT):
            self._parts.append(text)

    def _end(self, name: str) -> None:
        below = tuple(self._path[1:])
        self._path.pop()
        if below in _KEPT:
            self._parser.CharacterDataHandler = None
            self._set(below, "".join(self._parts))
            self._parts = []
        elif below == ("page",):
            page = self._made()
            if page is not None:
                self._pages.append(page)
        elif not below:
            self.is_closed = True

    def _set(self, below: tuple[str, ...], text: str) -> None:
        if below[0] == "page":
            self._page[".".join(below[1:])] = text
            if below[-1] == "text" and self._length > LONGEST:
                self._page["revision.long"] = "true"
        elif below[-1] == "namespace":
            if text and _number(self._namespace) is not None:
                self._namespaces[text] = int(self._namespace)
        else:
            self._site[below[-1]] = text

    def _made(self) -> WikiPage | None:
        page = self._page
        title = " ".join(page.get("title", "").replace("_", " ").split())
        if not title:
            return None
        why = None
        if "revision.deleted" in page:
            why = "its text is withheld"
        elif "revision.long" in page:
            why = f"its text has more than {LONGEST:,} characters"
        elif page.get("revision.model", "wikitext") != "wikitext":
            why = "its text is not wikitext"
        elif not page.get("revision.text"):
            why = "its text is empty"
        return WikiPage(
            self._offset,
            title,
            _number(page.get("ns", "")) or 0,
            _number(page.get("id", "")) or 0,
            page.get("redirect"),
            _number(page.get("revision.id", "")),
            page.get("revision.timestamp"),
            None if why else page["revision.text"],
            why,
        )


def _number(text: str) -> int | None:
    """A whole number of at most 18 digits, null if the text is not one."""
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None
