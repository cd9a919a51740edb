"""The store keeps rows of any key and schema; shards are merged, and any process may be killed at any moment."""

import errno
import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import Mock, patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holisticbias.errors import OutputError
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.store import keys as key_places
from holisticbias_eval.models.store import shards
from holisticbias_eval.models.store.keys import KeyPlaces, distinct_rows
from holisticbias_eval.models.store.shards import ShardStore, fingerprint, stored_values
from killed import begun, ended, killed_before
from known import ignore

Key: TypeAlias = "tuple[object, ...]"
KEYS = pa.schema([("text", pa.large_string()), ("start", pa.int32()), ("context", pa.large_string())])
SCHEMA = pa.schema([("text", pa.large_string()), ("value", pa.int64())])
ROWS = pa.table({"text": [f"Text {i}" for i in range(400)], "value": list(range(400))}, schema=SCHEMA)
ALL = list(range(400))
TEXTS = st.one_of(st.none(), st.text("ab\x00é🙂", max_size=5))
MANY_KEYS = st.lists(
    st.tuples(TEXTS, st.one_of(st.none(), st.integers(-1, 3)), TEXTS), max_size=40
)  # Python hashes -1 as -2


def store_in(folder: Path, notices: list[str] | None = None) -> ShardStore:
    said: list[str] = [] if notices is None else notices
    return ShardStore(folder / "rows", SCHEMA, ("text",), {"model": "tiny"}, said.append)


def fill(folder: Path, size: int = 4, rows: pa.Table = ROWS) -> ShardStore:
    """Write the rows that the store lacks, a few at once."""
    store = store_in(folder)
    missing = rows.take(pa.array(read_values(store, rows)[1]))
    for start in range(0, missing.num_rows, size):
        store.write(missing.slice(start, size))
    return store


def read_values(store: ShardStore, rows: pa.Table) -> tuple[Floats, Ints]:
    """The values of rows of keys, NaN for a key that the store does not hold, and the places of such keys."""
    found: list[Ints] = []

    def compute(places: Ints) -> Iterator[tuple[Ints, Floats]]:
        found.append(places)
        return iter(())

    return stored_values(store, rows, 1, compute, lambda _: None), found[0]


def shards_in(folder: Path) -> list[Path]:
    return list((folder / "rows").glob("*.parquet"))


def values(store: ShardStore) -> list[int]:
    found: list[int] = sorted(store.read()["value"].to_pylist())
    return found


def keyed(keys: Sequence[Key]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(KEYS.names, key, strict=True)) for key in keys], KEYS)


@given(MANY_KEYS, MANY_KEYS, st.integers(0, 3))
@example([("word " * i, i, "") for i in range(50)], [("word", 1, "")], 0)
def test_places_are_those_of_a_dictionary(asked: list[Key], sought: list[Key], cut: int) -> None:
    asked = list(dict.fromkeys(asked))[cut:]
    places = {key: place for place, key in enumerate(asked)}
    sliced = keyed([(None, None, None), *sought, *asked]).slice(1)
    expected = [places.get(key, -1) for key in (*sought, *asked)]
    with patch.object(key_places, "_HASHED_AT_ONCE", 7):
        assert KeyPlaces(keyed(asked), KEYS.names).find(sliced).tolist() == expected
    first, which = distinct_rows(keyed([*sought, *asked]))
    assert [[*sought, *asked][row] for row in first] == list(dict.fromkeys([*sought, *asked]))
    assert [[*sought, *asked][first[row]] for row in which] == [*sought, *asked]


def test_texts_with_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_places, "_hashes", lambda rows: np.zeros(rows.num_rows, np.int64))
    found = KeyPlaces(keyed([("a", 0, ""), ("b", 0, "")]), KEYS.names).find(keyed([(x, 0, "") for x in "bac"]))
    assert found.tolist() == [-1, 0, -1]


@pytest.mark.parametrize("asked", [[], [3], [399, 0, 1000], ALL])
def test_only_rows_that_are_asked_for_are_read(tmp_path: Path, asked: list[int]) -> None:
    store = fill(tmp_path)
    store.write(pa.table({"text": ["Text 3"], "value": [3]}, schema=SCHEMA))  # held twice
    wanted = pa.table({"text": pa.array([f"Text {i}" for i in asked], pa.large_string())})
    for _ in range(2):  # before and after the shards were merged
        found, missing = read_values(store, wanted)
        assert missing.tolist() == [place for place, i in enumerate(asked) if i not in ALL]
        assert np.delete(found, missing, 0).ravel().tolist() == [i for i in asked if i in ALL]
    (shard, *_) = shards_in(tmp_path)
    assert pq.read_schema(shard).metadata[b"model"] == b"tiny"


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b[:0], lambda b: b[:40] + b"x" + b[41:]])
def test_only_the_rows_of_a_damaged_shard_are_lost(tmp_path: Path, damage: Any) -> None:
    fill(tmp_path, 60)
    shard = min(shards_in(tmp_path))
    lost = pq.read_metadata(shard).num_rows
    shard.write_bytes(damage(shard.read_bytes()))
    notices: list[str] = []
    store = store_in(tmp_path, notices)
    assert len(read_values(store, ROWS)[1]) == lost
    (notice,) = notices
    assert "differs from its checksum" in notice
    assert values(fill(tmp_path)) == ALL


def with_its_digest(path: Path, content: bytes) -> None:
    path.with_name(f"{hashlib.sha256(content).hexdigest()}.parquet").write_bytes(content)


def of_another_store(path: Path) -> None:
    other = ShardStore(path.parent, KEYS, ("text",), {}, ignore)
    other.write(keyed([("a", 1, "b")]))


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (Path.mkdir, "cannot be read: it is not a regular file; move it out of the store"),
        (os.mkfifo, "cannot be read: it is not a regular file; move it out of the store"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links; move it"),
        (lambda path: with_its_digest(path, b"no table"), "cannot be read: Parquet"),
        (of_another_store, "has other columns than its store: move it out of the store"),
    ],
)
def test_what_is_no_shard_is_one_line(tmp_path: Path, place: Callable[[Path], object], says: str) -> None:
    fill(tmp_path, 200)
    place(tmp_path / "rows" / "mine.parquet")
    with pytest.raises(EvaluationError, match=f"rows/.*parquet {says}"):
        store_in(tmp_path).read()


def test_a_damaged_shard_may_be_removed_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, 200)
    gone, read = min(shards_in(tmp_path)), Path.read_bytes

    def read_after_removal(path: Path) -> bytes:
        gone.unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_after_removal)
    assert store_in(tmp_path).read().num_rows == 200


def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    rows, chance = ROWS.slice(0, 120), random.Random(7)  # noqa: S311 - moments of killing, not secrets
    for _ in range(int(os.environ.get("HOLISTICBIAS_KILLS", "6"))):
        for shard in shards_in(tmp_path)[5:]:
            shard.unlink()
        assert killed_before(chance.randrange(32), lambda: fill(tmp_path, 3, rows))
    assert values(fill(tmp_path, 3, rows)) == ALL[:120]


def test_two_writers_of_the_same_rows(tmp_path: Path) -> None:
    processes = [begun(lambda: fill(tmp_path)), begun(lambda: fill(tmp_path, 3, ROWS.slice(200)))]
    assert [ended(process) for process in processes] == [0, 0]
    assert read_values(store_in(tmp_path), ROWS)[0].ravel().tolist() == ALL


def test_half_written_shards_are_not_read_and_removed_when_they_are_old(tmp_path: Path) -> None:
    made = store_in(tmp_path).write(ROWS.slice(0, 1))
    content = made.read_bytes()
    for name, age in ((".new.tmp", 0), (".old.tmp", shards._STALE_SECONDS + 60)):
        (made.parent / name).write_bytes(content[: len(content) // 2])
        os.utime(made.parent / name, (time.time() - age,) * 2)
    assert values(store_in(tmp_path)) == [0]
    assert {path.name for path in made.parent.iterdir()} == {".new.tmp", made.name}


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("mine", "utf-8")
    with pytest.raises(OutputError, match=r"cannot write to the store .*rows"):
        store_in(tmp_path).write(ROWS)


def test_a_read_only_folder_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    """It is read all the same, if it holds all that is asked."""
    store, compute = fill(tmp_path, rows=ROWS.slice(0, 8)), Mock()
    with patch.object(os, "access", return_value=False):
        assert stored_values(store, ROWS.slice(0, 8), 1, lambda _: iter(()), lambda _: None).ravel().tolist() == ALL[:8]
        with pytest.raises(OutputError, match=r"cannot write to the store .*rows: it is read-only; .* --store"):
            stored_values(store, ROWS.slice(0, 9), 1, compute, lambda _: None)
    compute.assert_not_called()


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(OSError(errno.ENOSPC, "No space left on device"), OutputError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_write_that_is_cut_short_leaves_nothing(
    tmp_path: Path, raised: BaseException, expected: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = store_in(tmp_path).write(ROWS.slice(0, 1))
    monkeypatch.setattr(os, "fsync", Mock(side_effect=raised))
    with pytest.raises(expected):
        store_in(tmp_path).write(ROWS)
    assert list(made.parent.iterdir()) == [made]


def test_a_fingerprint_does_not_depend_on_the_order_of_its_content() -> None:
    assert fingerprint({"a": 1, "b": {"c": None}}) == fingerprint({"b": {"c": None}, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": "1"})


@pytest.mark.parametrize(("size", "at_once", "left"), [(4, 10**6, 1), (10, 10**6, 40), (4, 100, 4)])
def test_small_shards_are_merged_if_there_are_many(
    tmp_path: Path, size: int, at_once: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "_ROWS_AT_ONCE", at_once)
    store = fill(tmp_path, size)
    store.write(pa.table({"text": ["Text 7", "Text 8"], "value": [7, 8]}, schema=SCHEMA))  # in two shards
    assert {*values(store)} == {*ALL}
    assert len(shards_in(tmp_path)) == left + (left == 40)
    assert values(store) == ALL or left != 1, "merged, a key is kept once"


@pytest.mark.parametrize("change", [0, 1, 2, 3, 50, 101, 102])  # the new shard is opened, named; 100 others are removed
def test_a_process_that_merges_may_be_killed_at_any_moment(tmp_path: Path, change: int) -> None:
    fill(tmp_path)
    assert killed_before(change, store_in(tmp_path).read) is (change < 102)
    assert len(shards_in(tmp_path)) == (100 if change < 2 else 103 - change)
    assert {*values(store_in(tmp_path))} == {*ALL}


def test_a_reader_finds_rows_that_another_process_merges_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    read, merged = Path.read_bytes, False

    def read_after_a_merge(path: Path) -> bytes:
        nonlocal merged
        if not merged:
            merged = True
            store_in(tmp_path).read()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_after_a_merge)
    assert {*values(store_in(tmp_path))} == {*ALL}


def test_shards_of_a_folder_that_cannot_be_written_to_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path)

    def refuse(path: Path, mode: str = "r") -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", lambda path: os.pread(os.open(path, os.O_RDONLY), 1 << 20, 0))
    assert values(store) == ALL
    assert len(shards_in(tmp_path)) == 100
