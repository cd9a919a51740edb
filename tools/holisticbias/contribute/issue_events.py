"""An event of an issue on GitHub, read from the file that a workflow has of it; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias.errors import SourceError

ACCEPTED = "accepted"
"""The label with which a maintainer turns a proposal into a pull request."""
_MAX_BYTES = 2_000_000
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, its author, and whether the event is that a maintainer accepted it."""

    number: int
    body: str
    login: str | None
    user_id: int
    accepted: bool

    @property
    def co_author(self) -> str | None:
        """The author as git names a co-author, with the address that GitHub gives the account."""
        return f"{self.login} <{self.user_id}+{self.login}@users.noreply.github.com>" if self.login else None


def read_event(path: Path) -> Issue:
    """Read the event of an issue; raises ``SourceError`` if the file is not one."""
    if path.stat().st_size > _MAX_BYTES:
        raise SourceError(f"{path} has more than {_MAX_BYTES:,} bytes")
    try:
        event = json.loads(path.read_text("utf-8"))
        issue, user = event["issue"], event["issue"].get("user") or {}
        number, body, user_id = issue["number"], issue.get("body") or "", user.get("id", 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"{path} is not the event of an issue on GitHub") from error
    if type(number) is not int or number < 1 or type(body) is not str or type(user_id) is not int:
        raise SourceError(f"{path} is not the event of an issue on GitHub")
    login = user.get("login")
    known = type(login) is str and _LOGIN.fullmatch(login) is not None and user.get("type") == "User"
    return Issue(number, body, login if known else None, user_id, _accepted(event))


def _accepted(event: dict[str, Any]) -> bool:
    label = event.get("label")
    return event.get("action") == "labeled" and isinstance(label, dict) and label.get("name") == ACCEPTED
