"""Many small shards become few, whatever happens meanwhile; a reader gets what it asks for."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from holisticbias_eval.models.store import shards
from holisticbias_eval.models.store.shards import ShardStore
from killed import begun, ended, killed_before

SCHEMA = pa.schema([("text", pa.large_string()), ("value", pa.int64())])
ROWS = pa.table({"text": [f"Text {i}" for i in range(400)], "value": list(range(400))}, schema=SCHEMA)


def store_in(folder: Path) -> ShardStore:
    return ShardStore(folder, SCHEMA, ("text",), {"model": "tiny"}, print)


def fill(folder: Path, size: int = 4) -> ShardStore:
    store = store_in(folder)
    for start in range(0, ROWS.num_rows, size):
        store.write(ROWS.slice(start, size))
    return store


def shards_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.parquet"))


def values(table: pa.Table) -> list[int]:
    found: list[int] = sorted(table["value"].to_pylist())
    return found


@pytest.mark.parametrize(("size", "left"), [(4, 1), (10, 40)])
def test_small_shards_are_merged_if_there_are_many(tmp_path: Path, size: int, left: int) -> None:
    store = fill(tmp_path, size)
    assert values(store.read()) == list(range(400))
    assert len(shards_in(tmp_path)) == left
    assert values(store_in(tmp_path).read()) == list(range(400))


def test_a_batch_of_rows_is_one_merged_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_ROWS_AT_ONCE", 100)
    store = fill(tmp_path)
    assert values(store.read()) == list(range(400))
    assert len(shards_in(tmp_path)) == 4
    assert values(store.read()) == list(range(400))


def test_a_key_in_two_shards_is_kept_once_when_they_are_merged(tmp_path: Path) -> None:
    store = fill(tmp_path)
    store.write(pa.table({"text": ["Text 7", "Text 8"], "value": [7, 8]}, schema=SCHEMA))
    store.read()
    assert values(store.read()) == list(range(400))


@pytest.mark.parametrize(
    "asked", [[], ["Text 3"], ["Text 399", "Text 0", "not there"], [f"Text {i}" for i in range(400)]]
)
def test_only_rows_that_are_asked_for_are_read(tmp_path: Path, asked: list[str]) -> None:
    store = fill(tmp_path)
    wanted = pa.table({"text": pa.array(asked, pa.large_string())})
    for _ in range(2):  # before and after the shards were merged
        found = store.read(wanted)
        assert found.schema == SCHEMA
        assert values(found) == values(ROWS.filter(pc.is_in(ROWS["text"], wanted["text"].combine_chunks())))


@pytest.mark.parametrize("change", [0, 1, 2, 3, 50, 101])  # the new shard is opened, named; 100 others are removed
def test_a_process_that_merges_may_be_killed_at_any_moment(tmp_path: Path, change: int) -> None:
    fill(tmp_path)
    assert killed_before(change, store_in(tmp_path).read)
    assert len(shards_in(tmp_path)) == (100 if change < 2 else 103 - change)
    found = store_in(tmp_path).read()
    assert {*values(found)} == {*range(400)}
    assert store_in(tmp_path).missing(ROWS, found).tolist() == []


def test_a_merge_makes_no_other_changes(tmp_path: Path) -> None:
    fill(tmp_path)
    assert not killed_before(102, store_in(tmp_path).read)
    assert len(shards_in(tmp_path)) == 1


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
    assert {*values(store_in(tmp_path).read())} == {*range(400)}


def test_two_processes_that_merge_at_once_lose_no_row(tmp_path: Path) -> None:
    fill(tmp_path)
    processes = [begun(store_in(tmp_path).read) for _ in range(3)]
    assert [ended(process) for process in processes] == [0, 0, 0]
    assert {*values(store_in(tmp_path).read())} == {*range(400)}


def test_shards_of_a_folder_that_cannot_be_written_to_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path)

    def refuse(path: Path, mode: str = "r") -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", lambda path: os.pread(os.open(path, os.O_RDONLY), 1 << 20, 0))
    assert values(store.read()) == list(range(400))
    assert len(shards_in(tmp_path)) == 100
