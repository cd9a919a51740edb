"""Titles of pages: how they are compared, and the links and categories in a page's wikitext."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

_LINK = re.compile(r"\[\[([^\[\]|<>{}\n]{1,255})")
_ITEM = re.compile(r"^[ \t]*(?:[*#;:]|\||!)")
CATEGORY, FILE = 14, 6
_ENGLISH = {"category": CATEGORY, "file": FILE, "image": FILE, "media": -2}
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)*")


def title_key(title: str) -> str:
    """A title as it is compared: any case, underscores as spaces, without the part after ``#``."""
    return " ".join(unicodedata.normalize("NFC", title.partition("#")[0]).replace("_", " ").split()).casefold()


def namespace_of(title: str, namespaces: Mapping[str, int]) -> int:
    """The namespace that a link's title names by its prefix; 0 without a known prefix.

    ``namespaces`` are the wiki's own names, each as its ``title_key``; the English names of categories and files always
    hold. A prefix that is a language's code gives -1, for a link to another wiki.
    """
    prefix, colon, _ = title.partition(":")
    if not colon:
        return 0
    name = title_key(prefix)
    found = namespaces.get(name, _ENGLISH.get(name))
    if found is not None:
        return found
    return -1 if prefix.islower() and _LANGUAGE.fullmatch(prefix) else 0


def list_links(wikitext: str, namespaces: Mapping[str, int], *, every: bool) -> Iterator[str]:
    """The titles of pages that a list links to, in order.

    Of an item of a list or a row of a table this is the first link; the text outside of them counts only if
    there is no such link. ``every`` takes all links of the page.
    """
    lines = without_unread(wikitext).split("\n")
    items = [next(_page_links(line, namespaces), None) for line in lines if _ITEM.match(line)]
    found = [title for title in items if title is not None]
    if found and not every:
        yield from found
    else:
        for line in lines:
            yield from _page_links(line, namespaces)


def _page_links(line: str, namespaces: Mapping[str, int]) -> Iterator[str]:
    for match in _LINK.finditer(line):
        title = match[1].strip().removeprefix(":")
        if title_key(title) and not namespace_of(title, namespaces):
            yield title


def category_keys(wikitext: str, namespaces: Mapping[str, int]) -> set[str]:
    """The categories that a page names in its own text, as ``title_key`` of the name without its prefix."""
    keys = (category_key(match[1].strip(), namespaces) for match in _LINK.finditer(without_unread(wikitext)))
    return {key for key in keys if key is not None}


def category_key(title: str, namespaces: Mapping[str, int]) -> str | None:
    """The ``title_key`` of a category without its prefix; null for a title without the prefix of categories."""
    return title_key(title.partition(":")[2]) if namespace_of(title, namespaces) == CATEGORY else None


def without_unread(wikitext: str) -> str:
    """Wikitext without comments and ``nowiki`` parts, in linear time; what is not closed is kept."""
    return _without(_without(wikitext, "<!--", "-->"), "<nowiki>", "</nowiki>")


def _without(text: str, begin: str, end: str) -> str:
    if begin not in text:
        return text
    parts, place = [], 0
    while (start := text.find(begin, place)) >= 0 and (stop := text.find(end, start)) >= 0:
        parts.append(text[place:start])
        place = stop + len(end)
    return "".join((*parts, text[place:]))
