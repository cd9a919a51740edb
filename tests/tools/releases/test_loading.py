"""Read a release with datasets, pandas, polars and DuckDB."""

from collections.abc import Callable
from pathlib import Path

import datasets
import duckdb
import pandas as pd
import polars as pl
import pytest

from holisticbias import open_release

Build = Callable[..., Path]
TABLES = ("sentences", "small", "descriptors", "nouns", "templates", "noun_phrases", "history")
AXES = ["ability", "characteristics", "race_ethnicity"]


@pytest.fixture
def cache(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


@pytest.mark.parametrize("name", TABLES)
def test_load_dataset_reads_every_config(build: Build, cache: str, name: str) -> None:
    folder = build()
    data = datasets.load_dataset(str(folder), name, split="test", cache_dir=cache)
    expected = open_release(folder).tables[name]
    assert data.num_rows == expected.num_rows
    for column in set(expected.column_names) - {"assessments"}:
        assert data[column][:] == expected[column].to_pylist()


def test_the_default_config_is_the_sentences(build: Build, cache: str) -> None:
    folder = build()
    assert datasets.get_dataset_default_config_name(str(folder)) == "sentences"
    assert sorted(datasets.get_dataset_config_names(str(folder))) == sorted(TABLES)
    info = datasets.load_dataset_builder(str(folder), cache_dir=cache).info
    assert info.splits["test"].num_examples == open_release(folder).sentences.num_rows


def test_streaming_gives_the_same_rows(build: Build) -> None:
    folder = build()
    stream = datasets.load_dataset(str(folder), split="test", streaming=True)
    assert [row["text"] for row in stream] == open_release(folder).sentences["text"].to_pylist()


def test_without_the_card_an_axis_is_its_key(build: Build, cache: str) -> None:
    file = str(build() / "data" / "sentences.parquet")
    data = datasets.load_dataset("parquet", data_files={"test": file}, split="test", cache_dir=cache)
    assert {axis for axis in data["axis"] if axis is not None} == set(AXES)
    assert data.filter(lambda row: row["axis"] == AXES[0]).num_rows == data["axis"][:].count(AXES[0]) > 0


def test_pandas_polars_and_duckdb_read_plain_columns(build: Build) -> None:
    folder = build()
    file = folder / "data" / "sentences.parquet"
    expected = open_release(folder).sentences
    frame = pd.read_parquet(file)
    assert list(frame.columns) == expected.column_names
    assert frame["text"].tolist() == expected["text"].to_pylist()
    assert frame["axis"].dropna().unique().tolist() == AXES
    assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes)
    assert pl.read_parquet(file).to_dicts() == expected.to_pylist()
    query = "select axis, count(*) from read_parquet(?) where axis is not null group by axis order by axis"
    axes = expected["axis"].drop_null().to_pylist()
    assert duckdb.execute(query, [str(file)]).fetchall() == [(axis, axes.count(axis)) for axis in AXES]
