"""Read the pages of a MediaWiki XML dump one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from holisticbias_eval.collect.dump_file import DAMAGES
from holisticbias_eval.collect.page_parser import BrokenXmlError, PageParser, WikiPage

_CHUNK = 1 << 18  # bytes
_TAG = 1 << 24  # bytes: the largest markup between two events
_NEXT = re.compile(rb"<page>|</mediawiki>")
_LONGEST = len(b"</mediawiki>")


@dataclass(slots=True)
class DumpReader:
    """The pages of a stream of XML in order, from the byte ``start`` on, which is the beginning of a page or zero.

    A page with broken XML costs itself alone: reading goes on at the next ``<page>``. After the last page, ``broken``
    counts these pages, and ``end`` says how the dump ends: null if it is whole, else what is wrong.
    """

    stream: IO[bytes]
    start: int = 0
    site: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, int] = field(default_factory=dict)
    broken: int = 0
    end: str | None = None
    _last: bytes = b""

    @property
    def namespace_keys(self) -> dict[str, int]:
        """The wiki's names of namespaces in lower case."""
        return {name.casefold(): number for name, number in self.namespaces.items()}

    def __iter__(self) -> Iterator[WikiPage]:
        """The pages; a page without a title or of broken XML is left out."""
        parser = self._parser(0)
        if self.start:
            self._read_site(parser)
            parser = self._parser(self.start)
        while not parser.is_closed:
            chunk = self._read()
            if not chunk:
                self.end = self.end or ("it ends in the middle" if parser.is_dump else "it is not XML")
                break
            while chunk:
                before = parser
                chunk, parser, pages = self._feed(parser, chunk)
                yield from pages
                self.broken += parser is not before  # after the pages, so that a run that goes on counts it once
            if parser.waiting > _TAG:
                self.end = "it has a tag of more than 16 MiB"
                break

    def _feed(self, parser: PageParser, chunk: bytes) -> tuple[bytes, PageParser, list[WikiPage]]:
        """Parse a chunk: what is left of it to parse, the parser to go on with, and the pages that end in it."""
        try:
            parser.feed(chunk)
        except BrokenXmlError as error:
            pages = parser.take()
            if not parser.is_dump:
                self.end = error.reason
                parser.is_closed = True
                return b"", parser, pages
            rest = self._from_next_page(chunk, parser)
            return rest, self._parser(parser.fed - len(rest)), pages
        return b"", parser, parser.take()

    def _from_next_page(self, chunk: bytes, parser: PageParser) -> bytes:
        """The bytes from the next page or the end of the dump on, from the stream if the chunk has none."""
        begin = max(0, parser.error_byte - len(b"</") - (parser.fed - len(chunk)))  # expat names the tag's name
        found = _NEXT.search(chunk, begin)
        while found is None:
            more = self._read()
            if not more:
                return b""
            parser.fed += len(more)
            chunk = chunk[max(begin, len(chunk) - _LONGEST + 1) :] + more
            begin, found = 0, _NEXT.search(chunk)
        return chunk[found.start() :]

    def _parser(self, start: int) -> PageParser:
        return PageParser(start, self.site, self.namespaces)

    def _read_site(self, parser: PageParser) -> None:
        """Read what stands before the first page, and go to the byte to start at."""
        while not parser.has_pages and (chunk := self._read()):
            try:
                parser.feed(chunk)
            except BrokenXmlError:
                break
        self.stream.seek(self.start)

    def _read(self) -> bytes:
        try:
            return self.stream.read(_CHUNK)
        except DAMAGES:
            self.end = "its compressed data ends in the middle or is damaged"
        except OSError as error:
            if error.errno is not None:
                raise
            self.end = "its compressed data is damaged"
        return b""
