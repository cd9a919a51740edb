"""Sentences made and written in parts of any size are the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias.compile.digest import lazy_digest, table_digest
from holisticbias.compile.phrases import Sentences, compile_phrases
from holisticbias.compile.tables import compile_sentences
from holisticbias.release.parquet import read_parquet, read_parts, write_parquet
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, TemplateFile

COMMON = {"sources": ["smith-2022"], "since": "1.0.0"}


descriptors = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from([f"ax.{c}" for c in "abcd"]), "text": st.sampled_from(["kind", "old", "European"])},
        optional={
            "position": st.sampled_from(["before", "after"]),
            "without_noun": st.booleans(),
            "bucket": st.just("some"),
            "not_with": st.just(["noun.person"]),
        },
    ),
    max_size=4,
    unique_by=lambda d: str(d["id"]),
)
nouns = st.lists(st.sampled_from(["person", "aunt", "child"]), max_size=3, unique=True)
templates = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(["I'm {noun_phrase}.", "I like {plural_noun_phrase}."]), "must_be_noun": st.booleans()}
    ),
    min_size=1,
    max_size=4,
)


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    axis = {"axis": "ax", "label": "Ax", "descriptors": [{**COMMON, **d} for d in draw(descriptors)]}
    named = [{**COMMON, "id": f"noun.{n}", "text": n, "plural": f"{n}s"} for n in draw(nouns)]
    made = [{**COMMON, "id": f"t.{i}", **t} for i, t in enumerate(draw(templates))]
    return Catalog(
        axes=(DescriptorFile.model_validate(axis),),
        genders=(NounFile.model_validate({"gender": "neutral", "label": "N", "nouns": named}),),
        families=(TemplateFile.model_validate({"family": "t", "label": "T", "templates": made}),),
        releases=(),
    )


@settings(deadline=None, max_examples=40)
@given(catalogs(), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_parts_hold_the_rows_and_no_text_that_is_not_in_them(
    tmp_path_factory: pytest.TempPathFactory, catalog: Catalog, in_block: int, in_group: int, labels: bool
) -> None:
    """Those of a table that is made in one part, which the digests of published versions record."""
    path = tmp_path_factory.mktemp("parts") / "sentences.parquet"
    phrases = compile_phrases(catalog, "sound", labels=labels)
    whole = Sentences(phrases, catalog.templates).read() if phrases.blocks else None
    if whole is None or not whole.num_rows:
        return
    digest = whole.num_rows, table_digest(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holisticbias.compile.phrases.ROWS", in_block)
        patch.setattr("holisticbias.release.parquet.ROWS", in_group)
        sentences = compile_sentences(catalog, "sound", labels=labels)
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
