"""Examples in the README, and the counts that it shares with the output of build and the dataset card."""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from folders import copy_terms
from holisticbias import build_release, write_release
from holisticbias.compile.counts import SENTENCES, WHY, Count, count_texts
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from invoking import Invoke
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
    readme: str, root: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run in a clone, in order; `...` matches any text."""
    monkeypatch.chdir(copy_terms(root, tmp_path / "terms"))
    commit_all(Path())
    run = [(line, output) for line, output in commands(readme) if line.split()[0] in {"build", "add", "diff"}]
    assert [line.split()[0] for line, _ in run] == ["build", "add", "diff"]
    for line, output in run:
        arguments = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]
        out = invoke.printed(*arguments).strip()
        assert re.fullmatch(re.escape(output).replace(r"\.\.\.", ".*"), out, re.DOTALL), out


def test_shares_of_the_embedded_model(readme: str, invoke: Invoke) -> None:
    """The shares under `evaluate` are the ones in the registry."""
    [output] = [output for line, output in commands(readme) if line == "evaluate --release 1.0.0 --out RUN"]
    rows = re.findall(r"^ *(\w[\w ]*?)  +([\d.]+%)  +([\d.]+% to [\d.]+%)  +[\d.]+%  ", output, re.MULTILINE)
    assert len(rows) >= 3
    board = invoke("leaderboard", "--format", "md")[1].replace("\\", "")
    for axis, share, interval in rows:
        assert f"| {axis} | {share} [{interval}] |" in board


PAPER = (
    Count("descriptors", 598, 594),
    Count("sentences with a descriptor and a noun", 462_878, 459_758),
    Count("sentences with a descriptor alone", 8_908, 8_840),
    Count("sentences with a noun alone", 780, 780),
    Count("all sentences", 472_566, 469_378),
)
_ROW = re.compile(r"^\| ([a-z ]+) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)


def tabled(markdown: str) -> tuple[Count, ...]:
    return tuple(Count(what, *(int(n.replace(",", "")) for n in numbers)) for what, *numbers in _ROW.findall(markdown))


def test_counts_of_the_card_are_those_of_the_sentences(catalog: Catalog, tmp_path: Path) -> None:
    made = build_release(catalog, catalog.versions[-1], "small")
    kinds = made.sentences["noun_phrase_type"].cast(pa.string())
    counted = {count.what: (count.rows, count.texts) for count in made.counts}
    for what, chosen in SENTENCES.items():
        texts = made.sentences["text"].filter(pc.is_in(kinds, pa.array(chosen)))
        assert counted.get(what, (0, 0)) == (len(texts), len(texts.unique()))
    write_release(made, tmp_path / "release")
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    assert (tabled(card), WHY in card) == (made.counts, True)


def test_the_documents_have_the_counts_of_the_release(root: Path, release: Release) -> None:
    counts = count_texts(release.tables)
    guide = (root / "docs" / "releases.md").read_text("utf-8")
    assert tabled(guide) == counts == PAPER
    of = {count.what: count for count in counts}
    parts = [
        f"{of['descriptors'].texts:,} descriptors",
        f"{len(set(release.tables['descriptors']['axis'].to_pylist()))} axes",
        f"{release.tables['nouns'].num_rows} nouns",
        f"{release.tables['templates'].num_rows} templates",
        f"{of['sentences with a descriptor and a noun'].texts:,} sentences with a descriptor and a noun",
    ]
    readme = " ".join((root / "README.md").read_text("utf-8").split())
    assert [part for part in parts if part not in readme] == []
    under_two = of["descriptors"].rows - of["descriptors"].texts
    assert under_two == 4
    assert 'Four descriptors, such as "queer", belong to two axes.' in guide


def test_build_prints_rows_and_texts(invoke: Invoke, tmp_path: Path) -> None:
    out = invoke.printed("build", "--version", "1.0.0", "--where", "axis=nonce", "--out", tmp_path / "part")
    # 8 words with 30 nouns in 26 templates, alone in 17; the nouns alone
    assert out.splitlines()[1:] == [
        "",
        "       rows      texts",
        "          8          8  descriptors",
        "      6,240      6,240  sentences with a descriptor and a noun",
        "        136        136  sentences with a descriptor alone",
        "        780        780  sentences with a noun alone",
        "      7,156      7,156  all sentences",
    ]
