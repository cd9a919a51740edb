"""Releases compiled, verified, opened and written in parts of any size."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.releases.conftest import Build, Built, write_built
from tests.tools.releases.signed import sign

from holisticbias import build_release, open_release, write_release
from holisticbias.compile.digest import lazy_digest, table_digest
from holisticbias.compile.lazy_tables import InMemory, LazyTable, LazyTables
from holisticbias.compile.phrases import Sentences, compile_phrases
from holisticbias.errors import OutputError, ReleaseError
from holisticbias.release.parquet import read_parquet, read_parts, write_parquet
from holisticbias.release.release import Release
from holisticbias.release.verify import verify_release
from holisticbias.terms.catalog import Catalog
from small_terms import DESCRIPTORS, TEMPLATES, small_catalog

SENTENCES = "data/sentences.parquet"


@pytest.fixture
def built(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Versions that are built again for each test, because some tests make small parts."""
    return partial(write_built, catalog, tmp_path_factory)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of at most five rows."""
    for module in ("compile.phrases", "release.parquet"):
        monkeypatch.setattr(f"holisticbias.{module}.ROWS", 5)


# verifying


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("column", "places"), [("text", (0, 0.5, 1)), ("first_turn_only", (0.5,))])
def test_verify_finds_a_changed_row_in_any_row_group(build: Build, column: str, places: tuple[float, ...]) -> None:
    folder = build()
    path = folder / SENTENCES
    groups = pq.ParquetFile(path).num_row_groups
    assert groups > 3
    table, metadata = pq.read_table(path), pq.read_schema(path).metadata
    for group in (int(place * (groups - 1)) for place in places):
        rows = table[column].to_pylist()
        place = sum(pq.ParquetFile(path).metadata.row_group(i).num_rows for i in range(group))
        rows[place] = not rows[place] if column == "first_turn_only" else f"{rows[place]}s"
        changed = table.set_column(table.column_names.index(column), column, pa.array(rows))
        original = path.read_bytes()
        pq.write_table(changed.replace_schema_metadata(metadata), path, row_group_size=5)
        sign(folder)
        (finding,) = verify_release(folder)
        assert "the table sentences has" in finding  # other rows, or a row with a descriptor and no axis
        path.write_bytes(original)
    sign(folder)
    assert verify_release(folder) == ()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("settings", [{"row_group_size": 1000}, {"row_group_size": 3}, {"use_dictionary": False}])
def test_rows_written_by_another_program_verify(build: Build, settings: Mapping[str, object]) -> None:
    folder = build()
    path = folder / SENTENCES
    table = pq.read_table(path).replace_schema_metadata(pq.read_schema(path).metadata)
    pq.write_table(table, path, **settings)
    sign(folder)
    assert verify_release(folder) == ()


def split_file(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Store the sentences in two files, the second one changed."""
    path = folder / SENTENCES
    table, metadata = pq.read_table(path), pq.read_schema(path).metadata
    second = change(table.slice(7)).replace_schema_metadata(metadata)
    pq.write_table(table.slice(0, 7).replace_schema_metadata(metadata), path)
    pq.write_table(second, folder / "data" / "more.parquet")
    sign(folder, lambda manifest: manifest["tables"]["sentences"]["files"].append("data/more.parquet"))


def test_a_table_in_two_files_is_read_whole(build: Build) -> None:
    folder = build()
    rows = open_release(folder).sentences.to_pylist()
    split_file(folder, lambda table: table)
    assert verify_release(folder) == ()
    opened = open_release(folder)
    assert [row for part in opened.shards("sentences") for row in part.to_pylist()] == rows
    assert opened.sentences.to_pylist() == rows


def test_files_of_a_table_with_different_columns_give_one_line(build: Build) -> None:
    folder = build()
    split_file(folder, lambda table: table.append_column("more", table["text"]))
    (finding,) = verify_release(folder)
    assert "the parts of a table have different columns" in finding
    with pytest.raises(ReleaseError, match="the table sentences cannot be read"):
        _ = open_release(folder).sentences


# opening


def test_an_opened_release_reads_a_table_when_it_is_used_and_keeps_it(build: Build) -> None:
    """It never gives rows of another release in the same folder."""
    opened = open_release(build(version="0.1.0"))
    assert ("sentences" in opened.tables, "verbs" in opened.tables) == (True, False)
    descriptors = opened.tables["descriptors"]
    folder = build(version="0.1.0")
    for use in (lambda: opened.sentences, lambda: list(opened.shards("sentences"))):
        with pytest.raises(ReleaseError, match=r"sentences\.parquet has changed since .* open the release again"):
            use()
    shutil.rmtree(folder)
    assert opened.tables["descriptors"] is descriptors


def test_the_small_part_of_an_opened_release(build: Build, catalog: Catalog) -> None:
    assert open_release(build()).small().digest == build_release(catalog, "0.2.0", "small").digest


@pytest.mark.usefixtures("small_parts")
def test_shards_are_the_sentences_in_parts(build: Build, catalog: Catalog) -> None:
    for release in (open_release(build()), build_release(catalog, "0.2.0")):
        parts = list(release.shards("sentences"))
        assert len(parts) > 3
        assert max(part.num_rows for part in parts) <= 5
        assert pa.concat_tables(parts).to_pylist() == release.sentences.to_pylist()
        assert [part.num_rows for part in release.shards("sentences")] == [release.sentences.num_rows]


# interruptions


@dataclass(frozen=True, slots=True)
class Interrupted(LazyTable):
    """A lazy table that is interrupted after its first part."""

    table: pa.Table

    def read(self) -> pa.Table:
        raise AssertionError("writing reads no whole table")

    def parts(self) -> Iterator[pa.Table]:
        yield self.table
        raise KeyboardInterrupt


@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_write_leaves_the_old_release(build: Build, catalog: Catalog, tmp_path: Path) -> None:
    folder = build()
    release = build_release(catalog, "0.2.0")
    kind: dict[str, Callable[[pa.Table], LazyTable]] = {"sentences": Interrupted}
    tables = LazyTables({name: kind.get(name, InMemory)(table) for name, table in release.tables.items()})
    with pytest.raises(KeyboardInterrupt):
        write_release(Release(release.manifest, tables), folder)
    for other in (build_release(catalog, "0.1.0"), build_release(catalog, "0.2.0", "small")):
        with pytest.raises(OutputError, match="holds something else"):
            write_release(other, folder)
    assert verify_release(folder) == ()
    assert [p.name for p in tmp_path.iterdir()] == ["release"]


catalogs = st.builds(
    small_catalog,
    DESCRIPTORS,
    st.lists(st.sampled_from(["person", "aunt", "child"]), max_size=3, unique=True),
    TEMPLATES,
)


@settings(deadline=None, max_examples=40)
@given(catalogs, st.integers(1, 9), st.integers(1, 9), st.sampled_from([2, 3]))
def test_parts_hold_the_rows_and_no_text_that_is_not_in_them(
    tmp_path_factory: pytest.TempPathFactory, catalog: Catalog, in_block: int, in_group: int, layout: int
) -> None:
    """Those of a table that is made in one part, which the digests of published versions record."""
    path = tmp_path_factory.mktemp("parts") / "sentences.parquet"
    phrases = compile_phrases(catalog, "sound", layout)
    whole = Sentences(phrases, catalog.templates).read() if phrases.blocks else None
    if whole is None or not whole.num_rows:
        return
    digest = whole.num_rows, table_digest(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holisticbias.compile.phrases.ROWS", in_block)
        patch.setattr("holisticbias.release.parquet.ROWS", in_group)
        sentences = Sentences(compile_phrases(catalog, "sound", layout), catalog.templates)
        assert sentences.read().to_pylist() == whole.to_pylist()
        assert lazy_digest(sentences.parts) == digest
        some = tuple(d.id for d in catalog.descriptors[::2])
        chosen = [row for part in sentences.of_descriptors(some).parts() for row in part.to_pylist()]
        assert chosen == [row for row in whole.to_pylist() if row["descriptor_id"] in (None, *some)]
        for parts in (sentences.parts(), iter([whole])):
            write_parquet(parts, path, {})
            read = list(read_parts(path))
            assert pa.concat_tables(read).to_pylist() == read_parquet(path).to_pylist() == whole.to_pylist()
            assert lazy_digest(lambda: read_parts(path)) == digest
            assert max(part.num_rows for part in read) <= in_group
            for column in ("noun_phrase", "plural_noun_phrase", "descriptor", "template"):
                assert all(texts_in_file(part[column]) for part in read)


def texts_in_file(column: pa.ChunkedArray) -> bool:
    """Whether rows use every text of the column's dictionaries, except those of descriptors that need a noun."""
    return all(set(c.dictionary.to_pylist()) - set(c.to_pylist()) <= {"kind", "old", "European"} for c in column.chunks)


def test_an_axis_that_a_file_holds_as_a_class_is_read_by_its_name(tmp_path: Path) -> None:
    features = {"info": {"features": {"axis": {"names": ["ability", "age"], "_type": "ClassLabel"}}}}
    schema = pa.schema({"axis": pa.int64(), "text": pa.string()}, {"huggingface": json.dumps(features)})
    pq.write_table(pa.table([[1, None, 0], ["b", "c", "a"]], schema=schema), tmp_path / "old.parquet")
    read = [read_parquet(tmp_path / "old.parquet"), *read_parts(tmp_path / "old.parquet")]
    assert [table["axis"].to_pylist() for table in read] == [["age", None, "ability"]] * 2
