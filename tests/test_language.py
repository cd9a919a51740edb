"""Plain English in every text that people read; `language.yaml` lists the phrases to avoid."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

import pytest
import yaml

RULES = yaml.safe_load(Path(__file__).with_name("language.yaml").read_text("utf-8"))
CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`]+\1(?!`)")  # inline code; fenced blocks are read
JINJA = re.compile(r"\{[{%#].*?[}%#]\}", re.DOTALL)


@dataclass(frozen=True)
class Phrase:
    """A phrase to avoid, and what to write instead."""

    pattern: re.Pattern[str]
    write: str


@dataclass(frozen=True)
class Passage:
    """A text that starts on a line of a file."""

    line: int
    text: str
    title: bool = False


def phrases(kind: str) -> list[Phrase]:
    """Phrases of the list `kind`: phrases or titles."""
    return [
        Phrase(re.compile(rule["pattern"].replace(" ", r"\s+"), re.IGNORECASE), rule["write"]) for rule in RULES[kind]
    ]


PHRASES = phrases("phrases")
TITLES = phrases("titles")


def listed(path: str, patterns: list[str]) -> bool:
    """Whether a path is in one of the folders, or matches one of the names."""
    return any(path.startswith(p) if p.endswith("/") else fnmatch(path, p) for p in patterns)


def comments(text: str) -> Iterator[Passage]:
    """Comments of YAML, read line by line; a quoted # counts as one."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(r"(?:^|\s)#(.*)", line):
            yield Passage(number, found[1])


def markdown(text: str) -> Iterator[Passage]:
    """The whole text, and its headings as titles."""
    yield Passage(1, text)
    for number, line in enumerate(text.splitlines(), 1):
        if heading := re.match(r"#{1,6} (.*)", line):
            yield Passage(number, heading[1], title=True)


def python(text: str) -> Iterator[Passage]:
    """Strings of more than one word, first lines of docstrings as titles, and blocks of comments."""
    nodes = list(ast.walk(ast.parse(text)))
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        match node:
            case ast.JoinedStr(values=values):
                written = "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in values)
                yield Passage(node.lineno, written)
            case ast.Constant(value=str(value)) if " " in value and id(node) not in parts:
                yield Passage(node.lineno, value)
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                if docstring := ast.get_docstring(node, clean=False):
                    yield Passage(node.body[0].lineno, docstring.split("\n")[0], title=True)
    yield from blocks(text) if "#" in text else ()  # tokens are slow


def blocks(text: str) -> Iterator[Passage]:
    """Comments of Python; those on consecutive lines are one passage."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [(token.start[0], token.string.lstrip("# ")) for token in tokens if token.type == tokenize.COMMENT]
    for _, block in groupby(enumerate(found), key=lambda item: item[1][0] - item[0]):
        lines = [line for _, line in block]
        yield Passage(lines[0][0], "\n".join(text for _, text in lines))


def without(code: re.Pattern[str], text: str) -> str:
    """The text with code blanked out; lines and columns stay."""
    return code.sub(lambda found: re.sub(r"\S", "~", found[0]), text)


def passages(path: str, text: str) -> Iterator[Passage]:
    """Passages of a file that people read."""
    if path.endswith(".py"):
        return python(text)
    if listed(path, RULES["comments_only"]):
        return comments(text)
    if path.endswith(".md"):
        return markdown(text)
    return iter([Passage(1, without(JINJA, text) if path.endswith(".jinja") else text)])


def faults(path: str, text: str) -> list[str]:
    """A line for each phrase to avoid: its place, the phrase, and what to write instead."""
    found = []
    for passage in passages(path, text):
        prose = without(CODE, passage.text)
        for phrase in TITLES if passage.title else PHRASES:
            for hit in [phrase.pattern.match(prose)] if passage.title else phrase.pattern.finditer(prose):
                if hit:
                    line = passage.line + prose.count("\n", 0, hit.start())
                    seen = " ".join(prose[max(hit.start() - 12, 0) : hit.end() + 12].split())
                    found.append(f"{path}:{line}: ... {seen} ...: write {phrase.write!r}")
    return found


def test_every_text_is_plain_english(root: Path) -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    tracked = subprocess.run(listing, cwd=root, capture_output=True, check=True, text=True).stdout.split("\0")
    read = [path for path in tracked if path and (root / path).is_file() and not listed(path, RULES["left_out"])]
    assert {"README.md", "Makefile", "tools/holisticbias/cli.py", "descriptors/age.yaml"} <= set(read)
    found = [fault for path in read for fault in faults(path, (root / path).read_text("utf-8", errors="replace"))]
    if found:
        pytest.fail(f"{len(found)} phrases to replace:\n" + "\n".join(found), pytrace=False)


@pytest.mark.parametrize("rule", [*RULES["phrases"], *RULES["titles"]], ids=lambda rule: rule["pattern"])
def test_a_phrase_matches_its_example_and_nothing_that_is_fine(rule: dict[str, str]) -> None:
    path = "doc.md"
    start = "# " if rule in RULES["titles"] else ""
    assert [fault.split("write ")[1] for fault in faults(path, start + rule["example"])] == [repr(rule["write"])]
    assert faults(path, start + rule.get("fine", "")) == []


def test_texts_of_a_file() -> None:
    expected = {
        ("doc.md", "One line.\nIt is\nnone."): [2],  # a phrase over two lines
        ("doc.md", "The key `mend` and ``is none``.\n```\n# anew\n```"): [3],  # inline code is not read, blocks are
        ("module.py", '"""Good."""\nx = ("is "\n     "none")'): [2],  # parts of a string
        ("module.py", 'x = f"{y} is none"'): [1],
        ("module.py", "x = f\"{'it is none' if y else z}\""): [1],
        ("module.py", 'x = {"mend": 1}'): [],  # one word: a key
        ("module.py", "x = 1\n# what is\n# none\n"): [2],  # a block of comments
        ("module.py", 'def f():\n    """How it works."""'): [2],
        ("module.py", 'x = """\nText\nis none\n"""'): [3],
        ("nouns/x.yaml", "text: is none  # is none"): [1],
        ("x.yaml", "text: is none  # is none"): [1, 1],
        ("Makefile", "# anew\n"): [1],
        ("page.html.jinja", "<p>\n{{ figure }} is none{% if x is none %}</p>"): [2],
    }
    assert {
        (path, text): [int(fault.split(":")[1]) for fault in faults(path, text)] for path, text in expected
    } == expected
