"""The store holds the rows of any stage: here responses of a model to prompts, and labels of texts."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias.errors import OutputError
from holisticbias_eval.models.store import shards
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from killed import begun, ended, killed_before

RESPONSES = pa.schema(
    [("prompt", pa.large_string()), ("seed", pa.int64()), ("sample", pa.int32()), ("text", pa.large_string())]
)
LABELS = pa.schema([("text", pa.large_string()), ("label", pa.string()), ("probability", pa.float64())])
PROMPTS = [(f"Prompt {i}", seed, sample) for i in range(20) for seed in (1, 2) for sample in range(3)]


def store_in(folder: Path, notices: list[str] | None = None) -> ShardStore:
    keys, said = ("prompt", "seed", "sample"), [] if notices is None else notices
    return ShardStore(folder / "responses", RESPONSES, keys, {"model": "tiny"}, said.append)


def asked(keys: Sequence[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"prompt": prompt, "seed": seed, "sample": sample} for prompt, seed, sample in keys],
        pa.schema(list(RESPONSES)[:3]),
    )


def answered(rows: pa.Table, author: str = "") -> pa.Table:
    texts = [f"{author}{row['prompt']} {row['seed']} {row['sample']}" for row in rows.to_pylist()]
    return rows.append_column("text", pa.array(texts, pa.large_string()))


def respond(folder: Path, rows: pa.Table, block: int = 7) -> None:
    """Answer the keys that the store lacks, block by block."""
    store = store_in(folder)
    missing = rows.take(store.missing(rows, store.read()))
    for start in range(0, len(missing), block):
        store.write(answered(missing.slice(start, block)))


def test_rows_are_found_by_their_key_columns(tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), asked(PROMPTS)
    assert store.missing(rows, store.read()).tolist() == list(range(len(PROMPTS)))
    respond(tmp_path, rows.slice(30, 50))
    held = store.read()
    assert held.schema == RESPONSES
    assert store.missing(rows, held).tolist() == [*range(30), *range(80, len(PROMPTS))]
    some = rows.take([79, 30, 41, 30])
    assert store.look_up(some, held).equals(answered(some))
    with pytest.raises(KeyError, match="2 of 3 keys are not held"):
        store.look_up(rows.take([0, 30, 1]), held)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", 1, 1), ("a", 1, 2)),
        (("a 1", 1, 1), ("a", 1, 1)),
        (("", 1, 1), (None, 1, 1)),
        (("a", None, 1), ("a", 1, None)),
        (("a", 11, 1), ("a", 1, 11)),
        (("a 2", 3, 4), ("a", 23, 4)),
        (("é", 1, 1), ("e", 1, 1)),
    ],
)
def test_different_keys_are_kept_apart(one: tuple[Any, ...], other: tuple[Any, ...], tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.missing(asked([one, other]), answered(asked([one]))).tolist() == [1]
    first, which = distinct_rows(asked([one, other, one, other]))
    assert (first.tolist(), which.tolist()) == ([0, 1], [0, 1, 0, 1])


def test_labels_have_another_schema_and_key(tmp_path: Path) -> None:
    store = ShardStore(tmp_path, LABELS, ("text",), {"classifier": "tiny"}, print)
    rows = pa.Table.from_pylist([{"text": t, "label": "positive", "probability": 0.5} for t in ("one", "two")], LABELS)
    store.write(rows)
    assert store.read().equals(rows)
    assert store.missing(rows.select(["text"]), store.read()).tolist() == []
    (shard,) = tmp_path.glob("*.parquet")
    assert pq.read_schema(shard).metadata[b"classifier"] == b"tiny"


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b[:0], lambda b: b[:40] + b"x" + b[41:]])
def test_only_the_rows_of_a_damaged_shard_are_lost(tmp_path: Path, damage: Any) -> None:
    notices: list[str] = []
    store, rows = store_in(tmp_path, notices), asked(PROMPTS)
    respond(tmp_path, rows, 60)
    shard = min(store.folder.glob("*.parquet"))
    shard.write_bytes(damage(shard.read_bytes()))
    assert len(store.missing(rows, store.read())) == 60
    assert len(notices) == 1
    assert "differs from its checksum" in notices[0]
    respond(tmp_path, rows)
    assert store.look_up(rows, store.read()).equals(answered(rows))


def test_a_damaged_shard_may_be_removed_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    respond(tmp_path, asked(PROMPTS), 60)
    gone = min((tmp_path / "responses").glob("*.parquet"))
    read = Path.read_bytes

    def read_after_removal(path: Path) -> bytes:
        gone.unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_after_removal)
    assert store_in(tmp_path).read().num_rows == 60


def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    rows = asked(PROMPTS)
    for change in (0, 1, 2, 7, 30, 31):
        for shard in list(tmp_path.rglob("*.parquet"))[5:]:
            shard.unlink()
        assert killed_before(change, lambda: respond(tmp_path, rows, 3))
    respond(tmp_path, rows)
    found = store_in(tmp_path).read()
    assert sorted(found["text"].to_pylist()) == sorted(answered(rows)["text"].to_pylist())


def test_two_writers_of_the_same_rows(tmp_path: Path) -> None:
    rows = asked(PROMPTS)
    processes = [
        begun(lambda: respond(tmp_path, rows, 3)),
        begun(lambda: respond(tmp_path, rows.slice(40), 3)),
    ]
    assert [ended(process) for process in processes] == [0, 0]
    store = store_in(tmp_path)
    assert store.look_up(rows, store.read()).equals(answered(rows))
    store.write(answered(rows.slice(0, 1), "another "))
    assert store.look_up(rows.slice(0, 1), store.read())["text"].to_pylist()[0] in {
        "Prompt 0 1 0",
        "another Prompt 0 1 0",
    }


def test_half_written_shards_are_not_read_and_removed_when_they_are_old(tmp_path: Path) -> None:
    row = answered(asked(PROMPTS[:1])).slice(0, 1)
    made = store_in(tmp_path).write(row)
    content = made.read_bytes()
    for name, age in ((".new.tmp", 0), (".old.tmp", shards._STALE_SECONDS + 60)):
        (made.parent / name).write_bytes(content[: len(content) // 2])
        os.utime(made.parent / name, (time.time() - age,) * 2)
    assert store_in(tmp_path).read()["text"].to_pylist() == row["text"].to_pylist()
    assert {path.name for path in made.parent.iterdir()} == {".new.tmp", made.name}


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "responses").write_text("mine", "utf-8")
    with pytest.raises(OutputError, match=r"cannot write to the store .*responses"):
        store_in(tmp_path).write(answered(asked(PROMPTS[:1])))


def test_a_fingerprint_does_not_depend_on_the_order_of_its_content() -> None:
    assert fingerprint({"a": 1, "b": {"c": None}}) == fingerprint({"b": {"c": None}, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": "1"})
