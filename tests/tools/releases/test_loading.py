"""Read a release with datasets, pandas, polars and DuckDB."""

from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from huggingface_hub import DatasetCard

from holisticbias import build_release, open_release, write_release
from holisticbias.release.card import _size_category
from holisticbias.terms.catalog import Catalog

TABLES = ("sentences", "descriptors", "nouns", "templates", "noun_phrases", "small", "history")
AXES = ["ability", "characteristics", "race_ethnicity"]
BOOLEANS = {"first_turn_only", "must_be_noun", "without_noun"}


@pytest.fixture(scope="module")
def folder(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loaded") / "release"
    write_release(build_release(catalog, "0.2.0"), folder)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


def features_of(table: pa.Table) -> dict[str, Any]:
    text, flag = datasets.Value("string"), datasets.Value("bool")
    features = {name: flag if name in BOOLEANS else text for name in table.column_names}
    features |= {name: datasets.List(text) for name in ("sources", "not_with") if name in features}
    if "assessments" in features:
        fields = ("judgement", "community", "locale", "reviewer", "source", "date")
        features["assessments"] = datasets.List(dict.fromkeys(fields, text))
    return features


@pytest.mark.parametrize("name", TABLES)
def test_load_dataset_reads_every_config(folder: Path, cache: str, name: str) -> None:
    """The types are those of the columns, also without the card."""
    data = datasets.load_dataset(str(folder), name, split="test", cache_dir=cache)
    expected = open_release(folder).tables[name]
    assert dict(data.features) == features_of(expected)
    assert data[:] == expected.to_pydict()
    file = str(folder / "data" / f"{name}.parquet")
    alone = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=cache)
    assert dict(alone.features) == features_of(expected)


def test_the_card_says_what_datasets_would_write(folder: Path) -> None:
    card = DatasetCard.load(folder / "README.md").data.to_dict()
    assert [config["config_name"] for config in card["configs"]] == list(TABLES)
    assert (card["license"], card["language"], card["size_categories"]) == ("cc-by-sa-4.0", ["en"], ["n<1K"])
    infos = datasets.info.DatasetInfosDict.from_directory(str(folder))
    for name, info in zip(TABLES, card["dataset_info"], strict=True):
        table = open_release(folder).tables[name]
        features = datasets.Features(features_of(table))
        assert info["config_name"] == name
        assert info["features"] == features._to_yaml_list()
        assert infos[name].features == features
        (split,) = info["splits"]
        assert (split["name"], split["num_examples"]) == ("test", table.num_rows)
        assert info["download_size"] == (folder / "data" / f"{name}.parquet").stat().st_size


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (472_566, "100K<n<1M"), (10**9, "1B<n<10B"), (10**11, "1B<n<10B")],
)
def test_size_categories(rows: int, expected: str) -> None:
    assert _size_category(rows) == expected


def test_pandas_polars_and_duckdb_read_plain_columns(folder: Path) -> None:
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
