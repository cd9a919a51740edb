"""The comment on a contribution: contents, and escaping of untrusted text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from holisticbias.contribute.diff import Count, Difference, EntryChange, Sample
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.markdown import MAX_SHOWN, code, plain
from holisticbias.contribute.preview import MARKER, MAX_LENGTH, render_preview
from holisticbias.source.findings import Finding

NOTHING = Difference("2.0.0", "2.1.0", (), Count("all", 0, 0, 0), (), (), ())
FINDING = Finding("descriptors/a.yaml", 3, 5, "slot", "error", "a.b", "What.", "Fix.")
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "@everyone `@octocat`",
    "``` x ``` | y",
    "[a](javascript:alert(1))",
    "![a](https://example.org/x.png)",
    "a\n## b\r\n| c |",
    "\u202eabc\u200b\u2066",
    "<!-- x --> </details>",
    "\x1b[2J\x07",
    "`" * 500,
    "x" * 100_000,
]


def whole(text: str) -> Difference:
    """A difference in which every text is the given text."""
    return Difference(
        text,
        text,
        (EntryChange(text, text, "reworded", ((text, text, text),), text),),
        Count(text, 1, 1, 1),
        (Count(text, 1, 0, 0),),
        (Count(text, 1, 0, 0),),
        (Sample(text, text, text),),
    )


@pytest.mark.parametrize(
    ("findings", "difference", "verdict"),
    [
        ((), NOTHING, "## No entry changes"),
        ((FINDING,), NOTHING, "## Not ready yet: 1 to fix"),
        ((), replace(NOTHING, sentences=Count("all", 1, 0, 0)), "## Ready for review"),
    ],
)
def test_verdict(findings: tuple[Finding, ...], difference: Difference, verdict: str) -> None:
    assert render_preview(findings, difference).split("\n\n")[:2] == [MARKER, verdict]


def test_missing_reviews() -> None:
    changes = (
        EntryChange("ability.x", "x", "added"),
        EntryChange("ability.y", "y", "moved"),
        EntryChange("age.z", "z", "reassessed"),
    )
    text = render_preview((), replace(NOTHING, entries=changes))
    assert "| `ability` | 2 |" in text
    assert "| `age` |" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    finding = Finding(text, 1, 1, text, "error", text, text, text)
    shown = render_preview((finding,) * 60, whole(text))
    assert len(shown) <= MAX_LENGTH + 200
    outside = without_code(shown)
    for mark in ("@", "javascript:", "https:", "onerror", "\u202e", "\u200b", "\x1b", "\r", "<img", "![", "]("):
        assert mark not in outside
    assert shown.count(MARKER) == 1
    assert html.unescape(outside) == outside


def without_code(markdown: str) -> str:
    """Text outside code spans; CommonMark delimits code spans with equal runs of backticks."""
    return re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)", "", markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_markup(text: str) -> None:
    """A Markdown parser finds the text only in code spans."""
    finding = Finding(text, 1, 1, text, "error", text, text, text)
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    inline = [t for token in parser.parse(render_preview((finding,), whole(text))) for t in token.children or ()]
    assert {t.type for t in inline} <= {"text", "code_inline", "strong_open", "strong_close", "softbreak"}
    assert any(plain(text) in t.content for t in inline if t.type == "code_inline")
    assert not any("octocat" in t.content or "://" in t.content for t in inline if t.type == "text")


@given(st.text(max_size=300))
def test_code_span_holds_any_text(text: str) -> None:
    span = code(text)
    assert without_code(f"a {span} b") == "a  b"
    assert "\n" not in span
    assert re.search(r"(?<!\\)\|", span) is None
    assert len(plain(text)) <= MAX_SHOWN + 1


def test_markdown_of_a_long_difference_is_cut() -> None:
    many = tuple(EntryChange(f"a.{i}", "x" * 150, "added") for i in range(5_000))
    assert len(render_preview((), replace(NOTHING, entries=many))) <= MAX_LENGTH + 200
    assert "and 4,800 more" in render_difference(replace(NOTHING, entries=many), "md")


def test_preview_of_terms_that_break_rules(terms_copy: Path, invoke: Callable[..., tuple[int, str, str]]) -> None:
    path = terms_copy / "descriptors" / "nonce.yaml"
    entry = "\n  - id: nonce.new\n    text: NEW\n    sources: [smith-2022]\n    since: 2.0.0\n"
    path.write_text(path.read_text("utf-8") + entry, "utf-8")
    code, out, _ = invoke("preview", "2.0.0", terms_copy, "--source", terms_copy)
    assert code == 0
    assert "## Not ready yet: 2 to fix" in out
    assert "`article-stated`" in out
    assert "`published-added`" in out
