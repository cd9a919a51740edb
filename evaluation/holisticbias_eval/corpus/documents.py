"""Documents that sentences are retrieved from: text, identifier, date and author; and how a text is cleaned."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from holisticbias.inputs import whole_text

FIELDS = ("body", "text", "comment")
"""Fields that hold the text of a document, the first that a row has."""
_DATES = ("created_utc", "date", "timestamp", "created_at")
_MILLISECONDS = 1e11  # seconds since 1970 are smaller until the year 5138
_ID = 200  # characters
DELETED = r"\[\s*(?:deleted|removed)\b[^\]]*\]"
"""The pattern of what stands in the place of a deleted text, in small letters, such as ``[deleted by user]``."""
_DELETED = re.compile(rf"\s*{DELETED}\s*", re.IGNORECASE)
_BOT_NAME = re.compile(r"(?i:automoderator|.*[-_]bot)|.*[a-z0-9](?:Bot|BOT)")
_BOT_WORDS = re.compile(r"\bi(?:['’]?m| am) a bot\b", re.IGNORECASE)  # noqa: RUF001 - both forms that people write
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


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text; ``place`` is where it was read, as FILE:LINE. What is not known of it is null."""

    text: str
    place: str
    identifier: str | None = None
    date: date | None = None
    author: str | None = None

    @property
    def source(self) -> str:
        """The identifier, else the place."""
        return self.identifier or self.place

    @property
    def is_deleted(self) -> bool:
        """Whether its author or a moderator removed the text."""
        return _DELETED.fullmatch(self.text) is not None

    @property
    def is_by_bot(self) -> bool:
        """Whether the author is named as a bot, or the text says that a bot wrote it."""
        return _BOT_NAME.fullmatch(self.author or "") is not None or _BOT_WORDS.search(self.text) is not None


def row_document(row: Mapping[str, object], place: str, field: str | None) -> TextDocument | None:
    """The document of a row, null if it has no text in ``field``, by default in the first of ``FIELDS``."""
    text = next((row[name] for name in ((field,) if field else FIELDS) if isinstance(row.get(name), str)), None)
    if not isinstance(text, str):
        return None
    author = row.get("author")
    return TextDocument(
        text=whole_text(text),
        place=place,
        identifier=_identifier(row.get("id")),
        date=next((found for name in _DATES if (found := read_date(row.get(name))) is not None), None),
        author=author if isinstance(author, str) else None,
    )


def read_date(value: object) -> date | None:
    """The day, in UTC, of a date in ISO form or in seconds or milliseconds since 1970; null if it is neither."""
    try:
        if isinstance(value, str):
            text = value.strip()
            is_number = re.fullmatch(r"\d{9,13}(?:\.\d+)?", text)
            value = float(text) if is_number else datetime.fromisoformat(text)
        if isinstance(value, datetime):
            return (value.astimezone(UTC) if value.tzinfo else value).date()
        if isinstance(value, date):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            return None
        return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def digest_of(*parts: object) -> str:
    """The SHA-256 of texts and numbers, as 64 hexadecimal digits: a random number that they alone decide."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def bare_identifier(identifier: str) -> str:
    """The identifier of a document without the ``t1_`` or ``t3_`` that Reddit writes before it in some places."""
    return identifier.removeprefix("t1_").removeprefix("t3_")


def _identifier(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return whole_text(str(value)).strip()[:_ID] or None


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
