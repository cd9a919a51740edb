"""Releases exported, and read with datasets, pandas, polars and DuckDB."""

import csv
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml
from huggingface_hub import DatasetCard
from tests.tools.releases.conftest import Build, Built

from holisticbias import build_release, open_release
from holisticbias.release.card import _size_category
from holisticbias.release.export import FORMATS, PUBLIC, export_csv, export_inspect, export_jsonl, export_lm_eval
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from invoking import Invoke


@pytest.fixture(scope="module")
def folder(built: Built) -> Path:
    return built("0.2.0", None)


@pytest.fixture(scope="module")
def release(folder: Path) -> Release:
    return open_release(folder)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_csv_has_the_public_columns(release: Release, tmp_path: Path) -> None:
    rows = export_csv(release, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert rows == len(read) == release.sentences.num_rows
    assert tuple(read[0]) == PUBLIC
    for got, expected in zip(read, release.sentences.to_pylist(), strict=True):
        assert got == {name: _as_csv(expected[name]) for name in PUBLIC}


def _as_csv(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_jsonl_has_every_column(release: Release, tmp_path: Path) -> None:
    export_jsonl(release, tmp_path / "out.jsonl")
    assert lines_of(tmp_path / "out.jsonl") == release.sentences.to_pylist()


def test_a_compiled_version_is_exported_without_digests(
    catalog: Catalog, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take as long as the export of its sentences."""
    monkeypatch.setattr("holisticbias.release.release.lazy_digest", Mock(side_effect=AssertionError))
    assert export_csv(build_release(catalog, "0.2.0"), tmp_path / "out.csv") == release.sentences.num_rows


def test_a_version_is_compiled_from_the_terms(release: Release, catalog: Catalog) -> None:
    assert open_release("0.2.0", catalog).digest == release.digest


def test_inspect_samples_have_input_id_and_metadata(release: Release, tmp_path: Path) -> None:
    export_inspect(release, tmp_path / "out.jsonl")
    samples = lines_of(tmp_path / "out.jsonl")
    assert [s["input"] for s in samples] == release.sentences["text"].to_pylist()
    assert [s["id"] for s in samples] == release.sentences["sentence_id"].to_pylist()
    assert samples[0]["metadata"]["template"] == release.sentences["template"][0].as_py()


class _Task(yaml.SafeLoader):
    """Reads the harness's tag as text."""


_Task.add_constructor("!function", lambda loader, node: str(node.value))


def test_lm_eval_folder_is_a_task(release: Release, tmp_path: Path) -> None:
    export_lm_eval(release, tmp_path / "task")
    export_lm_eval(release, tmp_path / "task")
    task = yaml.load((tmp_path / "task" / "holisticbias.yaml").read_text("utf-8"), Loader=_Task)  # noqa: S506 - a safe loader
    assert (task["output_type"], task["doc_to_target"]) == ("loglikelihood_rolling", "{{text}}")
    names: dict[str, object] = {"__file__": str(tmp_path / "task" / "holisticbias_data.py")}
    exec((tmp_path / "task" / "holisticbias_data.py").read_text("utf-8"), names)  # noqa: S102 - what the harness does
    load = names["load"]
    assert callable(load)
    assert load(version="0.2.0")["test"]["text"][:] == release.sentences["text"].to_pylist()


def test_intersections_are_exported_shard_by_shard(catalog: Catalog, tmp_path: Path) -> None:
    write_intersections(catalog, Request("0.2.0", "all"), tmp_path / "i")
    release = open_release(tmp_path / "i")
    rows = [row for shard in release.shards("intersections") for row in shard.to_pylist()]
    assert export_csv(release, tmp_path / "out.csv") == len(rows)
    export_inspect(release, tmp_path / "out.jsonl")
    ids = [sample["id"] for sample in lines_of(tmp_path / "out.jsonl")]
    assert len(set(ids)) == len(ids) == len(rows)


@pytest.mark.parametrize("style", FORMATS)
def test_what_is_there_is_not_lost(build: Build, tmp_path: Path, invoke: Invoke, style: str) -> None:
    folder = build()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine", "utf-8")
    for source, out, culprit in ((folder, "taken", "taken"), (tmp_path / "none", "x", "none")):
        error = invoke.refused("export", source, "--format", style, "--out", tmp_path / out, keeps=tmp_path)
        assert str(tmp_path / culprit) in error


TABLES = ("sentences", "descriptors", "nouns", "templates", "noun_phrases", "small", "history")
AXES = ["ability", "characteristics", "race_ethnicity"]
BOOLEANS = {"first_turn_only", "must_be_noun", "without_noun"}


def features_of(table: pa.Table) -> dict[str, Any]:
    text, flag = datasets.Value("string"), datasets.Value("bool")
    features = {name: flag if name in BOOLEANS else text for name in table.column_names}
    features |= {name: datasets.List(text) for name in ("sources", "not_with") if name in features}
    if "assessments" in features:
        fields = ("judgement", "community", "locale", "reviewer", "source", "date")
        features["assessments"] = datasets.List(dict.fromkeys(fields, text))
    return features


@pytest.mark.parametrize("name", TABLES)
def test_load_dataset_reads_every_config(folder: Path, release: Release, tmp_path: Path, name: str) -> None:
    """The types are those of the columns, also without the card."""
    expected, cache = release.tables[name], str(tmp_path)
    data = datasets.load_dataset(str(folder), name, split="test", cache_dir=cache)
    assert dict(data.features) == features_of(expected)
    assert data[:] == expected.to_pydict()
    file = str(folder / "data" / f"{name}.parquet")
    alone = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=cache)
    assert dict(alone.features) == features_of(expected)


def test_the_card_says_what_datasets_would_write(folder: Path, release: Release) -> None:
    card = DatasetCard.load(folder / "README.md").data.to_dict()
    assert [config["config_name"] for config in card["configs"]] == list(TABLES)
    assert (card["license"], card["language"], card["size_categories"]) == ("cc-by-sa-4.0", ["en"], ["n<1K"])
    infos = datasets.info.DatasetInfosDict.from_directory(str(folder))
    for name, info in zip(TABLES, card["dataset_info"], strict=True):
        table = release.tables[name]
        features = datasets.Features(features_of(table))
        assert info["config_name"] == name
        assert info["features"] == features._to_yaml_list()
        assert infos[name].features == features
        (split,) = info["splits"]
        assert (split["name"], split["num_examples"]) == ("test", table.num_rows)
        assert info["download_size"] == (folder / "data" / f"{name}.parquet").stat().st_size


def test_the_card_of_a_part_opens_its_folder(folder: Path, built: Built) -> None:
    """No revision of a repository holds a part."""
    whole, part = ((path / "README.md").read_text("utf-8") for path in (folder, built("0.2.0", "small")))
    assert ('open_release("REPOSITORY@' in whole, "Always give the revision." in whole) == (True, True)
    assert ('open_release("FOLDER")' in part, "revision" in part) == (True, False)


def test_size_categories() -> None:
    sizes = {0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 472_566: "100K<n<1M", 10**9: "1B<n<10B", 10**11: "1B<n<10B"}
    assert {rows: _size_category(rows) for rows in sizes} == sizes


def test_pandas_polars_and_duckdb_read_plain_columns(folder: Path, release: Release) -> None:
    file, expected = folder / "data" / "sentences.parquet", release.sentences
    frame = pd.read_parquet(file)
    assert list(frame.columns) == expected.column_names
    assert frame["text"].tolist() == expected["text"].to_pylist()
    assert frame["axis"].dropna().unique().tolist() == AXES
    assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes)
    assert pl.read_parquet(file).to_dicts() == expected.to_pylist()
    query = "select axis, count(*) from read_parquet(?) where axis is not null group by axis order by axis"
    axes = expected["axis"].drop_null().to_pylist()
    assert duckdb.execute(query, [str(file)]).fetchall() == [(axis, axes.count(axis)) for axis in AXES]
