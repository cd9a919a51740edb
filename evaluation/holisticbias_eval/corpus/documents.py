"""Documents that sentences are retrieved from: their text, identifier, date and author."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

FIELDS = ("body", "text", "comment")
"""Fields that hold the text of a document, the first that a row has."""
_DATES = ("created_utc", "date", "timestamp", "created_at")
_MILLISECONDS = 1e11  # seconds since 1970 are smaller until the year 5138
_ID = 200  # characters
_LONE = re.compile("[\ud800-\udfff]")
_DELETED = re.compile(r"\s*\[\s*(?:deleted|removed)\b[^\]]*\]\s*", re.IGNORECASE)
_BOT_NAME = re.compile(r"(?i:automoderator|.*[-_]bot)|.*[a-z0-9](?:Bot|BOT)")
_BOT_WORDS = re.compile(r"\bi(?:['’]?m| am) a bot\b", re.IGNORECASE)  # noqa: RUF001 - both forms that people write


@dataclass(frozen=True, slots=True)
class Document:
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


def row_document(row: Mapping[str, object], place: str, field: str | None = None) -> Document | None:
    """The document of a row, null if it has no text in ``field``, by default in the first of ``FIELDS``."""
    text = next((row[name] for name in ((field,) if field else FIELDS) if isinstance(row.get(name), str)), None)
    if not isinstance(text, str):
        return None
    author = row.get("author")
    return Document(
        text=_LONE.sub("\ufffd", text),
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


def bare_identifier(identifier: str) -> str:
    """The identifier of a document without the ``t1_`` or ``t3_`` that Reddit writes before it in some places."""
    return identifier.removeprefix("t1_").removeprefix("t3_")


def _identifier(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return _LONE.sub("\ufffd", str(value)).strip()[:_ID] or None
