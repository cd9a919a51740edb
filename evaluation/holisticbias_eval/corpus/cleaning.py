"""Clean the text of a document: links, emoji, blanks and capitals."""

from __future__ import annotations

import re

_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "#34": '"', "#39": "'", "#x27": "'", "nbsp": " ", "#x200b": " "}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:https?://|www\.|/)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)", re.IGNORECASE)
_REMOVED = re.compile(
    r"""(?:https?://|\bwww\.)\S+  # addresses of pages
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+  # addresses of people
    | (?<![\w/])/?u/[\w-]+  # names of people on Reddit
    | ^[^\S\n]*(?:>[^\S\n]*)+  # marks of quoted lines
    | [\x00-\x08\x0e-\x1f\x7f\u200b\u200d\u2060\ufe0e\ufe0f\ufeff]  # control characters, and parts of emoji
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def clean(text: str) -> str:
    """The text in lower case with one blank between words, without links, emoji, and addresses or names of people.

    Addresses are of e-mail, names of Reddit users (``u/NAME``). A Markdown link becomes its words, and HTML entities
    their characters. What is removed leaves a blank, so that the words around it stay apart. Source: Zhao et al. 2024,
    section 2 (links, emoji, blanks, lower case).
    """
    text = re.sub("&amp;", "&", text, flags=re.IGNORECASE) if "&" in text else text
    text = _ENTITY.sub(lambda found: _ENTITIES[found[1].lower()], text)
    text = _LINK.sub(r" \1 ", text)
    text = _REMOVED.sub(" ", _without_emoji(text))
    return " ".join(text.lower().split())


def _without_emoji(text: str) -> str:
    if text.isascii():
        return text
    import emoji

    return emoji.replace_emoji(text, " ")
