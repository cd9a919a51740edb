"""The sentences of a run are the same for a folder and the compiled release; sentences of SEAT."""

import pickle
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.conftest import WOMEN

from columns import with_column
from holisticbias import build_release, open_release, write_release
from holisticbias.compile.columns import decoded
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.models.likelihood.spans import TextRows, joined_texts, unique_spans, whole
from holisticbias_eval.prompts.seat import ask_phrases, seat_sentences, seat_templates
from holisticbias_eval.prompts.selection import Selection, select_sentences
from holisticbias_eval.prompts.sentences import (
    SENTENCE_COLUMNS,
    AskedSentences,
    Draw,
    ask_sentences,
    compacted,
    restored,
)

VERSIONS = ("1.0.0", "2.0.0", "3.0.0", "next")
"""A version of each layout that releases have, and the newest."""
ASKED = (ask_sentences, ask_phrases)


def pairs(table: pa.Table, *columns: str) -> set[tuple[str | None, ...]]:
    """The distinct values of some columns, row by row."""
    distinct = decoded(table.select(columns)).group_by(list(columns)).aggregate([])
    return {tuple(row.values()) for row in distinct.to_pylist()}


def no_context(texts: Sequence[str]) -> list[str]:
    return [""] * len(texts)


@pytest.fixture(scope="module", params=VERSIONS)
def both(request: pytest.FixtureRequest, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> list[Release]:
    """A part of a version, compiled, and opened from its folder."""
    compiled = build_release(catalog, request.param, where=["axis=nonce,sexual_orientation"])
    folder = tmp_path_factory.mktemp("folder") / "release"
    write_release(compiled, folder)
    return [compiled, open_release(folder)]


def test_a_folder_has_the_types_of_the_compiled_release(both: list[Release]) -> None:
    compiled, opened = ({name: table.schema for name, table in r.tables.items()} for r in both)
    assert opened == compiled


@pytest.mark.parametrize("ask", ASKED)
def test_a_folder_is_asked_the_same(
    both: list[Release], ask: Callable[[Release, Draw, Selection], AskedSentences]
) -> None:
    compiled, opened = (ask(release, no_context, Selection()) for release in both)
    assert opened.sentences.num_rows
    assert decoded(restored(opened.sentences)).equals(decoded(restored(compiled.sentences)))
    assert list(opened.together.text) == list(compiled.together.text)
    assert list(opened.together.text)[: opened.sentences.num_rows] == opened.sentences["text"].to_pylist()
    entries = both[0].tables
    assert pairs(opened.sentences, "axis", "axis_label") == pairs(entries["descriptors"], "axis", "axis_label")
    if "paraphrase_of" in opened.sentences.column_names:
        wordings = ("template_id", "paraphrase_of")
        assert pairs(opened.sentences, *wordings) == pairs(entries["templates"], *wordings)


def test_ids_that_follow_from_other_columns_are_left_out_and_added_again(both: list[Release]) -> None:
    sentences = select_sentences(both[0].sentences)
    asked = ask_sentences(both[0], no_context, Selection()).sentences
    assert "sentence_id" not in asked.column_names
    assert restored(asked).select(list(SENTENCE_COLUMNS)).equals(sentences.select(list(SENTENCE_COLUMNS)))
    assert restored(asked).column_names[0] == "sentence_id"
    assert "sentence_id" not in restored(asked.append_column("response_id", asked["text"])).column_names
    ids = pa.array([*sentences["sentence_id"].to_pylist()[:-1], "another"])
    other = with_column(sentences, "sentence_id", ids)
    assert compacted(other)["sentence_id"].to_pylist() == ids.to_pylist()


def test_a_trial_has_all_sentences_of_some_descriptors(catalog: Catalog) -> None:
    release = build_release(catalog, "1.0.0")
    every = ask_sentences(release, no_context, Selection())
    few = ask_sentences(release, no_context, Selection(trial=True))
    tried = pc.unique(few.sentences["descriptor_id"].cast(pa.string()))
    assert len(tried) == 64
    of_them = every.sentences.filter(pc.is_in(every.sentences["descriptor_id"].cast(pa.string()), tried))
    assert decoded(few.sentences).equals(decoded(of_them))
    assert every.sentences.num_rows * few.share == pytest.approx(few.sentences.num_rows)
    for chosen in (Selection(("axis=age",), trial=True), Selection(limit=9000, trial=True)):
        tried, asked = (ask_sentences(release, no_context, one) for one in (chosen, replace(chosen, trial=False)))
        assert (tried.sentences.num_rows, tried.share) == (asked.sentences.num_rows, 1)


@given(st.lists(st.text("aé🙂", max_size=4), max_size=30), st.data())
def test_texts_are_those_of_a_list(texts: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=40)) if texts else []
    chunks = pa.chunked_array([pa.array(texts[:3], pa.string()), pa.array(texts[3:], pa.string())])
    for held, expected in (
        (TextRows(chunks), texts),
        (TextRows(chunks).take(np.array(rows, np.int64)), [texts[i] for i in rows]),
    ):
        assert list(held) == expected == held.column().to_pylist() == held.strings(len(held)).to_pylist()
        assert held.lengths().tolist() == [len(text) for text in expected]
        assert [held[i] for i in range(len(held))] == expected
        assert list(joined_texts(held, TextRows(chunks))) == [*expected, *texts]
        distinct, which = unique_spans(whole(held))
        assert list(distinct.text) == list(dict.fromkeys(expected))
        assert [distinct.text[i] for i in which] == expected
        assert list(copy(held)) == expected


def test_another_process_gets_only_the_selected_texts() -> None:
    texts = TextRows(pa.array(["a text of some length"] * 10_000))
    assert len(pickle.dumps(texts.take(np.arange(5)))) < 2000


NOUNS = ("person", "friend", "kid", "parent")


def test_every_template_has_one_slot_and_an_id_of_its_own() -> None:
    templates = seat_templates()
    assert len(set(templates.values())) == len(templates)
    slots = {slot for text in templates.values() for slot in re.findall(r"\{(\w+)\}", text)}
    assert slots == {"noun_phrase", "bare_noun_phrase", "plural_noun_phrase"}


def test_sentences_read_as_they_should(mini_release: Release) -> None:
    expected = {
        "seat.this-is/age.old/neutral.kid": ("This is an old kid.", "old kid"),
        "seat.is-a-person/age.old/neutral.kid": ("An old kid is a person.", "old kid"),
        "seat.the-is-here/age.old/neutral.kid": ("The old kid is here.", "old kid"),
        "seat.are-people/ability.deaf/neutral.parent": ("Deaf parents are people.", "deaf parents"),
    }
    rows = {r["sentence_id"]: (r["text"], r["phrase"]) for r in seat_sentences(mini_release.sentences).to_pylist()}
    assert len(rows) == 7 * len(NOUNS) * len(seat_templates())
    assert {name: rows[name] for name in expected} == expected


def test_terms_that_are_nouns_and_terms_of_one_gender_have_phrases(terms_release: Release) -> None:
    found = seat_sentences(terms_release.sentences)
    phrases = {(row["descriptor_id"], row["noun_id"], row["phrase"]) for row in found.to_pylist()}
    assert ("ability.amputee", "-", "amputee") in phrases
    assert ("ability.amputee", "-", "amputees") in phrases
    assert {noun for term, noun, _ in phrases if term == "age.girlish"} == {f"female.{noun}" for noun in WOMEN}
    assert len(found) == len(phrases_of(terms_release)) * len(seat_templates())


def phrases_of(release: Release) -> set[tuple[str, str | None]]:
    """The distinct terms with each noun, or with none if the term is a noun itself."""
    rows = release.sentences.select(["descriptor_id", "noun_id", "noun_phrase_type"]).to_pylist()
    return {(r["descriptor_id"], r["noun_id"]) for r in rows if r["noun_phrase_type"] not in ("descriptor", "noun")}
