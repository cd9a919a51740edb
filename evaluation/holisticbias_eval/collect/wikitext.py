"""The plain text of wikitext, by mwparserfromhell."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

import mwparserfromhell
from mwparserfromhell.nodes import Argument, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from holisticbias.terminal import STEERING
from holisticbias_eval.collect.templates import template_text
from holisticbias_eval.collect.titles import namespace_of

DROPPED = frozenset({
    "table", "ref", "references", "gallery", "timeline", "imagemap", "graph", "mapframe", "templatedata", "poem",
    "inputbox", "categorytree", "style", "script", "includeonly",
})  # fmt: skip
UNREAD = frozenset({
    "math", "chem", "ce", "score", "syntaxhighlight", "source", "pre", "code", "hiero", "maplink",
})  # fmt: skip
"""Tags whose content is part of a sentence, and is not words."""
UNKNOWN = "\ufffc"
"""Stands in a paragraph for a part of running text that is not known: a template, a formula."""
BREAK = "\n\n"
_APART = frozenset({"li", "dd", "dt", "dl", "ul", "ol", "hr", "br", "p", "div", "blockquote", "center"})
_EMPTY_BRACKETS = re.compile(r"[ \t]?\([\s,;:\u2013-]{0,20}\)")
_AFTER_BRACKET = re.compile(r"\([\s,;:]{1,20}")
_BLANKS = re.compile(r"[^\S\n]+")
_BEFORE_MARK = re.compile(r" (?=[,.;:!?)])")
_ITEM = re.compile(r"^[*#:;].*$", re.MULTILINE)  # the text after a list is another paragraph
_OWN_LINE = re.compile(rf"^[ \t{UNKNOWN}]*$", re.MULTILINE)
_NOTE = re.compile(rf"(?<=[.!?])(?P<closed>[\"')\u201d\u2019]?){UNKNOWN}+(?=\s+[\W\d]*[A-Z]|\s*$)")
_PARAGRAPH = re.compile(r"\n\s*\n")
MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|</?[A-Za-z]|'''?|={2,}|__[A-Z]+__|https?://|\bISBN\b")
"""Markup that is left in a sentence if it was not closed, and references in running text."""


def paragraphs(wikitext: str, namespaces: Mapping[str, int]) -> list[str]:
    """The paragraphs of running text, one line each.

    Tables, references, files, comments and headings are left out; a link leaves its text, a template the text that it
    shows (see ``templates``). An unknown template or a formula in running text leaves ``UNKNOWN``, but not on a line
    without words, and not behind a sentence, where footnotes stand.
    """
    apart = _ITEM.sub(r"\g<0>\n", wikitext)
    text = "".join(_texts(mwparserfromhell.parse(apart), namespaces))
    text = _NOTE.sub(r"\g<closed>", _OWN_LINE.sub("", text))
    return [cleaned for part in _PARAGRAPH.split(text) if (cleaned := _cleaned(part))]


def _texts(code: Wikicode | None, namespaces: Mapping[str, int]) -> Iterator[str]:
    for node in code.nodes if code is not None else ():
        if isinstance(node, Text):
            yield str(node.value)
        elif isinstance(node, Wikilink):
            yield from _link(node, namespaces)
        elif isinstance(node, ExternalLink):
            yield from _texts(node.title, namespaces)
        elif isinstance(node, HTMLEntity):
            yield node.normalize()
        elif isinstance(node, Heading):
            yield BREAK
        elif isinstance(node, Tag):
            yield from _tag(node, namespaces)
        elif isinstance(node, Template):
            yield from _template(node, namespaces)
        elif isinstance(node, Argument):
            yield UNKNOWN


def _template(node: Template, namespaces: Mapping[str, int]) -> Iterator[str]:
    parts = template_text(node)
    for part in (UNKNOWN,) if parts is None else parts:
        yield from (part,) if isinstance(part, str) else _texts(part, namespaces)


def _link(node: Wikilink, namespaces: Mapping[str, int]) -> Iterator[str]:
    title = str(node.title).strip()
    shown = title.startswith(":")
    if shown or not namespace_of(title, namespaces):
        yield from [title.removeprefix(":")] if node.text is None else _texts(node.text, namespaces)


def _tag(node: Tag, namespaces: Mapping[str, int]) -> Iterator[str]:
    name = str(node.tag).strip().lower()
    if name in DROPPED:
        return
    if name in UNREAD:
        yield UNKNOWN
        return
    if name in _APART:
        yield BREAK
    yield from _texts(node.contents, namespaces)
    if name in _APART and node.contents:
        yield BREAK


def _cleaned(text: str) -> str:
    """One line without characters that control a terminal or the reading direction, and without emptied brackets."""
    shown = "".join(" " if c.isspace() or unicodedata.category(c) in STEERING else c for c in text)
    shown = _AFTER_BRACKET.sub("(", _EMPTY_BRACKETS.sub("", shown))
    return _BEFORE_MARK.sub("", _BLANKS.sub(" ", shown)).strip()
