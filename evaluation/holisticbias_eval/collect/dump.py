"""Read the pages of a MediaWiki XML dump one at a time, in bounded memory.

A dump is cut at the tags of its pages and revisions, which stand nowhere else because texts are escaped, and each page
is parsed alone: broken XML costs one page, and reading can start at any page. ``mwxml`` was measured against it: it
keeps an element for each page that it has read, stops at the first error, and cannot start in the middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from holisticbias.inputs import file_sha256, refuse_unreadable
from holisticbias_eval.collect.titles import title_key
from holisticbias_eval.errors import CollectError
from holisticbias_eval.progress import Display
from holisticbias_eval.tables.content import COMPRESSED, DamagedError, compression, read_chunks

LONGEST = 2 * 1024 * 1024
"""The longest wikitext of a page, in characters; MediaWiki's own limit is 2 MiB (``$wgMaxArticleSize``)."""
_LARGEST = 1 << 24  # bytes of a page's last revision, or of what stands before the first page
_MOST_TAGS = 10_000  # of a page; a page has about 20, and more with the history of a file
_SHORT = 1000  # characters of other values
EVERY = 1000  # pages between two commits
_HASHED = 1 << 30  # bytes: a larger file is identified by its name and size
_MARK = re.compile(rb"<(?P<begin>page|revision)(?=[\s>])|</(?P<end>page|mediawiki)\s*>")
_TAIL = 64  # bytes that a mark may have
_ROOT = re.compile(rb"<([A-Za-z][^\s/>]*)")
_ARCHIVES = {b"7z\xbc\xaf": "7z", b"PK\x03\x04": "zip"}
Chunks = Callable[[int], Iterator[bytes]]
"""The content of a dump from a byte on. Raises ``DamagedError``."""


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A dump on disk; ``size`` in bytes, and ``sha256`` null for files of more than 1 GiB."""

    path: Path
    size: int
    sha256: str | None

    def reader(self, progress: BytesRead, start: int) -> DumpReader:
        """A reader of the dump from a byte on, which counts the bytes that it reads."""
        return DumpReader(partial(read_chunks, self.path, progress.add), start)


def find_dump(path: Path) -> DumpFile:
    """The dump at a path. Raises ``CollectError`` if it is not a readable file, is empty, or is of no known form."""
    with refuse_unreadable(path, CollectError):
        if not path.is_file():
            raise CollectError(
                f"{path} does not exist or is not a file: name the dump of a wiki, as .xml, .bz2, .gz, .xz or .zst"
            )
        size = path.stat().st_size
        if not size:
            raise CollectError(f"{path} is empty: it is not the dump of a wiki")
        with path.open("rb") as file:
            archive = _ARCHIVES.get(file.read(4))
        if archive is not None:
            raise CollectError(f"{path} is a {archive} file, which is not read: unpack it, or take the .bz2 dump")
        suffix = path.suffix.lower()
        if suffix in COMPRESSED and compression(path) != suffix:
            raise CollectError(f"{path} is not a {suffix[1:]} file: correct its name, or download it again")
        return DumpFile(path, size, file_sha256(path) if size <= _HASHED else None)


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


@dataclass(slots=True)
class DumpReader:
    """The pages of a dump in order, from the byte ``start`` on, which is the beginning of a page or zero.

    A page without a title is left out. ``namespaces`` have the wiki's names, each as its ``title_key``. After the last
    page, ``broken`` counts the pages of broken XML, and ``end`` says how the dump ends: null if it is whole, else what
    is wrong.
    """

    chunks: Chunks
    start: int = 0
    site: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, int] = field(default_factory=dict)
    broken: int = 0
    end: str | None = None

    def __iter__(self) -> Iterator[WikiPage]:
        try:
            self._read_head()
            if self.end is None:
                yield from self._pages()
        except DamagedError as error:
            self.end = str(error)

    def _read_head(self) -> None:
        """Read what stands before the first page: the name of the site, and its namespaces."""
        head = bytearray()
        mark = None
        for chunk in self.chunks(0):
            place = max(len(head) - _TAIL, 0)
            head += chunk
            mark = _MARK.search(head, place)
            if mark or len(head) > _LARGEST:
                break
        head = head[: mark.start()] if mark else head
        root = _ROOT.search(head)
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
            self.end = "it declares entities, which the dump of a wiki does not"
        elif root is None:
            self.end = "it is not XML"
        elif root[1] != b"mediawiki":
            self.end = f"its XML is {root[1].decode('utf-8', 'replace')[:60]!r}, not 'mediawiki'"
        elif head.count(b"<") <= _MOST_TAGS:
            self._read_site(bytes(head))

    def _read_site(self, head: bytes) -> None:
        parser: Any = ElementTree.XMLPullParser(["end"])
        with suppress(ElementTree.ParseError):
            parser.feed(head)
            for _, element in parser.read_events():
                name, text = element.tag.rpartition("}")[2], (element.text or "")[:_SHORT]
                if name == "namespace":
                    number = _number(element.get("key"))
                    if text and number is not None:
                        self.namespaces[title_key(text)] = number
                else:
                    self.site[name] = text

    def _pages(self) -> Iterator[WikiPage]:
        """Cut the dump at its marks: of a page, what stands before its revisions and the last revision are kept."""
        page: _OpenPage | None = None
        data, base = bytearray(), self.start  # what is not cut yet, and the byte of the dump at which it begins
        place = 0
        for chunk in self.chunks(self.start):
            data += chunk
            while mark := _MARK.search(data, place):
                done, place = mark.start(), mark.end() - mark.start()
                if mark["begin"] == b"page":
                    self.broken += page is not None
                    page = _OpenPage(base + done)
                elif mark["begin"] and page is not None:
                    page.begin_revision(data[:done])
                elif mark["end"] == b"page":
                    done, place = mark.end(), 0
                    if page is not None:
                        yield from self._parsed(page, data[:done])
                    page = None
                elif mark["end"]:
                    self.broken += page is not None
                    return
                del data[:done]
                base += done
            cut = max(len(data) - _TAIL, 0)
            if page is None or len(data) > _LARGEST:
                if page is not None:
                    page.is_long = True
                del data[:cut]
                base, place, cut = base + cut, place - cut, 0
            place = max(place, cut)
        self.end = "it ends in the middle"

    def _parsed(self, page: _OpenPage, rest: bytearray) -> Iterator[WikiPage]:
        """The page that ends, null if it has no title; broken XML is counted."""
        content = page.head + (b"</page>" if page.is_long else rest)
        try:
            if content.count(b"<") > _MOST_TAGS:
                raise ElementTree.ParseError
            found = _page(page, ElementTree.fromstring(content))  # noqa: S314 - entities cannot be declared within a page
        except ElementTree.ParseError:
            self.broken += 1
            return
        if found is not None:
            yield found


@dataclass(slots=True)
class _OpenPage:
    """A page that is being read: where it begins, what stands before its revisions, and if the last is too large."""

    offset: int
    head: bytes = b""
    is_long: bool = False

    def begin_revision(self, before: bytearray) -> None:
        """Forget the revision before, and keep what stands before the first."""
        if not self.head and not self.is_long:
            self.head = bytes(before)
        self.is_long = self.is_long and not self.head


def _page(opened: _OpenPage, page: ElementTree.Element) -> WikiPage | None:
    title = " ".join(_value(page, "title").replace("_", " ").split())
    if not title:
        return None
    text = page.find("revision/text")
    wikitext = (text.text or "") if text is not None else ""
    why = None
    if text is not None and "deleted" in text.attrib:
        why = "its text is withheld"
    elif opened.is_long or len(wikitext) > LONGEST:
        why = f"its text has more than {LONGEST:,} characters"
    elif _value(page, "revision/model") not in ("", "wikitext"):
        why = "its text is not wikitext"
    elif not wikitext:
        why = "its text is empty"
    redirect = page.find("redirect")
    return WikiPage(
        offset=opened.offset,
        title=title,
        namespace=_number(_value(page, "ns")) or 0,
        page_id=_number(_value(page, "id")) or 0,
        redirect=None if redirect is None else redirect.get("title", "")[:_SHORT],
        revision=_number(_value(page, "revision/id")),
        timestamp=_value(page, "revision/timestamp") or None,
        text=None if why else wikitext,
        why=why,
    )


def _value(page: ElementTree.Element, path: str) -> str:
    return (page.findtext(path) or "")[:_SHORT]


def _number(text: str | None) -> int | None:
    """A whole number of at most 18 digits, null if the text is not one."""
    return int(text) if re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text or "") else None  # type: ignore[arg-type]


def read_pages(
    reader: DumpReader, progress: BytesRead, what: str, display: Display, commit: Callable[[WikiPage], None]
) -> Iterator[WikiPage]:
    """The pages of a dump, while the display shows how far it is read.

    ``commit`` takes every 1,000th page, at which reading can begin again.
    """
    with display.progress(what, progress.size, "bytes", progress.detail) as advance:
        for page in reader:
            if progress.pages and progress.pages % EVERY == 0:
                commit(page)
            advance(progress.step())
            yield page
        advance(progress.step())


@dataclass(slots=True)
class BytesRead:
    """Counts pages, and the bytes of a file read since the last call."""

    size: int
    pages: int = 0
    _read: int = 0
    _shown: int = 0

    def add(self, count: int) -> None:
        """Count bytes."""
        self._read = min(self._read + count, self.size)

    def detail(self) -> str:
        """The number of pages in words."""
        return f"{self.pages:,} pages"

    def step(self) -> int:
        """Count a page, and return the bytes that were read for it."""
        new, self._shown = self._read - self._shown, self._read
        self.pages += 1
        return new
