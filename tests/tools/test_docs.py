"""The documentation: links that work on GitHub work in it, each tag has its own, and a broken link fails."""

import json
import re
from pathlib import Path

import pytest
from docs.build import ROOT, build_all, prepare
from markdown_it import MarkdownIt

from repositories import commit_all, git

pytest.importorskip("zensical")
GITHUB = "https://github.com/holisticbias/holisticbias/blob"


def made(root: Path, pages: dict[str, str]) -> Path:
    for name, text in {"README.md": "# Start\n", **pages}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


@pytest.mark.parametrize(
    ("path", "text", "written"),
    [
        ("README.md", "[x](docs/a.md#b)", ("index.md", "[x](a.md#b)")),
        ("README.md", "[x](SECURITY.md)", ("index.md", "[x](project/security.md)")),
        ("SECURITY.md", "[x](docs/rules/README.md)", ("project/security.md", "[x](../rules/index.md)")),
        ("docs/a.md", "[x](../README.md), [y](rules/)", ("a.md", "[x](index.md), [y](rules/index.md)")),
        ("docs/a.md", "[x](../code/x.py)", ("a.md", f"[x]({GITHUB}/v1.0.0/code/x.py)")),
        ("docs/rules/r.md", "![x](../../code/x.svg)", ("rules/r.md", "![x](../files/code/x.svg)")),
        ("docs/a.md", "[x](#y) [z](https://example.org/a.md)", ("a.md", "[x](#y) [z](https://example.org/a.md)")),
    ],
)
def test_links(tmp_path: Path, path: str, text: str, written: tuple[str, str]) -> None:
    others = dict.fromkeys(("SECURITY.md", "docs/a.md", "docs/rules/README.md", "code/x.py", "code/x.svg"), "")
    root = made(tmp_path / "root", {**others, path: text})
    assert prepare(root, tmp_path / "docs", "v1.0.0") == []
    assert (tmp_path / "docs" / written[0]).read_text("utf-8") == written[1]
    assert (tmp_path / "docs" / "files" / "code" / "x.svg").is_file() == ("svg" in text)


@pytest.mark.parametrize("link", ["d.md", "../code.py", "../../../etc/passwd", "b.md#c"])
def test_a_broken_link_fails_with_its_place(tmp_path: Path, link: str) -> None:
    root = made(tmp_path / "root", {"docs/a.md": f"# A\n\n[x]({link})\n", "docs/b.md": "# B\n"})
    with pytest.raises(SystemExit) as raised:
        build_all(tmp_path / "out", root)
    said = "anchor does not exist" if link == "b.md#c" else f"docs/a.md: the link {link} leads nowhere"
    assert said in str(raised.value)
    assert "a.md" in str(raised.value)


def test_each_tag_has_its_own_documentation(tmp_path: Path) -> None:
    """A link that was broken at the tag does not fail; a page of the settings that a tree lacks is left out."""
    root = made(tmp_path / "root", {"docs/releases.md": "# Old\n\n[gone](gone.md)\n"})
    commit_all(root)
    git(root, "tag", "v1.0.0")
    made(root, {"docs/releases.md": "# New\n"})
    build_all(tmp_path / "out", root)
    titles = {version: (tmp_path / "out" / version / "releases.html").read_text("utf-8") for version in VERSIONS}
    assert ["New<a" in titles["latest"], "Old<a" in titles["1.0.0"]] == [True, True]
    for version in VERSIONS:
        assert "colours.css" in (tmp_path / "out" / version / "index.html").read_text("utf-8")
        assert (tmp_path / "out" / version / "colours.css").is_file()
    listed = json.loads((tmp_path / "out" / "versions.json").read_text("utf-8"))
    assert [version["version"] for version in listed] == VERSIONS
    assert "latest/index.html" in (tmp_path / "out" / "index.html").read_text("utf-8")


VERSIONS = ["latest", "1.0.0"]


def test_the_documentation_reads_as_on_github(tmp_path: Path) -> None:
    """It has no broken link, loads nothing from elsewhere, and has the list items and tables that GitHub shows."""
    prepare(ROOT, tmp_path / "docs", "main")
    build_all(tmp_path / "out")
    reader = MarkdownIt("commonmark").enable("table")
    for page in (tmp_path / "docs").rglob("*.md"):
        path = (tmp_path / "out" / "latest" / page.relative_to(tmp_path / "docs")).with_suffix(".html")
        html = path.read_text("utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]* src="https?:|<link rel="stylesheet" href="https?:', html)
        article = html[html.index("<article") : html.index("</article>")].partition('<div class="doc ')[0]
        expected = reader.render(page.read_text("utf-8").partition("\n::: ")[0])  # what follows is from docstrings
        for tag in ("<li", "<td", "<pre"):
            assert article.count(tag) == expected.count(tag), f"{page.name}: {tag}"
