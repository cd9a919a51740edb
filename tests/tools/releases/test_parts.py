"""Sentences made and written in parts are the rows of the obvious program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias.compile.columns import compact
from holisticbias.compile.digest import lazy_digest, table_digest
from holisticbias.compile.tables import compile_sentences
from holisticbias.release.parquet import read_parquet, read_parts, write_parquet
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, TemplateFile
from holisticbias.terms.grammar import described, fill, with_article

Build = Callable[..., Path]
Row = dict[str, object]
SENTENCES = "data/sentences.parquet"
COMMON = {"sources": ["smith-2022"], "since": "1.0.0"}


def set_rows(patch: pytest.MonkeyPatch, rows: int) -> None:
    patch.setattr("holisticbias.compile.phrases.ROWS", rows)
    patch.setattr("holisticbias.release.parquet.ROWS", rows)


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


def obvious_rows(catalog: Catalog, *, labels: bool) -> Iterator[Row]:
    """The rows of the table sentences, one by one."""
    phrases = list(obvious_phrases(catalog, labels=labels))
    for template in catalog.families[0].templates:
        for phrase in phrases:
            if template.must_be_noun and phrase["noun_phrase_type"] == "descriptor":
                continue
            columns = {k: v for k, v in phrase.items() if k not in ("descriptor_id", "noun_id")}
            ids = (template.id, phrase["descriptor_id"] or "-", phrase["noun_id"] or "-")
            yield {
                "text": fill(template.text, str(phrase["noun_phrase"]), str(phrase["plural_noun_phrase"])),
                **columns,
                "template": template.text,
                "first_turn_only": template.first_turn_only,
                "must_be_noun": template.must_be_noun,
                "sentence_id": "/".join(map(str, ids)),
                "descriptor_id": phrase["descriptor_id"],
                "noun_id": phrase["noun_id"],
                "template_id": template.id,
            }


def obvious_phrases(catalog: Catalog, *, labels: bool) -> Iterator[Row]:
    of_axis, of_noun = catalog.axes[0].descriptors, catalog.genders[0].nouns
    for d in of_axis:
        for n in of_noun:
            if d.goes_with("neutral", n):
                kind = "descriptor_noun" if d.position == "before" else "noun_descriptor"
                yield obvious_phrase(kind, *described(d, n, "sound"), labels=labels, descriptor=d, noun=n)
    for d in of_axis:
        if d.position == "before" and d.without_noun:
            yield obvious_phrase("descriptor", d.text, d.text, labels=labels, descriptor=d)
    for n in of_noun:
        yield obvious_phrase("noun", with_article(n.text, "sound", n.article), n.plural, labels=labels, noun=n)


def obvious_phrase(
    kind: str, one: str, many: str, *, labels: bool, descriptor: object = None, noun: object = None
) -> Row:
    keys = {"bucket": "bucket", "descriptor": "text", "descriptor_gender": "noun_gender"}
    keys |= {"descriptor_preference": "preference"}
    return {
        "axis": "ax" if descriptor else None,
        **({"axis_label": "Ax" if descriptor else None} if labels else {}),
        **{name: getattr(descriptor, key, None) for name, key in keys.items()},
        **{name: getattr(noun, key, None) for name, key in (("noun", "text"), ("plural_noun", "plural"))},
        "noun_gender": "neutral" if noun else None,
        "noun_phrase": one,
        "plural_noun_phrase": many,
        "noun_phrase_type": kind,
        **{name: getattr(entry, "id", None) for name, entry in (("descriptor_id", descriptor), ("noun_id", noun))},
    }


@settings(deadline=None, max_examples=40)
@given(catalogs(), st.booleans(), st.integers(1, 9))
def test_sentences_in_parts_are_the_obvious_ones(catalog: Catalog, labels: bool, rows: int) -> None:
    expected = list(obvious_rows(catalog, labels=labels))
    with pytest.MonkeyPatch.context() as patch:
        set_rows(patch, rows)
        if not expected:
            return
        sentences = compile_sentences(catalog, "sound", labels=labels)
        assert sentences.read().to_pylist() == expected
        assert lazy_digest(sentences.parts) == (len(expected), table_digest(pa.Table.from_pylist(expected)))
        some = [d.id for d in catalog.axes[0].descriptors[::2]]
        found = [row for part in sentences.of_descriptors(tuple(some)).parts() for row in part.to_pylist()]
        assert found == [row for row in expected if row["descriptor_id"] in (None, *some)]


@settings(deadline=None, max_examples=40)
@given(catalogs(), st.integers(1, 9), st.integers(1, 9))
def test_files_in_parts_hold_the_rows_and_no_text_that_is_not_in_them(
    tmp_path_factory: pytest.TempPathFactory, catalog: Catalog, in_block: int, in_group: int
) -> None:
    path = tmp_path_factory.mktemp("parts") / "sentences.parquet"
    with pytest.MonkeyPatch.context() as patch:
        set_rows(patch, in_group)
        patch.setattr("holisticbias.compile.phrases.ROWS", in_block)
        if not [*obvious_rows(catalog, labels=False)]:
            return
        sentences = compile_sentences(catalog, "sound")
        whole = sentences.read()
        for parts in (sentences.parts(), iter([whole])):
            write_parquet(parts, path, {})
            read = list(read_parts(path))
            assert pa.concat_tables(read).to_pylist() == read_parquet(path).to_pylist() == whole.to_pylist()
            assert lazy_digest(lambda: read_parts(path)) == (whole.num_rows, table_digest(whole))
            assert max(part.num_rows for part in read) <= in_group
            for column in ("noun_phrase", "plural_noun_phrase", "descriptor", "template"):
                assert all(texts_in_file(part[column]) for part in read)


def texts_in_file(column: pa.ChunkedArray) -> bool:
    """Whether rows use every text of the column's dictionaries, except those of descriptors that need a noun."""
    return all(set(c.dictionary.to_pylist()) - set(c.to_pylist()) <= {"kind", "old", "European"} for c in column.chunks)


@pytest.mark.parametrize(
    ("texts", "indices", "expected"),
    [
        (["a", "b", "c"], [2, None, 0, 2], ["a", "c"]),
        (["a", "b"], [1, 0], ["a", "b"]),
        (["a"], [None], []),
        ([], [], []),
    ],
)
def test_compact_keeps_the_values_and_the_texts_in_use(
    texts: list[str], indices: list[int | None], expected: list[str]
) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts, pa.string()))
    found = compact(array)
    assert found.to_pylist() == array.to_pylist()
    assert found.dictionary.to_pylist() == expected


def test_an_axis_that_a_file_holds_as_a_class_is_read_by_its_name(tmp_path: Path) -> None:
    features = {"info": {"features": {"axis": {"names": ["ability", "age"], "_type": "ClassLabel"}}}}
    schema = pa.schema({"axis": pa.int64(), "text": pa.string()}, {"huggingface": json.dumps(features)})
    pq.write_table(pa.table([[1, None, 0], ["b", "c", "a"]], schema=schema), tmp_path / "old.parquet")
    read = [read_parquet(tmp_path / "old.parquet"), *read_parts(tmp_path / "old.parquet")]
    assert [table["axis"].to_pylist() for table in read] == [["age", None, "ability"]] * 2
