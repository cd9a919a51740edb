"""Version 1.0.0 and its small part; digests of rows, whatever their storage; the commit of the terms."""

import ast
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.errors import HolisticBiasError, ReleaseError
from holisticbias.release.release import Release
from holisticbias.release.source_commit import COMMIT, source_commit
from holisticbias.source.folder import NAMES
from repositories import commit_all, git

SMALL_DIGEST = "8e30f1d24b61323575bbe00843db0b2a27107aa2c315a34763c20a1f78d38c89"


def test_the_small_part_of_a_release_is_its_small_build(release: Release, small_release: Release) -> None:
    assert small_release.digest == SMALL_DIGEST, "subset, grammar or digest changed: say so in the change log"
    part = release.small()
    assert (part.digest, part.manifest.part, part.version) == (SMALL_DIGEST, "small", "1.0.0")
    assert part.manifest.digests == {name: table_digest(table) for name, table in part.tables.items()}
    with pytest.raises(ReleaseError, match="has no small part: name a whole release"):
        part.small()


def test_a_sample_is_a_function_of_its_seed_and_nested(small_release: Release) -> None:
    hundred = small_release.sample(100, seed=7)
    assert hundred.equals(small_release.sample(100, seed=7))
    assert hundred.slice(0, 40).equals(small_release.sample(40, seed=7))
    assert not hundred.equals(small_release.sample(100, seed=8))
    rows, ids = small_release.sentences.num_rows, small_release.sentences["sentence_id"].to_pylist()
    everything = small_release.sample(rows, seed=1)["sentence_id"].to_pylist()
    assert everything != ids
    assert sorted(everything) == sorted(ids)
    for n in (-1, rows + 1):
        with pytest.raises(HolisticBiasError, match="cannot draw"):
            small_release.sample(n, seed=1)
    of_numpy: Any = np.int64(7)
    assert hundred.equals(small_release.sample(100, seed=of_numpy))
    not_whole: tuple[Any, ...] = (None, "7", 7.0)
    for wrong in not_whole:
        with pytest.raises(HolisticBiasError, match="n and seed must be whole numbers"):
            small_release.sample(1, seed=wrong)
    for seed in (0, -1, 2**64 + 5):
        assert small_release.sample(0, seed=seed, stylistic_variants=True).num_rows == 0
        assert small_release.sample(3, seed=seed).num_rows == 3


def test_sample_draws_evenly(small_release: Release) -> None:
    """Half of the rows in 40 samples are from the first half of the table, within five standard deviations."""
    half = small_release.sentences.num_rows // 2
    early = set(small_release.sentences["sentence_id"].slice(0, half).to_pylist())
    drawn = sum(i in early for seed in range(40) for i in small_release.sample(50, seed)["sentence_id"].to_pylist())
    assert abs(drawn - 1_000) < 5 * (2_000 * 0.25) ** 0.5


TYPES = {
    "text": (pa.string(), st.text(max_size=5)),
    "large": (pa.large_string(), st.text(max_size=5)),
    "view": (pa.string_view(), st.text(max_size=20)),
    "flag": (pa.bool_(), st.booleans()),
    "whole": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "list": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=3), max_size=3)),
    "record": (
        pa.struct([("a", pa.string()), ("b", pa.bool_())]),
        st.fixed_dictionaries({"a": st.none() | st.text(max_size=3), "b": st.none() | st.booleans()}),
    ),
}


def slow_digest(table: pa.Table) -> str:
    """The definition in ``table_digest``, computed value by value."""
    lines = ""
    for name in table.column_names:
        lengths, values = b"", b""
        for value in table[name].to_pylist():
            text = written(value)
            lengths += (-1 if text is None else len(text)).to_bytes(4, "little", signed=True)
            values += text or b""
        lines += f"{name} {hashlib.sha256(lengths + values).hexdigest()}\n"
    return hashlib.sha256(lines.encode()).hexdigest()


def written(value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Up to four columns of any type: chunked, sliced, some dictionary-encoded."""
    rows = draw(st.integers(0, 12))
    columns = {}
    for n in range(draw(st.integers(1, 4))):
        kind, values = TYPES[draw(st.sampled_from(sorted(TYPES)))]
        before, after = draw(st.integers(0, 9)), draw(st.integers(0, 3))
        size = before + rows + after
        array = pa.array(draw(st.lists(st.none() | values, min_size=size, max_size=size)), kind)
        if kind in (pa.string(), pa.large_string()) and draw(st.booleans()):
            array = array.dictionary_encode()
        array = array.slice(before, rows)
        cut = draw(st.integers(0, rows))
        columns[f"c{n}"] = pa.chunked_array([array.slice(0, cut), array.slice(cut)], array.type)
    return pa.table(columns)


@settings(deadline=None)
@given(tables())
def test_fast_digest_is_the_slow_one(table: pa.Table) -> None:
    assert table_digest(table) == slow_digest(table)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with committed terms."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    write_terms(tmp_path)
    commit_all(tmp_path)
    return tmp_path


def write_terms(folder: Path) -> None:
    (folder / "descriptors").mkdir(parents=True)
    (folder / "descriptors" / "age.yaml").write_text("axis: age\n", "utf-8")
    (folder / "sources.yaml").write_text("sources: []\n", "utf-8")


@pytest.mark.parametrize(
    ("name", "changed"),
    [("notes.txt", False), ("descriptors/age.yaml", True), ("descriptors/new.yaml", True), ("sources.yaml", True)],
)
def test_only_changed_terms_are_at_no_commit(repository: Path, name: str, changed: bool) -> None:
    head = git(repository, "rev-parse", "HEAD")
    assert source_commit(repository, NAMES) == head
    (repository / name).write_text("changed\n", "utf-8")
    assert source_commit(repository, NAMES) == (None if changed else head)


def test_terms_that_the_repository_around_them_does_not_keep_are_at_none_of_its_commits(repository: Path) -> None:
    """A virtual environment in another project, ignored by git."""
    (repository / ".gitignore").write_text(".venv\n", "utf-8")
    installed = repository / ".venv" / "data"
    write_terms(installed)
    assert source_commit(installed, NAMES) is None
    (installed / COMMIT).write_text("0123abcd\n", "utf-8")
    assert source_commit(installed, NAMES) == "0123abcd"


def test_terms_outside_of_git_are_at_no_commit(tmp_path: Path) -> None:
    write_terms(tmp_path / "terms")
    assert source_commit(tmp_path / "terms", NAMES) is None


def test_a_wheel_carries_all_the_terms(root: Path) -> None:
    (terms,) = (
        node.value
        for node in ast.parse((root / "hatch_build.py").read_text("utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TERMS"
    )
    assert ast.literal_eval(terms) == NAMES


def test_digest_by_hand() -> None:
    table = pa.table({"a": ["é", None, ""], "b": [True, False, None]})
    a = hashlib.sha256(bytes([2, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]) + b"\xc3\xa9").hexdigest()
    b = hashlib.sha256(bytes([4, 0, 0, 0, 5, 0, 0, 0, 255, 255, 255, 255]) + b"truefalse").hexdigest()
    assert table_digest(table) == hashlib.sha256(f"a {a}\nb {b}\n".encode()).hexdigest()
    assert release_digest({"y": "1", "x": "2"}) == hashlib.sha256(b"x 2\ny 1\n").hexdigest()
