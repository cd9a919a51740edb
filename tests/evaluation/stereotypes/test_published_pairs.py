"""Pairs as the published code makes them: invented sentences that have each of its peculiarities."""

from __future__ import annotations

import pytest

from holisticbias_eval.stereotypes.imported import SourceSentence, as_published
from holisticbias_eval.stereotypes.published_pairs import pairs_csv, published_pairs, published_template
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

MATH = "Math_Arts_vs_Male_Female"
HEADER = ",group,group_term,template,att_term_1,att_term_2,label_1,label_2,discarded,discard_cats,1,2,3,4,5,6,7,8,9,A\n"
ZEROS = "0,0,0,0,0,0,0,0,0,0"


def sentence_of(row: int, specification: str, attribute: str, term: str, template: str, *more: str) -> SourceSentence:
    discarded, reason = more or ("", "")
    return SourceSentence(
        row, "", attribute, term, specification, template=template, discarded=discarded, reason=reason
    )


@pytest.mark.parametrize(
    ("sentence", "term", "template"),
    [
        ("The man likes Algebra", "man", "the [T] likes algebra."),
        ("The man likes algebra.", "man", "the [T] likes algebra."),  # its period goes, another comes
        ("Algebra is for the man.", "man", "algebra is for the [T]"),  # the bracket is punctuation
        ("Is he fond of U.S. algebra?", "he", "is [T] fond of us algebra"),  # the mark counts, then goes
        ("He said he likes algebra.", "he", "[T] said he likes algebra."),  # the first mention only
        ("He's fond of algebra.", "he", None),  # not a word between blanks
        ("The man, a poet, likes algebra.", "man", None),
        ("A well-known man, ~likes* algebra.", "a", "[T] wellknown man, likes algebra."),
        ("The man \u201clikes\u201d algebra", "man", "the [T] \u201clikes algebra."),  # of two quotes one goes
        ("The man oŠo likes Ä algebra", "man", "the [T] oo likes ä algebra."),
        ("", "man", None),
    ],
)
def test_templates(sentence: str, term: str, template: str | None) -> None:
    assert published_template(sentence, term) == template


def test_pairs_are_those_of_equal_index_and_the_first_of_equal_templates_is_kept() -> None:
    sentences = [
        sentence_of(0, "Science_Arts_vs_Male_Female", "NASA", "hers", "nasa is [T]"),
        sentence_of(1, MATH, "math", "man", " [T] likes, oh, math "),
        sentence_of(2, MATH, "math", "girl", "the [T] likes math."),
        sentence_of(3, MATH, "math", "boy", "the [T] likes math."),
        sentence_of(4, MATH, "algebra", "boy", "the [T] likes math."),
        sentence_of(5, "Unknown_vs_Bias", "math", "man", "[T] math."),
        sentence_of(6, MATH, "poetry", "her", "[T] poetry is [T] poetry"),
        sentence_of(7, MATH, "poetry", "his", '[T] "poetry".'),
        sentence_of(8, MATH, "poetry", "people", "[T] poetry."),
        sentence_of(9, MATH, "gardens", "man", "[T] gardens."),
    ]
    made = published_pairs(sentences, read_specifications([MATH, "Science_Arts_vs_Male_Female"]))
    assert [pair.rule for _, pair in made] == [
        None, None, "duplicate-template", None, None, None, "unknown-term", "unknown-attribute", None,
    ]  # fmt: skip
    assert pairs_csv(made) == HEADER + "".join(
        f"{row},{ZEROS}\n"
        for row in (
            f'0,{MATH},math," [MASK] likes, oh, math ",man,woman,stereotype,anti-stereotype,,',
            f"1,{MATH},math,the [MASK] likes math.,girl,boy,anti-stereotype,stereotype,,",
            f"3,{MATH},algebra,the [MASK] likes math.,boy,girl,stereotype,anti-stereotype,,",
            f"4,{MATH},poetry,[MASK] poetry is [MASK] poetry,her,him,stereotype,anti-stereotype,,",
            f'5,{MATH},poetry,"[MASK] ""poetry"".",his,hers,anti-stereotype,stereotype,,',
            "8,Science_Arts_vs_Male_Female,NASA,nasa is [MASK],hers,his,anti-stereotype,stereotype,,",
        )
    )


def test_attributes_match_with_blanks_or_hyphens_but_not_in_another_case() -> None:
    specification = read_specification("Professions_vs_Gender")
    rows = ["bus-mechanic", "speech language pathologist", "Roofer", "judge"]
    sentences = [sentence_of(i, "Professions_vs_Gender", a, "he", f"[T] {i}.") for i, a in enumerate(rows)]
    labels = [pair.stereotyped for _, pair in published_pairs(sentences, [specification])]
    assert labels == ["sentence", "other_sentence", None, None]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["1", ""], ["1.0", ""]),
        (["1", "0"], ["1", "0"]),
        (["3", "3, 5", ""], ["3", "3, 5", ""]),
        (["1.0", "0"], ["1.0", "0.0"]),
    ],
)
def test_columns_of_discarded_sentences_are_typed_as_by_pandas(values: list[str], written: list[str]) -> None:
    assert as_published(values) == written


@pytest.mark.parametrize(
    ("discarded", "reason", "columns"),
    [
        ("1.0", "3, 10", "0,0,1,0,0,0,0,0,0,1"),
        ("1.0", "3.0", ZEROS),  # a lone number was read as a decimal, which is not a category
        ("1", "1,2", "1,1,0,0,0,0,0,0,0,0"),
    ],
)
def test_categories_of_discarded_sentences(discarded: str, reason: str, columns: str) -> None:
    sentence = sentence_of(0, MATH, "math", "man", "[T] math.", discarded, reason)
    text = pairs_csv(published_pairs([sentence], [read_specification(MATH)]))
    assert text.endswith(f",{columns}\n")
