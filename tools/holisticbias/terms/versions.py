"""Release versions: three whole numbers, ordered as numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from pydantic import Field

Version = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){2}$")]


@lru_cache(maxsize=1024)
def version_key(version: str) -> tuple[int, ...]:
    """The version as numbers, for comparing: ``"1.10.0"`` comes after ``"1.9.0"``."""
    return tuple(int(part) for part in version.split("."))


def holds(version: str, since: str, until: str | None) -> bool:
    """Whether something that is there since one version and gone from another is in this one."""
    key = version_key(version)
    return version_key(since) <= key and (until is None or key < version_key(until))
