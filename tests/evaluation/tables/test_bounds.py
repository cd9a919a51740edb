"""Files that are made to take all memory or time, or to end the process, are refused in one line and soon."""

import base64
import gzip
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from tests.evaluation.tables.written import write

import holisticbias_eval as hbe
from holisticbias_eval.corpus.annotation_files import read_label_files
from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.judgements.key import read_key
from holisticbias_eval.prompts.bold_files import read_bold_folder
from holisticbias_eval.stereotypes.specifications import from_published
from holisticbias_eval.tables.content import LONGEST, text_lines
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.judging import count_corpus
from holisticbias_eval.tasks.multiwoz import read_multiwoz

FORM = Form("texts", columns("text", "text", need=True), others=True)
TEXTS = Form("texts", columns("text", "text", need=True))
ROW = {"text": "They are kind."}


def parquet(folder: Path, table: pa.Table, **options: object) -> Path:
    pq.write_table(table, folder / "t.parquet", **options)
    return folder / "t.parquet"


def many_rows(folder: Path) -> Path:
    return parquet(folder, pa.table({"text": ["They are kind."] * 3_000_000}))


def long_texts(folder: Path) -> Path:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["a" * 5_000_000]))
    return parquet(folder, pa.table({"text": texts}), store_schema=False, compression="zstd")


def wide_parquet(folder: Path) -> Path:
    return parquet(folder, pa.table({"text": ["a"], **{f"c{i}": [1] for i in range(10_000)}}))


def wide_csv(folder: Path) -> Path:
    return write(folder, "t.csv", b"text," + b"".join(b"c%d," % i for i in range(1_000_000)) + b"x\n")


def wide_rows(folder: Path) -> Path:
    rows = ({"text": "a", **{f"{i}.{j}": 1 for j in range(1_000)}} for i in range(11))
    return write(folder, "t.jsonl", "\n".join(map(json.dumps, rows)).encode())


def sparse_rows(folder: Path) -> Path:
    rows = b"".join(b'{"text":"","c%d":1}\n' % (i % 9_000) for i in range(20_000))
    return write(folder, "t.jsonl", rows)


def newlines(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        start = b"text\na\n" if suffix == ".csv" else b'{"text": "a"}\n'
        return write(folder, f"t{suffix}.gz", gzip.compress(start + b"\n" * 110_000_000))

    return make


def long_line(folder: Path) -> Path:
    return write(folder, "t.jsonl", b'{"text": "' + b"a" * (1 << 25) + b'"}\n')


class Keys(pe.KmsClient):  # type: ignore[misc]
    """Keys that anyone may read."""

    def wrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64encode(key)


def encrypted(folder: Path) -> Path:
    factory = pe.CryptoFactory(lambda _: Keys())
    settings = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["text"]}, plaintext_footer=True, double_wrapping=False
    )
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), settings)
    return parquet(folder, pa.table(ROW | {"text": ["a"]}), encryption_properties=properties)


def wide_cells(folder: Path) -> Path:
    return parquet(folder, pa.table({"text": ["a"], "cells": pa.array([b"a" * 100_000], pa.binary(100_000))}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (wide_cells, "has the column cells with values of fixed length, which are too long"),
        (many_rows, "declares 3,000,000 rows"),
        (long_texts, "expands from"),
        (wide_parquet, "has 10,001 columns; at most 10,000 are read"),
        (wide_csv, "has a header of over 1,048,576 bytes"),
        (wide_rows, "has 11,001 columns; at most 10,000 are read"),
        (sparse_rows, "has 20,000 rows with 9,001 different keys: it is not read"),
        (newlines(".csv"), "expands from"),
        (newlines(".jsonl"), "expands from"),
        (long_line, ":1: the line is longer than 16 MiB"),
        (encrypted, "has encrypted columns: save it without encryption"),
    ],
)
def test_a_hostile_file_is_refused_soon(make: Callable[[Path], Path], message: str, tmp_path: Path) -> None:
    path = make(tmp_path)
    start = time.process_time()
    with pytest.raises(TableError, match=message) as raised:
        FORM.read(path)
    assert time.process_time() - start < 20
    assert str(raised.value).startswith(str(path))


def test_an_array_may_be_one_line(tmp_path: Path) -> None:
    rows = [{"text": "a" * 1_000}] * 20_000
    assert len(TEXTS.read(write(tmp_path, "t.json", json.dumps(rows).encode()))) == 20_000


def test_a_long_header_with_short_names_is_read(tmp_path: Path) -> None:
    names = ["text", *(f"{i:020}" for i in range(9_999))]
    content = f"{','.join(names)}\na{',1' * 9_999}\n".encode()
    assert TEXTS.read(write(tmp_path, "t.csv", content)).to_pylist() == [{"text": "a"}]


def test_a_type_that_changes_far_below_is_text(tmp_path: Path) -> None:
    """Arrow chooses the type of a column by its first block."""
    numbers = b"".join(b"%s,%d\n" % (b"a" * 1_000, i) for i in range(70_000))
    table = FORM.read(write(tmp_path, "t.csv", b"text,n\n" + numbers + b"a,b-2\n"))
    assert table["n"].to_pylist()[-2:] == ["69999", "b-2"]


def test_lines_of_a_text_file(tmp_path: Path) -> None:
    expected = {
        b"one\r\ntwo\rthree\n": ["one", "two", "three"],
        b"\xef\xbb\xbfone\n\n two": ["one", "", " two"],
        "one\u2028two\x85three\x0cfour\x1cfive\n".encode(): ["one\u2028two\x85three\x0cfour\x1cfive"],
        gzip.compress(b"one\ntwo\n", mtime=0): ["one", "two"],
        b"": [],
    }
    assert {content: text_lines(write(tmp_path, "t.txt", content)) for content in expected} == expected


def test_text_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"t.txt:3: it is not UTF-8 text: save it in UTF-8"):
        text_lines(write(tmp_path, "t.txt", b"one\r\ntwo\rthr\xe9\n"))


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbfkind, Kind\r\nunkind\n", gzip.compress(b"kind kind"), b"kind " * 2 + b"-" * (LONGEST + 1)],
    ids=["a byte order mark", "packed", "one line"],
)
def test_a_corpus_is_read_as_other_files_of_text_are(content: bytes, tmp_path: Path) -> None:
    counted = count_corpus(write(tmp_path, "corpus.txt", content), pa.table({"descriptor": ["kind"]}))
    assert counted == {"kind": 2}


def test_a_corpus_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"corpus.txt:2: it is not UTF-8 text: save it in UTF-8"):
        count_corpus(write(tmp_path, "corpus.txt", b"kind\nkind\xe9\n"), pa.table({"descriptor": ["kind"]}))


PIPED: Mapping[str, Callable[[Path], object]] = {
    "prompts.txt": lambda path: hbe.generate(prompts=path, progress=False),
    "prompts.csv": lambda path: hbe.generate(prompts=path, progress=False),
    "texts.csv": lambda path: hbe.measure("sentiment", path, progress=False),
    "lines.txt": text_lines,
    "corpus.txt": lambda path: count_corpus(path, pa.table({"descriptor": ["kind"]})),
    "labels.csv": lambda path: read_label_files([path]),
    "labels.json": lambda path: read_label_files([path]),
    "key.json": read_key,
    "gender_prompt.json": lambda path: read_bold_folder(path.parent, keep_faulty=True),
    "data.json": lambda path: read_multiwoz(path.parent),
    "specifications.json": from_published,
}


@pytest.mark.parametrize("name", PIPED)
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((EvaluationError, OSError), match=r"not a regular file|is not a file"):
        PIPED[name](tmp_path / name)
