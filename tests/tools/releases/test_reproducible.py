import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from folders import contents
from holisticbias import build_release, open_release, write_release
from holisticbias.compile.digest import table_digest
from holisticbias.terms.catalog import Catalog

SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "77", "TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0", "COLUMNS": "20"},
]


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holisticbias", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_builds_in_different_surroundings_have_the_same_bytes(terms: Path, tmp_path: Path) -> None:
    built = []
    for name, surroundings in zip(("one", "a second, elsewhere"), SURROUNDINGS, strict=True):
        (tmp_path / name).mkdir()
        done = run("build", "--source", str(terms), "--out", "r", cwd=tmp_path / name, **surroundings)
        assert done.returncode == 0, done.stderr
        built.append(contents(tmp_path / name / "r"))
    assert built[0] == built[1]
    assert {"manifest.json", "SHA256SUMS", "README.md", "data/sentences.parquet"} <= set(built[0])


WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {
    "snappy": lambda table, path: pq.write_table(table, path, compression="snappy", version="1.0"),
    "row groups": lambda table, path: pq.write_table(table, path, row_group_size=3, compression="none"),
    "plain": lambda table, path: pq.write_table(
        table, path, compression="gzip", use_dictionary=False, store_schema=False, data_page_version="2.0"
    ),
    "pandas": lambda table, path: table.to_pandas().to_parquet(path),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_row_digests_do_not_depend_on_the_writer(catalog: Catalog, tmp_path: Path, writer: str) -> None:
    release = build_release(catalog)
    for name, table in release.tables.items():
        WRITERS[writer](table, tmp_path / "t.parquet")
        read = pq.read_table(tmp_path / "t.parquet")
        assert table_digest(read) == release.manifest.tables[name].digest, name
        assert table_digest(read.combine_chunks()) == release.manifest.tables[name].digest, name


def test_the_digest_is_of_the_four_tables_alone(catalog: Catalog) -> None:
    whole, small = build_release(catalog, "0.2.0"), build_release(catalog, "0.2.0", "small")
    assert set(whole.tables) - set(small.tables) == {"small", "history"}
    assert table_digest(whole.tables["small"]) == small.manifest.tables["sentences"].digest


def test_a_past_version_does_not_move_when_later_ones_come(catalog: Catalog, tmp_path: Path) -> None:
    first = [r for r in catalog.releases if r.version == "0.1.0"]
    then = Catalog(catalog.axes, catalog.genders, catalog.families, tuple(first), catalog.sources, catalog.subsets)
    write_release(build_release(then, "0.1.0"), tmp_path / "then")
    write_release(build_release(catalog, "0.1.0"), tmp_path / "now")
    assert contents(tmp_path / "then") == contents(tmp_path / "now")


def test_history_holds_every_version_as_it_was(catalog: Catalog) -> None:
    history = build_release(catalog, "0.2.0").tables["history"].to_pylist()
    for version, plural in (("0.1.0", "persons of color"), ("0.2.0", "people of color")):
        rows = {row["entry_id"]: row for row in history if row["version"] == version}
        held = build_release(catalog, version).tables
        ids = {i for name, key in HELD.items() for i in held[name][key].to_pylist()}
        assert set(rows) == ids
        assert rows["race_ethnicity.of-color"]["plural"] == plural
    assert {row["version"] for row in history} == {"0.1.0", "0.2.0"}


def test_the_card_says_what_a_version_changed(catalog: Catalog, tmp_path: Path) -> None:
    for version, subset, expected in (
        ("0.1.0", None, "This is the first version."),
        ("0.2.0", "small", "See the whole release."),
        ("0.2.0", None, "| descriptors | 1 | 1 | 0 |\n| nouns | 0 | 0 | 0 |\n| templates | 1 | 0 | 0 |\n"),
    ):
        write_release(build_release(catalog, version, subset), tmp_path / f"{version}{subset}")
        assert expected in (tmp_path / f"{version}{subset}" / "README.md").read_text("utf-8")


HELD = {"descriptors": "descriptor_id", "nouns": "noun_id", "templates": "template_id"}


def test_a_release_opens_as_it_was_built(catalog: Catalog, tmp_path: Path) -> None:
    built = build_release(catalog)
    write_release(built, tmp_path / "r")
    opened = open_release(tmp_path / "r")
    assert opened.manifest.tables == built.manifest.tables
    for name, table in built.tables.items():
        assert opened.tables[name].to_pydict() == table.to_pydict()
