"""Versions: three numbers, compared as numbers, or ``next``, which comes after all numbers."""

import re
from functools import lru_cache
from typing import Annotated

from pydantic import Field

NEXT = "next"
"""The version in preparation, which gets its number when it is frozen."""

NUMBER = r"(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){2}"
Number = Annotated[str, Field(pattern=rf"^{NUMBER}$")]
Version = Annotated[str, Field(pattern=rf"^({NUMBER}|{NEXT})$")]


def is_number(text: str) -> bool:
    """Whether a text is three numbers with dots between them."""
    return re.fullmatch(NUMBER, text) is not None


def is_version(text: str) -> bool:
    """Whether a text is three numbers with dots between them, or ``next``."""
    return text == NEXT or is_number(text)


@lru_cache(maxsize=1024)
def version_key(version: str) -> tuple[int, ...]:
    """A version as a sort key: ``"1.10.0"`` comes after ``"1.9.0"``, and ``"next"`` after all numbers."""
    return (10_000,) if version == NEXT else tuple(int(part) for part in version.split("."))


def holds(version: str, since: str | None, until: str | None = None) -> bool:
    """Whether a version holds what is in the dataset from ``since`` on, null for always, and before ``until``."""
    key = version_key(version)
    return (since is None or version_key(since) <= key) and (until is None or key < version_key(until))
