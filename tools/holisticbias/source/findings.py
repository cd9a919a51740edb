"""What a check found: where, how serious, and how to mend it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

Level = Literal["error", "warning"]
Format = Literal["text", "json", "github"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, at a line and a column that count from 1."""

    path: str
    line: int
    column: int
    rule: str
    level: Level
    entry: str
    message: str
    mend: str


def shown(value: object) -> str:
    """A value between quotes, cut where it is long: what a file holds may be of any length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def render_findings(findings: Iterable[Finding], style: Format) -> str:
    """The findings as lines of text, as one JSON array, or as GitHub annotations."""
    if style == "json":
        return json.dumps([asdict(f) for f in findings], ensure_ascii=False, indent=2)
    return "\n".join(map(_github_line if style == "github" else _text_line, findings))


def _text_line(finding: Finding) -> str:
    entry = f" [{finding.entry}]" if finding.entry else ""
    return _one_line(
        f"{finding.path}:{finding.line}:{finding.column} {finding.level} {finding.rule}{entry} "
        f"{finding.message} Mend: {finding.mend}"
    )


def _one_line(text: str) -> str:
    """Control, format and line-separator characters written out: what is printed cannot steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _github_line(finding: Finding) -> str:
    place = f"file={_property(finding.path)},line={finding.line},col={finding.column}"
    entry = f"[{finding.entry}] " if finding.entry else ""
    message = _data(_one_line(f"{entry}{finding.message} Mend: {finding.mend}"))
    return f"::{finding.level} {place},title={_property(finding.rule)}::{message}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
