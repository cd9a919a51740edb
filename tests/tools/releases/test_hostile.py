"""Releases made to hang, to take all memory, or to pass for a published version: their tables and their downloads."""

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tools.releases.conftest import Build
from tests.tools.releases.signed import sign, sign_digests, sign_rows

from holisticbias import open_release
from holisticbias.errors import HubError, ReleaseError
from holisticbias.release.bounded import check_parquet
from holisticbias.release.hub import Address, fetch_release
from holisticbias.release.manifest import file_entry
from holisticbias.release.verify import verify_release
from invoking import Invoke
from loopback_hub import Hub

Change = Callable[[pa.Table], pa.Table]


def write(path: Path, table: pa.Table, **settings: object) -> None:
    pq.write_table(table, path, **{"compression": "zstd", "store_schema": False, **settings})


def often(table: pa.Table, rows: int) -> pa.Table:
    return table.slice(0, 1).take(pa.array([0] * rows))


def long_text_in_each_row(path: Path, column: str) -> None:
    """A text of 500 kB, stored once, in 10,000 rows."""
    table = often(pq.read_table(path), 10_000)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array(["a" * 500_000]))
    write(path, table.set_column(table.column_names.index(column), column, text))


def shared_beginnings(path: Path) -> None:
    """Texts that are stored as what they add to the text before: nothing."""
    table = often(pq.read_table(path), 1000)
    coded = [name for name in table.column_names if name != "text"]
    texts = table.set_column(0, "text", pa.array(["a" * 10_000] * 1000))
    write(path, texts, use_dictionary=coded, column_encoding={"text": "DELTA_BYTE_ARRAY"})


def long_lists(path: Path) -> None:
    """Seven million values in two rows."""
    table = pq.read_table(path).slice(0, 2)
    numbers = pa.array(memoryview(bytearray(7_000_000)), pa.int8())
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 7_000_000], pa.int32()), numbers)
    write(path, table.append_column("more", lists))


def many_rows(path: Path) -> None:
    """Two hundred thousand rows in some kilobytes."""
    write(path, often(pq.read_table(path), 200_000))


def wide_rows(path: Path) -> None:
    """Texts of 20 MB in some kilobytes."""
    table = pq.read_table(path).slice(0, 2)
    write(path, table.set_column(0, "text", pa.array(["a" * 10_000_000, "b" * 10_000_000])), use_dictionary=False)


def labelled(content: bytes) -> Callable[[Path], None]:
    """The rows with this content where the files of datasets and of releases have JSON."""

    def change(path: Path) -> None:
        names = {b"huggingface": content, b"holisticbias": content}
        write(path, pq.read_table(path).replace_schema_metadata(names), store_schema=True)

    return change


def wrong_class(path: Path) -> None:
    """An axis by a number that no name has."""
    table = pq.read_table(path)
    numbers = pa.array([10**6] * table.num_rows, pa.int64())
    features = {"info": {"features": {"axis": {"_type": "ClassLabel", "names": ["ability"]}}}}
    classes = {**pq.read_schema(path).metadata, b"huggingface": json.dumps(features).encode()}
    write(path, of("axis", lambda _: numbers)(table).replace_schema_metadata(classes), store_schema=True)


def modest_footer(path: Path) -> None:
    """Two texts of 5 MB, of which the footer says that they have some bytes."""
    table = pq.read_table(path).slice(0, 2)
    texts = pa.array(["a" * 5_000_000, "b" * 5_000_000])
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


def wide(table: pa.Table) -> pa.Table:
    return table.append_column("more", pa.array([bytes(100_000)] * table.num_rows, pa.binary(100_000)))


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


def without(name: str) -> Change:
    return lambda table: table.drop_columns([name])


def of(name: str, values: Callable[[pa.Table], pa.Array]) -> Change:
    return lambda table: table.set_column(table.column_names.index(name), name, values(table))


def empty(name: str) -> Change:
    return of(name, lambda table: pa.nulls(table.num_rows, table[name].type))


def numbers(table: pa.Table) -> pa.Array:
    return pa.array(range(table.num_rows), pa.int64())


def twice(name: str) -> Change:
    return lambda table: table.append_column(name, table[name])


def not_utf8(name: str) -> Change:
    return of(name, lambda table: pa.array([b"\xff"] * table.num_rows).view(pa.string()))


def changed(change: Change) -> Callable[[Path], None]:
    """Write the changed table with the metadata of its file."""

    def write_changed(path: Path) -> None:
        metadata = pq.read_schema(path).metadata
        pq.write_table(change(pq.read_table(path)).replace_schema_metadata(metadata), path, store_schema=False)

    return write_changed


NO_NAMES = labelled(b'{"info": {"features": {"axis": {"_type": "ClassLabel", "names": 3}}}}')
# what is hostile, in which table, how it is made, and what is said
HOSTILE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "a long text in each row": ("sentences", lambda path: long_text_in_each_row(path, "text"), "expands from"),
    "a long descriptor": ("sentences", lambda path: long_text_in_each_row(path, "descriptor"), "expands from"),
    "shared beginnings": ("sentences", shared_beginnings, "DELTA_BYTE_ARRAY, which is not read"),
    "long lists": ("sentences", long_lists, "declares 7,000,0"),
    "a modest footer": ("sentences", modest_footer, "expands from"),
    "rows": ("sentences", many_rows, "declares 200,000 rows"),
    "texts": ("sentences", wide_rows, "expands from"),
    "metadata that is a list": ("sentences", labelled(b"[]"), "does not have the form of datasets"),
    "metadata that is not JSON": ("sentences", labelled(b"{"), "does not have the form of datasets"),
    "metadata nested deeply": ("sentences", labelled(b"[" * 100_000), "does not have the form of datasets"),
    "classes without names": ("sentences", NO_NAMES, "classes without names"),
    "a class that does not exist": ("sentences", wrong_class, "cannot be read"),
    "one column": ("sentences", lambda path: write(path, pa.table({"x": pa.array([1, 2])})), "has no column text"),
    "another type": ("sentences", changed(of("text", numbers)), "a column text of the type int64"),
    "without a bucket": ("sentences", changed(without("bucket")), "the table sentences has no column bucket"),
    "without labels": ("descriptors", changed(without("axis_label")), "the table descriptors has no column axis_label"),
    "without genders": ("nouns", changed(without("noun_gender")), "the table nouns has no column noun_gender"),
    "two columns text": ("sentences", changed(twice("text")), "the table sentences has 2 columns text"),
    "a wide column": ("sentences", changed(wide), "values of fixed length, which are too long"),
    "no texts": ("sentences", changed(empty("text")), "the table sentences has a row without text"),
    "no phrases": ("sentences", changed(empty("noun_phrase")), "the table sentences has a row without noun_phrase"),
    "descriptors without an axis": ("sentences", changed(empty("axis")), "a row with only one of axis and descriptor"),
    "nouns without an id": ("sentences", changed(empty("noun_id")), "a row with only one of noun and noun_id"),
    "axes without words": ("descriptors", changed(empty("axis_label")), "has a row without axis_label"),
    "texts that are not UTF-8": ("sentences", changed(not_utf8("text")), "UTF8"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_table_is_found_and_gives_no_row(build: Build, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """``verify`` finds it, and no row is given; memory does not depend on what a footer says, and nothing hangs.

    The limits are a tenth, so that a tenth of the bytes is made.
    """
    monkeypatch.setattr("holisticbias.release.bounded._SPARE", 100_000)
    folder = build()
    table, make, expected = HOSTILE[case]
    make(folder / f"data/{table}.parquet")
    sign_rows(folder)
    findings = verify_release(folder)
    assert any(expected in finding for finding in findings), findings
    with pytest.raises(ReleaseError, match=expected):
        _ = open_release(folder).tables[table]


def test_a_damaged_page_is_an_error_of_the_file(build: Build) -> None:
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


@pytest.mark.parametrize("label", ["[]", '{"version": [1]}', '{"version": {"a": 1}}', '{"version": null}'])
def test_a_label_of_another_form_is_no_fault(build: Build, label: str) -> None:
    """A file's version is text, or it has none."""
    folder = build()
    for path in (folder / "data").iterdir():
        table = pq.read_table(path)
        named = {**(table.schema.metadata or {}), b"holisticbias": label.encode()}
        pq.write_table(table.replace_schema_metadata(named), path)
    sign_rows(folder)
    assert verify_release(folder) == ()


SENTENCES = "data/sentences.parquet"


def test_a_part_with_other_sentences_is_found(tmp_path: Path, invoke: Invoke) -> None:
    """A part that is signed again is consistent with itself, and is not a part of the published version."""
    folder = tmp_path / "part"
    invoke.printed("build", "--version", "1.0.0", "--where", "axis=nonce", "--out", folder)
    assert verify_release(folder) == ()
    path = folder / SENTENCES
    changed(of("text", lambda table: pa.array(["other words"] * table.num_rows)))(path)
    sign_digests(folder)
    code, said, _ = invoke("verify", folder)
    assert (code, "is not the part axis=nonce of version 1.0.0 as it was published" in said) == (1, True), said
    sign(folder, lambda manifest: manifest.update(where=["axis=nothing"]))
    said = "version 1.0.0 has no such part (axis=nothing): --where axis=nothing: version 1.0.0 has no such axis"
    assert verify_release(folder)[0].startswith(f"{folder}: {said}")


def test_only_listed_files_are_downloaded(hub: Hub, build: Build) -> None:
    """A repository with a large file that its manifest does not list."""
    folder = build()
    (folder / "large.bin").write_bytes(b"x" * 100_000)
    publish_folder(folder)
    fetched = fetch_release(Address("org/terms", "0.2.0"))
    assert verify_release(fetched) == ()
    assert not (fetched / "large.bin").exists()
    assert file_entry(fetched / SENTENCES) == file_entry(folder / SENTENCES)


@pytest.mark.parametrize("name", [SENTENCES, "manifest.json"])
def test_a_larger_file_is_not_downloaded(hub: Hub, build: Build, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub says how large a file is before anything of it is sent."""
    folder = build()
    publish_folder(folder)
    if name == "manifest.json":
        monkeypatch.setattr("holisticbias.release.hub.LARGEST_MANIFEST", 100)
    else:
        files = hub.repositories["org/terms"].commits[hub.repositories["org/terms"].tags["v0.2.0"]]
        files[name] = replace(files[name], content=b"x" * 100_000)
    hub.requests.clear()
    with pytest.raises(ReleaseError, match=f"{name} has .* bytes, (not|more than)"):
        fetch_release(Address("org/terms", "0.2.0"))
    assert not [path for _, path in hub.requests if path.endswith(name) and "/resolve/" in path]


@pytest.mark.parametrize(
    "answer", [b"[" * 200_000, b"[]", b"null", b'{"siblings": 5}', b'{"siblings": [{}]}', b"<html>"]
)
def test_an_odd_answer_is_refused(hub: Hub, build: Build, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the Hub expects answers of one form."""
    publish_folder(build())
    monkeypatch.setattr("loopback_hub.as_json", lambda body, status=200: (status, {}, answer))
    with pytest.raises(HubError, match=r"the Hub at .* (cannot be used|did not answer with JSON)"):
        fetch_release(Address("org/terms", "0.2.0"))


def publish_folder(folder: Path) -> None:
    import huggingface_hub

    api = huggingface_hub.HfApi()
    api.create_repo("org/terms", repo_type="dataset")
    api.upload_folder(repo_id="org/terms", repo_type="dataset", folder_path=folder)
    api.create_tag("org/terms", repo_type="dataset", tag="v0.2.0")
