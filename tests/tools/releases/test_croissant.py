import json
import logging
from collections.abc import Callable
from pathlib import Path

import mlcroissant
import pytest

from holisticbias import open_release
from holisticbias.release.manifest import read_manifest

Build = Callable[..., Path]


def test_croissant_is_valid_and_names_the_version_and_the_checksums(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    folder = build()
    with caplog.at_level(logging.ERROR):
        dataset = mlcroissant.Dataset(folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    metadata = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert (metadata["conformsTo"], metadata["version"]) == ("http://mlcommons.org/croissant/1.1", "0.2.0")
    files = read_manifest(folder).files
    for file in metadata["distribution"]:
        assert file["sha256"] == files[file["@id"]].sha256
    assert len(metadata["distribution"]) == 7


@pytest.mark.parametrize("table", ["sentences", "descriptors", "noun_phrases", "history"])
def test_mlcroissant_reads_the_records_back(build: Build, table: str) -> None:
    folder = build()
    records = list(mlcroissant.Dataset(folder / "croissant.json").records(table))
    tables = open_release(folder).tables
    expected, axes = tables[table], tables["descriptors"]["axis"].unique().to_pylist()
    assert len(records) == expected.num_rows
    for name in expected.column_names:
        if name != "assessments":
            read = [_plain(record[f"{table}/{name}"]) for record in records]
            values = expected[name].to_pylist()
            if name == "axis":
                values = [None if axis is None else axes.index(axis) for axis in values]
            assert read == [_plain(v) for v in values], name


def _plain(value: object) -> object:
    """Bytes as text, and NaN as null, as mlcroissant returns them."""
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if value is None or value != value or str(value) in ("None", "<NA>") else value  # noqa: PLR0124 - not a number


def test_a_file_that_is_not_the_one_is_refused(build: Build) -> None:
    folder = build()
    other = (folder / "data" / "nouns.parquet").read_bytes()
    (folder / "data" / "templates.parquet").write_bytes(other)
    with pytest.raises(Exception, match=r"Download\(data/templates\.parquet\)"):
        list(mlcroissant.Dataset(folder / "croissant.json").records("templates"))
