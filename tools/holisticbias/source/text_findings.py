"""Findings in the text of a YAML file, before and besides what a parser reads."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from holisticbias.source.findings import Finding, offset_place
from holisticbias.source.reading_rules import BYTE_ORDER_MARK, HIDDEN_IN_COMMENT, LINE_ENDINGS, NOT_NFC, UNSEEN
from holisticbias.source.yaml_mistakes import anchors, hashes, tabs

MAX_ALIKE = 20  # findings of one kind in a file
# Line breaks in YAML 1.1 but not in YAML 1.2: parsers disagree on the text and on all later line numbers.
_OTHER_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


def text_findings(text: str) -> Iterator[Finding]:
    """The findings in the characters and lines of a file, without its path."""
    if text.startswith("\ufeff"):
        yield BYTE_ORDER_MARK.at((1, 1), "The file begins with a byte order mark.")
    if "\r" in text:
        yield LINE_ENDINGS.at(offset_place(text, text.index("\r")), "A line ends with a carriage return.")
    for alike in (_other_line_breaks, _hidden_in_comments, _decomposed, tabs, hashes, anchors):
        yield from islice(alike(text), MAX_ALIKE)


def _other_line_breaks(text: str) -> Iterator[Finding]:
    if _OTHER_LINE_BREAK.search(text) is None:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for found in _OTHER_LINE_BREAK.finditer(line):
            message = f"Only some programs read the character U+{ord(found.group()):04X} as a line break."
            yield LINE_ENDINGS.at((number, found.start() + 1), message, "remove the character")


def _hidden_in_comments(text: str) -> Iterator[Finding]:
    """A finding for each comment with an invisible character; other parts of a file are checked as values."""
    for number, line in enumerate(() if text.isascii() else text.split("\n"), 1):
        comment = None if line.isascii() else _COMMENT.search(line)
        for place, letter in enumerate(comment.group() if comment else "", comment.start() + 1 if comment else 1):
            if letter not in "\t\r\x85\u2028\u2029" and (UNSEEN.match(letter) or not letter.isprintable()):
                yield HIDDEN_IN_COMMENT.at((number, place), f"The comment contains the character U+{ord(letter):04X}.")
                break


def _decomposed(text: str) -> Iterator[Finding]:
    if unicodedata.is_normalized("NFC", text):
        return
    for number, line in enumerate(text.split("\n"), 1):
        composed = unicodedata.normalize("NFC", line)
        if composed != line:
            column = next((i for i, (a, b) in enumerate(zip(line, composed, strict=False)) if a != b), len(composed))
            yield NOT_NFC.at((number, column + 1), "An accent is written as a separate character.")
