"""Tables whose footers say less than their pages hold, and tables without columns or values that something reads."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias import open_release
from holisticbias.errors import ReleaseError
from holisticbias.release.bounded import check_parquet
from holisticbias.release.verify import verify_release
from signed import sign_rows

Build = Callable[..., Path]
Change = Callable[[pa.Table], pa.Table]


def write(path: Path, table: pa.Table, **settings: object) -> None:
    pq.write_table(table, path, **{"compression": "zstd", "store_schema": False, **settings})


def often(table: pa.Table, rows: int) -> pa.Table:
    return table.slice(0, 1).take(pa.array([0] * rows))


def long_text_in_each_row(path: Path, column: str) -> None:
    """A text of 5 MB, stored once, in 100,000 rows."""
    table = often(pq.read_table(path), 100_000)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["a" * 5_000_000]))
    write(path, table.set_column(table.column_names.index(column), column, text))


def shared_beginnings(path: Path) -> None:
    """Texts that are stored as what they add to the text before: nothing."""
    table = often(pq.read_table(path), 1000)
    coded = [name for name in table.column_names if name != "text"]
    texts = table.set_column(0, "text", pa.array(["a" * 10_000] * 1000))
    write(path, texts, use_dictionary=coded, column_encoding={"text": "DELTA_BYTE_ARRAY"})


def long_lists(path: Path) -> None:
    """Seventy million values in two rows."""
    table = pq.read_table(path).slice(0, 2)
    numbers = pa.array(memoryview(bytearray(70_000_000)), pa.int8())
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 70_000_000], pa.int32()), numbers)
    write(path, table.append_column("more", lists))


def modest_footer(path: Path) -> None:
    """Two texts of 50 MB, of which the footer says that they have some bytes."""
    table = pq.read_table(path).slice(0, 2)
    texts = pa.array(["a" * 50_000_000, "b" * 50_000_000])
    write(path, table.set_column(0, "text", texts), use_dictionary=False, write_statistics=False)
    group = pq.read_metadata(path).row_group(0)
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - length : -8]
    for size in {group.total_byte_size, group.column(0).total_uncompressed_size}:
        assert number(size) in footer
        footer = footer.replace(number(size), number(5000, len(number(size))))
    path.write_bytes(content[: -8 - length] + footer + content[-8:])
    assert pq.read_metadata(path).row_group(0).total_byte_size == 5000


def number(value: int, length: int = 0) -> bytes:
    """A number in Thrift's compact form, of at least this length."""
    value, made = value << 1, bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    while len(made) < length:
        made[-1] |= 128
        made.append(0)
    return bytes(made)


BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a long text in each row": (lambda path: long_text_in_each_row(path, "text"), "expands from"),
    "a long descriptor in each row": (lambda path: long_text_in_each_row(path, "descriptor"), "expands from"),
    "shared beginnings": (shared_beginnings, "DELTA_BYTE_ARRAY, which is not read"),
    "long lists": (long_lists, "declares 70,000,0"),
    "a modest footer": (modest_footer, "expands from"),
}


def assert_found(folder: Path, table: str, expected: str) -> None:
    sign_rows(folder)
    findings = verify_release(folder)
    assert any(expected in finding for finding in findings), findings
    with pytest.raises(ReleaseError, match=expected):
        _ = open_release(folder).tables[table]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb(build: Build, bomb: str) -> None:
    """The memory of a table does not depend on what its footer says."""
    folder = build()
    make, expected = BOMBS[bomb]
    make(folder / "data/sentences.parquet")
    assert_found(folder, "sentences", expected)


def test_a_damaged_page(build: Build) -> None:
    """A page whose header is damaged is an error of the file, and no other exception, whatever the damage."""
    path = build() / "data/nouns.parquet"
    content, refused = path.read_bytes(), 0
    for place in range(4, 400, 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            check_parquet(path).read()
        except (OSError, pa.ArrowException):
            refused += 1
    assert refused > 10


def without(name: str) -> Change:
    return lambda table: table.drop_columns([name])


def of(name: str, values: Callable[[pa.Table], pa.Array]) -> Change:
    return lambda table: table.set_column(table.column_names.index(name), name, values(table))


def empty(name: str) -> Change:
    return of(name, lambda table: pa.nulls(table.num_rows, table[name].type))


def twice(name: str) -> Change:
    return lambda table: table.append_column(name, table[name])


def not_utf8(name: str) -> Change:
    return of(name, lambda table: pa.array([b"\xff"] * table.num_rows).view(pa.string()))


CHANGES: dict[str, tuple[str, Change, str]] = {
    "without a bucket": ("sentences", without("bucket"), "the table sentences has no column bucket"),
    "without labels": ("descriptors", without("axis_label"), "the table descriptors has no column axis_label"),
    "without genders": ("nouns", without("noun_gender"), "the table nouns has no column noun_gender"),
    "two columns text": ("sentences", twice("text"), "the table sentences has 2 columns text"),
    "no texts": ("sentences", empty("text"), "the table sentences has a row without text"),
    "no phrases": ("sentences", empty("noun_phrase"), "the table sentences has a row without noun_phrase"),
    "descriptors without an axis": ("sentences", empty("axis"), "a row with only one of axis and descriptor"),
    "nouns without an id": ("sentences", empty("noun_id"), "a row with only one of noun and noun_id"),
    "axes without words": ("descriptors", empty("axis_label"), "the table descriptors has a row without axis_label"),
    "texts that are not UTF-8": ("sentences", not_utf8("text"), "UTF8"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change(build: Build, case: str) -> None:
    """``verify`` finds a column or a value that something reads and that is not there."""
    folder = build()
    table, change, expected = CHANGES[case]
    path = folder / f"data/{table}.parquet"
    metadata = pq.read_schema(path).metadata
    pq.write_table(change(pq.read_table(path)).replace_schema_metadata(metadata), path, store_schema=False)
    assert_found(folder, table, expected)


@pytest.mark.parametrize("label", ["[]", '{"version": [1]}', '{"version": {"a": 1}}', '{"version": null}'])
def test_a_label_of_another_form(build: Build, label: str) -> None:
    """A file's version is text, or it has none."""
    folder = build()
    for path in (folder / "data").iterdir():
        table = pq.read_table(path)
        named = {**(table.schema.metadata or {}), b"holisticbias": label.encode()}
        pq.write_table(table.replace_schema_metadata(named), path)
    sign_rows(folder)
    assert verify_release(folder) == ()
