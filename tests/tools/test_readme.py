"""Examples in the README."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from folders import copy_terms
from repositories import commit_all


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text("utf-8")


def blocks(readme: str, language: str) -> list[str]:
    """Contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


def commands(readme: str) -> Iterator[tuple[str, str]]:
    """Each `holisticbias` command with an output, and the output."""
    for block in blocks(readme, "console"):
        for command in block.removeprefix("$ ").split("\n$ "):
            line, _, output = command.partition("\n")
            if line.startswith("holisticbias ") and output.strip():
                yield line.removeprefix("holisticbias "), output.strip()


def test_python_examples(readme: str) -> None:
    examples = blocks(readme, "python")
    assert examples
    for text in examples:
        example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
        assert doctest.DocTestRunner(verbose=False).run(example) == (0, len(example.examples))


def test_dataset_commands(
    readme: str,
    root: Path,
    tmp_path: Path,
    invoke: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run in a clone, in order; `...` matches any text."""
    monkeypatch.chdir(copy_terms(root, tmp_path / "terms"))
    commit_all(Path())
    run = [(line, output) for line, output in commands(readme) if line.split()[0] in {"build", "add", "diff"}]
    assert [line.split()[0] for line, _ in run] == ["build", "add", "diff"]
    for line, output in run:
        arguments = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]
        code, out, err = invoke(*arguments)
        assert code == 0, err
        assert re.fullmatch(re.escape(output).replace(r"\.\.\.", ".*"), out.strip(), re.DOTALL), out


def test_shares_of_the_embedded_model(readme: str, invoke: Callable[..., tuple[int, str, str]]) -> None:
    """The shares under `evaluate` are the ones in the registry."""
    [output] = [output for line, output in commands(readme) if line == "evaluate --release 1.0.0 --out RUN"]
    rows = re.findall(r"^ *(\w[\w ]*?)  +([\d.]+%)  +([\d.]+% to [\d.]+%)  +[\d.]+%  ", output, re.MULTILINE)
    assert len(rows) >= 3
    board = invoke("leaderboard", "--format", "md")[1].replace("\\", "")
    for axis, share, interval in rows:
        assert f"| {axis} | {share} [{interval}] |" in board
