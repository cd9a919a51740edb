"""The comment on a contribution: contents, and escaping of untrusted text."""

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from folders import replaced
from full_disk import full_disk
from holisticbias.compile.sentence_changes import ChangedSentence
from holisticbias.contribute.diff import Difference, EntryChange, SentenceCount
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.markdown import MAX_LENGTH, MAX_SHOWN, code, plain
from holisticbias.contribute.preview import MARKER, Checks, Preview, Suggestion, render_preview, suggestions
from holisticbias.source.addresses import REPOSITORY
from holisticbias.source.findings import Finding
from invoking import Invoke

NOTHING = Difference("2.0.0", "2.1.0", (), SentenceCount("all", 0, 0, 0), (), (), ())
ADDED = replace(NOTHING, sentences=SentenceCount("all", 1, 0, 0))
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
    entry = EntryChange(text, text, "reworded", ((text, text, text),), text)
    count, sentence = SentenceCount(text, 1, 0, 0), ChangedSentence(text, text, text)
    return Difference(text, text, (entry,), SentenceCount(text, 1, 1, 1), (count,), (count,), (sentence,))


NOT_YET = "## Ready for review, not yet to merge:"


@pytest.mark.parametrize(
    ("checks", "difference", "verdict"),
    [
        (Checks(), NOTHING, "## No entry changes"),
        (Checks((FINDING,)), NOTHING, "## Not ready yet: 1 to fix"),
        (Checks((replace(FINDING, level="warning"),)), NOTHING, "## Ready for review"),
        (Checks(conflicts=("a.yaml",)), ADDED, "## Not ready yet: 1 to fix"),
        (Checks((FINDING,), layout=("a.yaml",)), ADDED, "## Not ready yet: 1 to fix"),
        (Checks(layout=("a.yaml",)), ADDED, f"{NOT_YET} the layout"),
        (Checks(generated=("a.yml",)), ADDED, f"{NOT_YET} generated files"),
        (Checks(number="low", generated=("a",)), ADDED, f"{NOT_YET} generated files, the version number"),
        (Checks(), ADDED, "## Ready for review"),
        (Checks(), replace(NOTHING, entries=(EntryChange("a.b", "x", "reassessed"),)), "## Ready for review"),
    ],
)
def test_verdict_is_over_all_that_ci_checks(checks: Checks, difference: Difference, verdict: str) -> None:
    assert render_preview(Preview(checks, difference)).split("\n\n")[:2] == [MARKER, verdict]


def hostile_checks(text: str, findings: int) -> Checks:
    """Checks in which every text is the given text."""
    finding = Finding(text, 1, 1, text, "error", text, text, text)
    return Checks((finding,) * findings, (text,), (text,), (text,), text, (text,))


def without_code(markdown: str) -> str:
    """Text outside code spans and blocks, which CommonMark delimits with equal runs of backticks."""
    outside = re.sub(r"^(`{3,})\n.*?\n\1$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)", "", outside)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    """It is in code spans alone, also for a Markdown parser."""
    shown = render_preview(Preview(hostile_checks(text, 60), whole(text), (), (Suggestion(text, 1, 2, (text, text)),)))
    assert len(shown) <= MAX_LENGTH + 200
    outside = without_code(shown).replace(REPOSITORY, "").replace("[Reviewing](", "")
    for mark in ("@", "javascript:", "https:", "onerror", "\u202e", "\u200b", "\x1b", "\r", "<img", "![", "]("):
        assert mark not in outside
    assert shown.count(MARKER) == 1
    assert html.unescape(outside) == outside
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parsed = parser.parse(render_preview(Preview(hostile_checks(text, 1), whole(text))))
    inline = [part for token in parsed for part in token.children or ()]
    assert all(str(part.attrGet("href")).startswith(REPOSITORY) for part in inline if part.type == "link_open")
    marks = {"text", "code_inline", "strong_open", "strong_close", "softbreak", "link_open", "link_close"}
    assert {part.type for part in inline} <= marks
    assert any(plain(text) in part.content for part in inline if part.type == "code_inline")
    assert not any("octocat" in part.content or "://" in part.content for part in inline if part.type == "text")


@given(st.text(max_size=300))
def test_code_span_holds_any_text(text: str) -> None:
    span = code(text)
    assert without_code(f"a {span} b") == "a  b"
    assert "\n" not in span
    assert re.search(r"(?<!\\)\|", span) is None
    assert len(plain(text)) <= MAX_SHOWN + 1


def test_markdown_of_a_long_difference_is_cut() -> None:
    many = tuple(EntryChange(f"a.{i}", "x" * 150, "added") for i in range(5_000))
    assert len(render_preview(Preview(Checks(), replace(NOTHING, entries=many)))) <= MAX_LENGTH + 200
    assert "and 4,800 more" in render_difference(replace(NOTHING, entries=many), "md")


def shown_preview(invoke: Invoke, before: Path, folder: Path) -> str:
    return invoke.printed("preview", before, folder, "--source", folder)


TAIL = "    sources: [contributors]\n    since: next\n"
SHOWN = [
    "`I'm a person with vertigo.`",
    "`I have friends who are people with vertigo.`",
    "`ability.deaf on the axis Ability has the text 'Deaf' too.`",
    "`without a noun`",
    "**Objections on record.**",
    "- `'crippled' is a word to avoid according to the Disability",
    "`I'm an elder.`",
    "`I have friends who are elders.`",
    "Good day, I am a Deaf person.",
    "Good day, I am an amputee.",
    "Good day, I am Deaf.",
    "  Gender; since next; sources: contributors",
    "group: American actors  [bold.american-actors]",
    "continuation: cuts panes and sings.",
]
"""Parts of the preview of the entries in ``tests/data/additions``."""


def test_what_there_is_to_review(data: Path, terms_copy: Path, unchanged: Path, invoke: Invoke) -> None:
    """Added entries in sentences or parts, and a judgement with the label that follows."""
    shutil.copytree(data / "additions", terms_copy, dirs_exist_ok=True)
    judged = "      - {{judgement: accepted, reviewer: {}, date: 2026-01-02, since: next}}\n"
    text = f"    text: blicket\n    assessments:\n{judged.format('rv-1')}{judged.format('rv-2')}"
    replaced(terms_copy / "descriptors" / "nonce.yaml", "    text: blicket\n", text)
    out = shown_preview(invoke, unchanged, terms_copy)
    assert "## Ready for review" in out
    assert [text for text in SHOWN if text not in out] == []
    assert "Community preference: `no_data` -> `reviewed`\n\n- new: `accepted` by `rv-1`, `en-US`, `" in out
    back = shown_preview(invoke, terms_copy, unchanged)
    assert "Community preference: `reviewed` -> `no_data`\n\n- gone: `accep" in back


def test_entries_that_break_rules_and_a_specification_filled_in(
    terms_copy: Path, unchanged: Path, invoke: Invoke
) -> None:
    nonce = terms_copy / "descriptors" / "nonce.yaml"
    entry = "\n  - id: nonce.new\n    text: NEW\n    sources: [smith-2022]\n    since: 2.0.0\n"
    nonce.write_text(nonce.read_text("utf-8") + entry, "utf-8")
    path = terms_copy / "specifications" / "stereotypes.yaml"
    replaced(path, "The [T:noun] is interested in [A].", "The [T:noun] enjoys [A].")
    out = shown_preview(invoke, unchanged, terms_copy)
    assert "## Not ready yet: 3 to fix" in out
    pages = "https://github.com/holisticbias/holisticbias/blob/main/docs/rules"
    assert f"[`article-stated`]({pages}/article-stated.md)" in out
    assert "`published-added`" in out
    assert re.search(r"^    The \w+ enjoys \w+\.$", out, re.MULTILINE)
    replaced(nonce, "    text: blicket\n", "    text: 5\n")
    out = shown_preview(invoke, unchanged, terms_copy)
    assert ("every sentence is unchanged" in out, "`nonce.blicket in " in out) == (False, True), "its schema is broken"


@pytest.mark.parametrize("text", ["label: Age", "- a", "date: 2026-02-30"])
def test_a_file_without_its_keys_is_not_compared(terms_copy: Path, unchanged: Path, invoke: Invoke, text: str) -> None:
    (terms_copy / "descriptors" / "age.yaml").write_text(text, "utf-8")
    for command in ("preview", "diff"):
        out = invoke(command, unchanged, terms_copy, "--source", terms_copy)[1]
        assert "every sentence is unchanged" not in out
        assert ("ot compared" in out, "age.yaml" in out) == (True, True)


def test_layout_is_suggested_and_is_not_the_work_of_the_contributor(
    terms_copy: Path, unchanged: Path, tmp_path: Path, invoke: Invoke
) -> None:
    path = terms_copy / "descriptors" / "nonce.yaml"
    entry = f"  - text: calm\n    id: nonce.calm\n{TAIL}"
    path.write_text(path.read_text("utf-8") + entry, "utf-8")
    written = tmp_path / "suggestions.json"
    command = ("preview", unchanged, terms_copy, "--suggestions", written, "--source", terms_copy)
    with full_disk(1):
        errors = invoke.refused(*command)
    assert (errors.count("\n"), written.exists()) == (1, False)
    out = invoke.printed(*command)
    assert "## Ready for review, not yet to merge: the layout" in out
    (comment,) = json.loads(written.read_text("utf-8"))
    suggested = re.fullmatch(r".*```suggestion\n(.*)```", comment["body"], re.DOTALL)
    assert suggested
    lines = path.read_text("utf-8").split("\n")
    lines[comment.get("start_line", comment["line"]) - 1 : comment["line"]] = suggested[1].split("\n")[:-1]
    path.write_text("\n".join(lines), "utf-8")
    assert invoke("fmt", "--check", path)[0] == 0


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_suggestions_make_one_text_the_other(old: list[str], new: list[str]) -> None:
    lines = list(old)
    made = list(suggestions("a", "\n".join(old), "\n".join(new)))
    for s in reversed(made):
        assert 1 <= s.first <= s.last <= len(old)
        lines[s.first - 1 : s.last] = s.lines
    assert lines == new
