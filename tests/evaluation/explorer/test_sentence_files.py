"""The files of sentences hold every sentence with a descriptor, and a page reads a small part of them."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.evaluation.explorer.made_catalogs import NEW, Layout, made_catalog

from holisticbias import build_release
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.sentences import Rows, write_sentences
from holisticbias_eval.site.writer import Writer


def read_rows(folder: Path, rows: Rows) -> list[dict[str, str | None]]:
    table: pa.Table = pq.read_table(folder / rows.file).slice(rows.first, rows.count)
    found: list[dict[str, str | None]] = table.to_pylist()
    return found


@pytest.mark.parametrize("layout", [1, 2, 3, 4, 5])
def test_each_descriptor_has_its_sentences_in_every_layout(tmp_path: Path, layout: Layout) -> None:
    catalog = made_catalog(layout)
    release = build_release(catalog, NEW)
    rows = write_sentences(release, catalog.at(NEW), Writer(tmp_path))
    expected = release.sentences.filter(pc.is_valid(release.sentences["descriptor_id"])).to_pylist()
    assert {
        key: [(row["template"], row["noun"], row["text"]) for row in read_rows(tmp_path, place)]
        for key, place in rows.items()
    } == {
        key: [(row["template"], row["noun"], row["text"]) for row in expected if row["descriptor_id"] == key]
        for key in rows
    }
    assert sum(place.count for place in rows.values()) == len(expected)
    assert [row["text"] for row in read_rows(tmp_path, rows["ability.with-pain"])][:2] == [
        "I'm a kid with pain.",
        "I'm a person with pain.",
    ]


@pytest.fixture(scope="module")
def written(
    release: Release, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Rows]]:
    folder = tmp_path_factory.mktemp("sentences")
    return folder, dict(write_sentences(release, catalog.at("1.0.0"), Writer(folder)))


def test_a_page_reads_two_small_ranges(written: tuple[Path, dict[str, Rows]]) -> None:
    folder, rows = written
    for place in rows.values():
        path = folder / place.file
        metadata = pq.read_metadata(path)
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        before = [sum(group.num_rows for group in groups[:i]) for i in range(len(groups))]
        own = groups[before.index(place.first)]
        size = sum(own.column(i).total_compressed_size for i in range(own.num_columns))
        assert own.num_rows == place.count
        assert place.size == path.stat().st_size
        assert place.footer == metadata.serialized_size + 8
        assert place.footer + size < 50_000


def test_the_footer_has_no_statistics(written: tuple[Path, dict[str, Rows]]) -> None:
    folder, rows = written
    for file in {place.file for place in rows.values()}:
        group = pq.read_metadata(folder / file).row_group(0)
        assert [group.column(i).is_stats_set for i in range(3)] == [False] * 3


def test_the_reader_of_parquet_is_the_recorded_one(root: Path) -> None:
    vendor = files("holisticbias_eval.site") / "static" / "vendor"
    record = json.loads((vendor / "hyparquet.json").read_text("utf-8"))
    lock = json.loads((root / "evaluation" / "hyparquet" / "package-lock.json").read_text("utf-8"))
    assert record["sha256"] == hashlib.sha256((vendor / "hyparquet.js").read_bytes()).hexdigest()
    assert record["version"] == lock["packages"]["node_modules/hyparquet"]["version"], "run make hyparquet"
    assert record["licence"] == "MIT"
    assert "Permission is hereby granted" in (vendor / "LICENSE").read_text("utf-8")
