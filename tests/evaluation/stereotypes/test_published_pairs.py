"""Pairs and sentences of files: as the published code makes them, and a user's table."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.stereotypes.imported import SourceSentence, as_published, read_sentences
from holisticbias_eval.stereotypes.published_pairs import pairs_csv, published_pairs, published_template
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications
from invoking import Invoke

MATH = "Math_Arts_vs_Male_Female"
HEADER = ",group,group_term,template,att_term_1,att_term_2,label_1,label_2,discarded,discard_cats,1,2,3,4,5,6,7,8,9,A\n"
ZEROS = "0,0,0,0,0,0,0,0,0,0"


def sentence_of(row: int, specification: str, attribute: str, term: str, template: str, *more: str) -> SourceSentence:
    discarded, reason = more or ("", "")
    return SourceSentence(
        row, "", attribute, term, specification, template=template, discarded=discarded, reason=reason
    )


def test_the_published_template_of_a_sentence() -> None:
    expected = {
        ("The man likes Algebra", "man"): "the [T] likes algebra.",
        ("The man likes algebra.", "man"): "the [T] likes algebra.",  # its period goes, another comes
        ("Algebra is for the man.", "man"): "algebra is for the [T]",  # the bracket is punctuation
        ("Is he fond of U.S. algebra?", "he"): "is [T] fond of us algebra",  # the mark counts, then goes
        ("He said he likes algebra.", "he"): "[T] said he likes algebra.",  # the first mention only
        ("He's fond of algebra.", "he"): None,  # not a word between blanks
        ("The man, a poet, likes algebra.", "man"): None,
        ("A well-known man, ~likes* algebra.", "a"): "[T] wellknown man, likes algebra.",
        ("The man \u201clikes\u201d algebra", "man"): "the [T] \u201clikes algebra.",  # of two quotes one goes
        ("The man oŠo likes Ä algebra", "man"): "the [T] oo likes ä algebra.",
        ("", "man"): None,
        **{(f"The man pays 5{symbol} now", "man"): "the [T] pays 5 now." for symbol in "~#-*?Â¬«»Ã¢”€Š\u00a0"},
    }
    assert {(text, term): published_template(text, term) for text, term in expected} == expected


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


def test_columns_of_discarded_sentences_are_typed_as_by_pandas() -> None:
    assert as_published(["1", ""]) == ["1.0", ""]
    assert as_published(["1", "0"]) == ["1", "0"]
    assert as_published(["3", "3, 5", ""]) == ["3", "3, 5", ""]
    assert as_published(["1.0", "0"]) == ["1.0", "0.0"]


def test_categories_of_discarded_sentences() -> None:
    expected = {"3, 10": "0,0,1,0,0,0,0,0,0,1", "3.0": ZEROS, "1,2": "1,1,0,0,0,0,0,0,0,0"}  # 3.0: no category
    for reason, columns in expected.items():
        sentences = [sentence_of(0, MATH, "math", "man", "[T] math.", mark, reason) for mark in ("1.0", "1")]
        for sentence in sentences:
            assert pairs_csv(published_pairs([sentence], [read_specification(MATH)])).endswith(f",{columns}\n"), reason


OWN = "sentence,attribute,group term\n"
GENERATED = ",Bias Name,Attribute word,Group Term,Generated sentence,Template version,Discarded,Reason for discard\n"
PAIRS = (
    ",group,group_term,template,sent_att_1,sent_att_2,add_refs,att_term_1,att_term_2,label_1,label_2,discarded,"
    "discard_cats,ref_len,trg_len\n"
)
SENTENCE = "A blicket learnt to gimble."
EXPECTED = (1, SENTENCE, "gimble", "blicket", "A_vs_B")

SENTENCES = ("stereotypes", "sentences")


def write(folder: Path, content: str, name: str = "sentences.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def rows(path: Path) -> list[tuple[object, ...]]:
    """The sentences of a file: row, sentence, attribute, term and, if the file names it, specification."""
    found = [(s.row, s.sentence, s.attribute, s.term, s.specification) for s in read_sentences(path)]
    return [row if row[-1] else row[:-1] for row in found]


def test_a_table_of_sentences(tmp_path: Path) -> None:
    path = write(tmp_path, f'{OWN}"{SENTENCE}",gimble,blicket\n"No, a wug?\nYes.",burble,wug\n,burble,wug\n')
    assert rows(path) == [
        (1, SENTENCE, "gimble", "blicket"),
        (2, "No, a wug?\nYes.", "burble", "wug"),
        (3, "", "burble", "wug"),
    ]
    renamed = write(tmp_path, f"Term,Specification,Attribute,Sentence\nblicket,A_vs_B,gimble,{SENTENCE}\n")
    assert rows(renamed) == [EXPECTED]
    table = pa.table({"group_term": ["blicket"], "attribute": ["gimble"], "sentence": [SENTENCE]})
    pq.write_table(table, tmp_path / "sentences.parquet")
    assert rows(tmp_path / "sentences.parquet") == [(1, SENTENCE, "gimble", "blicket")]


def test_the_published_tables(tmp_path: Path) -> None:
    generated = f"{GENERATED}0,A_vs_B,gimble,blicket,{SENTENCE},a [T] learnt to gimble.,,\n"
    assert rows(write(tmp_path, generated)) == [EXPECTED]
    marked = generated + f"1,A_vs_B,gimble,blicket,{SENTENCE},x,1,I1\n"
    assert [found.is_discarded for found in read_sentences(write(tmp_path, marked))] == [False, True]
    other = "A wug learnt to gimble."
    pairs = f"{PAIRS}0,A_vs_B,gimble,A [T] ...,{SENTENCE},{other},[],blicket,wug,stereotype,anti-stereotype,,,0,1\n"
    assert rows(write(tmp_path, pairs)) == [EXPECTED]
    entry = {"sentence": SENTENCE, "group_term": "blicket", "attribute_term": "gimble"}
    biases = [{"name": "A_vs_B", "Calm": {"gimble": {"sentences": [entry], "t1_shots": []}}}]
    assert rows(write(tmp_path, json.dumps(biases), "made.json")) == [EXPECTED]
    entry["attribute_term"] = "half \ud83d"
    assert rows(write(tmp_path, json.dumps(biases), "made.json"))[0][2] == "half \ufffd"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("sentence,attribute\nA.,b\n", "a.csv", "a.csv has no column term: a table of sentences has sentence"),
        (f"{OWN}A.,,c\n", "a.csv", "a.csv: row 1: the attribute is missing"),
        (f"{OWN}A.,b,\n", "a.csv", "a.csv: row 1: the term is missing"),
        ("[]", "a.json", "has no sentences"),
        ('[{"name": "x", "A": {"b": {}}}]', "a.json", "is not a gen_json file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, name: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        read_sentences(write(tmp_path, content, name))


def test_imported_sentences_are_judged_and_written(invoke: Invoke, own: Path, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        f'{OWN}"{SENTENCE}",gimble,Blicket\nA wug learnt to gimble.,gimble,wug\n"A rath made no gimble.",gimble,rath\n'
        f"A blicket learnt to sing.,sing,blicket\nA bandersnatch learnt to burble.,burble,bandersnatch\n"
        f"I met Fitch who is burble.,burble,fitch\n",
    )
    options = (*SENTENCES, "--specification", own, "--import", path, "--out", tmp_path / "out")
    said = invoke.printed(*options)
    log = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    unknown = "not-in-specification"
    assert [row["rule"] for row in log] == [None, "repeat", "negation", unknown, unknown, None]
    found: list[dict[str, Any]] = pq.read_table(tmp_path / "out" / "sentences.parquet").to_pylist()
    assert [(row["term"], row["group"], row["slot"], row["source"], row["generator"]) for row in found] == [
        ("blicket", "blickets", 0, "imported", "sentences.csv"),
        ("Fitch", "wugs", 2, "imported", "sentences.csv"),
    ]
    assert "accepted 2 of 6 texts" in said
    assert "3 attributes have too few sentences in the file: see sentences.json" in said
    said = invoke.printed(*options[:-1], tmp_path / "all", "--rules", "none")
    assert "accepted 4 of 6 texts" in said


def test_a_term_with_a_blank_for_its_hyphen_is_the_same_term(invoke: Invoke, tmp_path: Path) -> None:
    path = write(tmp_path, f"{OWN}My left handed friend likes music.,music,Left handed\n")
    made, pairs = tmp_path / "made", tmp_path / "pairs"
    invoke.printed(*SENTENCES, "--specification", "handedness-and-hobbies", "--import", path, "--out", made)
    invoke.printed("stereotypes", "pairs", "--sentences", path, "--specification", "handedness-and-hobbies",
                   "--no-templates", "--out", pairs)  # fmt: skip
    (sentence,) = pq.read_table(made / "sentences.parquet").to_pylist()
    (pair,) = pq.read_table(pairs / "pairs.parquet").to_pylist()
    assert (sentence["term"], pair["other_sentence"]) == ("left-handed", "My right handed friend likes music.")


def test_the_names_of_a_file_find_specifications(invoke: Invoke, own: Path, tmp_path: Path) -> None:
    def options(content: str, out: str = "out") -> tuple[str | Path, ...]:
        return (*SENTENCES, "--import", write(tmp_path, content), "--out", tmp_path / out)

    error = invoke.refused(*options(f'{OWN}"{SENTENCE}",gimble,blicket\n'))
    assert "does not name a specification in every row: give one with --specification" in error
    content = f"{GENERATED}0,A_vs_B,gimble,blicket,{SENTENCE},x,,\n1,C_vs_D,la,le,A le la.,x,,\n"
    assert "there is no specification 'A_vs_B'" in invoke.refused(*options(content))
    assert not (tmp_path / "out").exists()
    code, said, error = invoke(*options(content), "--specification", own)
    assert code == 0
    assert "1 of 2 sentences are of other specifications and are left out" in error
    assert "accepted 1 of 1 texts" in said
    published = f"{GENERATED}0,Math_Arts_vs_Male_Female,poetry,boy,A boy wrote about poetry today.,x,,\n"
    assert "accepted 1 of 1 texts" in invoke.printed(*options(published, "named"))
    assert "there is no specification" in invoke.refused(*options(published, "old"), "--release", "2.0.0")
