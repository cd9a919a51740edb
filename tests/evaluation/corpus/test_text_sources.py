"""Documents are read from files and datasets, in any compression, and damage costs only itself."""

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.corpus.sources import DocumentReading, find_sources, size
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.content import DamagedError, read_chunks, read_lines, split_lines

zst = zstandard.ZstdCompressor().compress
small_bz2 = partial(bz2.compress, compresslevel=1)  # blocks of 100 kB, of which a cut file has several
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".zst": zst, ".gz": gzip.compress, ".bz2": small_bz2, ".xz": lzma.compress, "": bytes,
}  # fmt: skip


def read(*names: Path | str, **more: object) -> tuple[DocumentReading, list[tuple[str, str]]]:
    """The reading, and each document's place and text; documents with the letter q are not wanted."""
    reading = DocumentReading(lambda document: b"q" not in document)
    for name, value in more.items():
        setattr(reading, name, value)
    sources = find_sources([str(name) for name in names], Path("out.jsonl"))
    documents = [one for source in sources for one in source.documents(reading)]
    return reading, [(one.place, one.text) for one in documents]


@given(st.lists(st.text(alphabet="ab\r", max_size=6)), st.lists(st.integers(1, 5), min_size=1), st.booleans())
def test_lines(lines: list[str], sizes: list[int], ended: bool) -> None:
    """Chunks of any sizes; a line of more than four bytes is null."""
    content = "\n".join(lines).encode() + b"\n" * ended
    chunks: list[bytes] = []
    at = 0
    while at < len(content):
        step = sizes[len(chunks) % len(sizes)]
        chunks.append(content[at : at + step])
        at += step
    expected = content.split(b"\n")
    expected = expected[:-1] if expected[-1] == b"" else expected
    found = list(split_lines(iter(chunks), longest=4))
    assert found == [None if len(line) > 4 else line.removesuffix(b"\r") for line in expected]


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_in_several_frames(tmp_path: Path, suffix: str) -> None:
    """Larger than one read, and with the padding that some programs write."""
    lines = [os.urandom(30).hex().encode() for _ in range(3000)]
    half = b"\n".join(lines[:1500]) + b"\n"
    padding = b"\0" * 4 if suffix in {".gz", ".xz"} else b""
    path = tmp_path / "any"
    path.write_bytes(PACK[suffix](half) + PACK[suffix](b"\n".join(lines[1500:])) + padding)
    counts: list[int] = []
    assert list(read_lines(path, counts.append)) == lines
    assert sum(counts) == path.stat().st_size
    for start in (0, 10, 150_000):
        assert b"".join(read_chunks(path, counts.append, start)) == b"\n".join(lines)[start:]


@pytest.mark.parametrize("suffix", [one for one in PACK if one])
def test_a_cut_file(tmp_path: Path, suffix: str) -> None:
    """The lines before the cut are read."""
    lines = [os.urandom(30).hex().encode() for _ in range(6_000)]
    path = tmp_path / f"cut.txt{suffix}"
    packed = PACK[suffix](b"\n".join(lines))
    path.write_bytes(packed[: len(packed) * 3 // 4])
    found: list[bytes | None] = []
    with pytest.raises(DamagedError, match="ends in the middle"):
        found.extend(read_lines(path, lambda _: None))
    reading, documents = read(path)
    assert reading.damaged == [
        "cut.txt" + suffix + ": its compressed data ends in the middle; what was read before is kept"
    ]
    assert 0 < len(documents) < len(lines)
    assert [text.encode() for _, text in documents] == lines[: len(documents)]


@pytest.mark.parametrize("suffix", [one for one in PACK if one])
def test_a_damaged_file(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACK[suffix](os.urandom(300_000)))
    packed[20_000:280_000] = bytes(255 for _ in range(260_000))
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(packed)
    reading, _ = read(path)
    assert [one for one in reading.damaged if "damaged" in one or "middle" in one]


@pytest.mark.parametrize("suffix", PACK)
def test_json_lines(tmp_path: Path, suffix: str) -> None:
    lines = [
        b'\xef\xbb\xbf{"body": "one"}', b"", b'{"text": "two", "id": "x"}', b"not json q", b'{"body": q}',
        b'{"body": "q"}', b'{"body": wrong}', b"[1]", b'{"title": "no text"}', b'{"body": "\xff"}', b"[" * 100_000,
        b'{"comment": "last"}',
    ]  # fmt: skip
    path = tmp_path / f"RC_2022-01.jsonl{suffix}"
    path.write_bytes(PACK[suffix](b"\r\n".join(lines)))
    reading, documents = read(path)
    name = path.name
    assert documents == [(f"{name}:1", "one"), (f"{name}:3", "two"), (f"{name}:12", "last")]
    assert (reading.documents, reading.bad, reading.first_bad) == (11, 5, f"{name}:4: not a JSON object")
    assert (reading.without_text, reading.with_text, dict(reading.fields)) == (1, 3, {"title": 1})


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a", "a.zst"])
def test_a_json_array(tmp_path: Path, name: str) -> None:
    rows: list[object] = [{"body": "one"}, 2, {"body": "q"}, {"title": "no text"}, {"text": "t\u2028o\n", "id": "x"}]
    content = b"\xef\xbb\xbf\n " + json.dumps(rows, indent=1).encode()
    pack = PACK.get(Path(name).suffix, bytes)
    for whole in (content, content.replace(b"\n", b"")):
        (tmp_path / name).write_bytes(pack(whole))
        reading, documents = read(tmp_path / name, paragraphs=True)
        assert documents == [(f"{name}:1", "one"), (f"{name}:5", "t\u2028o\n")]
        assert (reading.documents, reading.bad, reading.first_bad) == (5, 1, f"{name}:2: not a JSON object")
        assert (reading.without_text, reading.damaged) == (1, [])
    (tmp_path / name).write_bytes(pack(content[:-5]))
    reading, documents = read(tmp_path / name)
    assert documents == [(f"{name}:1", "one")]
    assert reading.damaged[0].startswith(f"{name}: item 5 of its array is not valid JSON (")


def test_a_bracket_on_the_first_line(tmp_path: Path) -> None:
    """A line that is not an array of objects costs only itself."""
    (tmp_path / "a.jsonl").write_text('[deleted]\n{"body": "one"}\n')
    (tmp_path / "b").write_text("\n[deleted]\none\n")
    assert read(tmp_path / "a.jsonl")[1] == [("a.jsonl:2", "one")]
    assert read(tmp_path / "b")[1] == [("b:2", "[deleted]"), ("b:3", "one")]


def test_a_file_whose_name_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "RC_2022-01.zst").write_bytes(zst(b'{"body": "one"}\n'))
    (tmp_path / "b.zst").write_bytes(zst(b"{one}\ntwo\n"))
    (tmp_path / "c.zst").write_bytes(zst(b"one\n{two}\n"))
    assert read(tmp_path / "RC_2022-01.zst", paragraphs=True)[1] == [("RC_2022-01.zst:1", "one")]
    assert read(tmp_path / "b.zst")[0].bad == 2
    assert [text for _, text in read(tmp_path / "c.zst")[1]] == ["one", "{two}"]


def test_a_line_or_a_paragraph_that_is_too_long_is_left_out_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holisticbias_eval.corpus.sources.LONGEST", 8)
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\nfive5\nsix66\nten\n\ntwo\n")
    reading, documents = read(path, paragraphs=True)
    assert documents == [("a.txt:1", "one"), ("a.txt:7", "two")]
    assert (reading.documents, reading.bad, reading.first_bad) == (3, 1, "a.txt:3: longer than 16 MiB")


def test_lines_and_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n one\ntwo\n \n\nthree\nqu\n\nfour\xff\nfive\n")
    reading, documents = read(path)
    assert documents == [("a.txt:2", " one"), ("a.txt:3", "two"), ("a.txt:6", "three"), ("a.txt:10", "five")]
    assert (reading.documents, reading.with_text, reading.bad, reading.first_bad) == (6, 4, 1, "a.txt:9: not UTF-8")
    reading, documents = read(path, paragraphs=True)
    assert documents == [("a.txt:2", " one\ntwo")]
    assert (reading.documents, reading.first_bad) == (3, "a.txt:9: not UTF-8")


def test_folders_and_equal_names(tmp_path: Path) -> None:
    """A folder is read without the files of earlier retrievals."""
    retrieved = ("a/out.jsonl", "a/new.jsonl", "a/new.jsonl.retrieval.json", "a/old.jsonl", "a/old.retrieval.json")
    records = ("a/x.parquet.retrieval.json", "a/x.retrieval.json")
    for name in ("a/x.txt", "b/x.txt", "a/.hidden/y.txt", "a/z.bin", *retrieved, *records):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    sources = find_sources([str(tmp_path / "a"), str(tmp_path / "a")], tmp_path / "a" / "out.jsonl")
    assert [one.name for one in sources] == ["x.txt"]
    assert size(sources) == len("a/x.txt")
    both = find_sources([str(tmp_path / "a" / "x.txt"), str(tmp_path / "b")], tmp_path / "o.csv")
    assert [one.name for one in both] == [(tmp_path / one / "x.txt").as_posix() for one in "ab"]
    assert [one.name for one in find_sources([str(tmp_path / "a" / "old.jsonl")], tmp_path / "o.csv")] == ["old.jsonl"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", "does not exist"),
        ("empty", "has no files to read"),
        ("a.parquet", "put it into a folder and name that hub:FOLDER"),
        ("a.csv.gz", "put it into a folder and name that hub:FOLDER"),
        ("hub:", "does not name a dataset"),
        ("hub:a/b:c:d:e", "does not name a dataset"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    for table in ("a.parquet", "a.csv.gz", "empty/a.csv.gz"):
        (tmp_path / table).touch()
    with pytest.raises(CorpusError, match=message):
        find_sources([name if name.startswith("hub:") else str(tmp_path / name)], tmp_path / "o.csv")


def test_a_dataset_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    for split, rows in (("train", ["one", "q", None]), ("test", ["two"])):
        lines = (json.dumps({"id": f"{split}{i}", "text": text}) for i, text in enumerate(rows))
        (tmp_path / f"{split}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    reading, documents = read(f"hub:{tmp_path}")
    assert sorted(documents) == [(f"hub:{tmp_path}:test:1", "two"), (f"hub:{tmp_path}:train:1", "one")]
    assert (reading.documents, reading.without_text) == (4, 1)
    assert read(f"hub:{tmp_path}:default:test")[1] == [(f"hub:{tmp_path}:default:test:1", "two")]
    with pytest.raises(CorpusError, match="cannot be read as a dataset"):
        read(f"hub:{tmp_path}::other")


def test_a_dataset_that_breaks_off(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "two"\n' * 3)
    reading, documents = read(f"hub:{tmp_path}")
    assert [text for _, text in documents] == ["one"]
    assert "broke off after 1 rows" in reading.damaged[0]
