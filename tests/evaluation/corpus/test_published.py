"""Tables of examples in all their forms, and published files in their own form, with invented words."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.evaluation.corpus.invented import example, invented

from holisticbias_eval.corpus.examples import COLUMNS, read_examples, read_published_examples
from holisticbias_eval.corpus.published import is_published, read_group_perplexities, read_test_sets
from holisticbias_eval.errors import CorpusError, EvaluationError, TableError
from holisticbias_eval.tables.written import write_table

ANNOTATED = """id,attribute_in_window,comment,phrase,bias_sent,bias_phrase
77,True,"well, all blickets are grobby i say",all blickets are grobby,1,1
78,True,the blicket caf\xe9 is closed,the blicket caf\xe9 is closed,0,0
79,True,blickets again,blickets again,1,1 - context needed
80,False,nothing here,,0,0
81,True,a mizzic blicket,a mizzic blicket,1,1.0
"""
OWN = """comments_processed,id,attribute_in_window,bias_sent,bias_phrase,perplexity
blickets are grobby,77,True,1,1,159.7
"so, a mizzic blicket",81,True,1,1,0
"""
OTHER = """initial_demo,replaced_demo,comments,comments_processed,perplexity
['blickets'],['stads'],blickets are grobby,stads are grobby,196.6
['blicket'],['stad'],"so, a mizzic blicket","so, a mizzic stad",
"""
PAPER = """ID,Target,Attribute,Sentence,Label
1,Blicket,grobby,the blickets are really grobby.,1
2,Stads,mizzic,his words did not mean that stads were mizzic.,0
3,elmish,grobby,an elmish song,
4,Blicket,grobby,stads and blickets are grobby,
"""


def reddit(folder: Path, dimension: str, group: str, part: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / dimension / f"reddit_comments_{dimension}_{group}_{part}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_annotated_phrases(tmp_path: Path, encoding: str) -> None:
    path = reddit(tmp_path, "race", "blicket", "processed_phrase_annotated", ANNOTATED, encoding)
    for source in (path, tmp_path):
        rows = read_examples(source).to_pylist()
        assert [(row["group"], row["text"], row["label"], row["document"]) for row in rows] == [
            ("blicket", "all blickets are grobby", 1, "77"),
            ("blicket", "the blicket caf\xe9 is closed", 0, "78"),
            ("blicket", "blickets again", None, "79"),
            ("blicket", "a mizzic blicket", 1, "81"),
        ]
        assert {row["dimension"] for row in rows} == {"race"}


def test_a_specification_names_groups_and_terms(tmp_path: Path) -> None:
    path = reddit(tmp_path, "race", "blickets", "processed_phrase_annotated", ANNOTATED)
    table = read_examples(path, invented())
    names = ("dimension", "group", "target", "attribute", "attribute_set")
    assert [table[name][0].as_py() for name in names] == ["own.invented", "blicket", "blickets", "grobby", "negative"]
    assert table["target"].to_pylist() == ["blickets", "blicket", "blickets", "blicket"]


def test_sentences_for_training_count_as_biased_and_index_columns_are_left_out(tmp_path: Path) -> None:
    file = reddit(tmp_path, "race", "stad", "processed_phrase_biased_trainset", OTHER)
    table = read_published_examples(file)
    assert read_published_examples(file.parent) == table
    assert table["label"].to_pylist() == [1, 1]
    assert table["text"].to_pylist() == ["stads are grobby", "so, a mizzic stad"]
    path = tmp_path / "age_blicket_test.csv"
    path.write_text(",Unnamed: 0.1,replaced_sentence\n0,0,a blicket\n", "utf-8")
    assert read_published_examples(path)["text"].to_pylist() == ["a blicket"]
    unbiased = reddit(tmp_path, "religion", "stad", "processed_phrase_unbiased_testset_pos_attr", OTHER)
    assert read_published_examples(unbiased)["label"].to_pylist() == [0, 0]


@pytest.mark.parametrize("written", [bytes, gzip.compress])
def test_published_files_are_read_as_other_tables(tmp_path: Path, written: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "age_blicket_test.csv"
    path.write_bytes(written(";;replaced_sentence\r\n0;0;a caf\xe9, a blicket\r\n".encode("latin-1")))
    assert read_published_examples(path)["text"].to_pylist() == ["a caf\xe9, a blicket"]


def test_the_table_of_the_paper(tmp_path: Path) -> None:
    path = tmp_path / "race.csv"
    path.write_text(PAPER, "utf-8")
    rows = read_examples(path, invented()).to_pylist()
    named = [tuple(row[name] for name in ("id", "group", "target", "attribute", "label")) for row in rows]
    assert named == [
        ("1", "blicket", "blickets", "grobby", 1),
        ("2", "stad", "stads", "mizzic", 0),
        ("3", "elm", "elmish", "grobby", None),
        ("4", "blicket", "blickets", "grobby", None),
    ]
    plain = read_examples(path).to_pylist()
    assert next((row["dimension"], row["group"], row["target"]) for row in plain) == ("race", "Blicket", "Blicket")


@pytest.mark.parametrize(("cell", "label"), [("1,0", 1), ("0,0", 0), ("Biased", 1), (" not biased ", 0), ("2", None)])
def test_labels_of_the_table_are_those_of_annotators(tmp_path: Path, cell: str, label: int | None) -> None:
    path = tmp_path / "race.csv"
    path.write_text(f'ID,Target,Attribute,Sentence,Label\n1,Blicket,grobby,blickets are grobby,"{cell}"\n', "utf-8")
    assert read_examples(path)["label"].to_pylist() == [label]


def test_perplexities(tmp_path: Path) -> None:
    """The rows of the groups' files are pairs; a perplexity of 0 stays what it is."""
    own = reddit(tmp_path, "race", "blicket", "biased_test_reduced", OWN)
    reddit(tmp_path, "race", "stad", "biased_test_reduced", OTHER)
    for part in ("biased_valid_reduced", "processed_phrase_biased_testset"):
        reddit(tmp_path, "race", "blicket", part, OWN.replace("159.7", "1"))
        reddit(tmp_path, "race", "stad", part, OTHER.replace("196.6", "1"))
    names = ("dimension", "sentence_id", "group", "sentence", "perplexity")
    for path in (own, tmp_path):
        assert [tuple(row[name] for name in names) for row in read_group_perplexities(path).to_pylist()] == [
            ("race", "0", "blicket", "blickets are grobby", 159.7),
            ("race", "1", "blicket", "so, a mizzic blicket", 0.0),
            ("race", "0", "stad", "stads are grobby", 196.6),
            ("race", "1", "stad", "so, a mizzic stad", None),
        ]


def test_compressed_files(tmp_path: Path) -> None:
    """A file that stands beside the same compressed is read once."""
    paths = [reddit(tmp_path, "race", group, "biased_test_reduced", OWN) for group in ("blicket", "stad")]
    expected = read_group_perplexities(tmp_path)
    packed = [path.with_name(f"{path.name}.gz") for path in paths]
    for path, other in zip(paths, packed, strict=True):
        other.write_bytes(gzip.compress(path.read_bytes()))
    assert read_group_perplexities(tmp_path) == expected
    plain = read_examples(paths[0])
    for path in paths:
        path.unlink()
    assert read_group_perplexities(tmp_path) == read_group_perplexities(packed[0]) == expected
    packed_examples = read_examples(packed[0])
    assert packed_examples["id"] == plain["id"]
    assert packed_examples["label"].to_pylist() == [1, 1]


def test_utf16_is_not_latin_1(tmp_path: Path) -> None:
    path = reddit(tmp_path, "race", "blicket", "processed_phrase_annotated", ANNOTATED, "utf-16")
    for source in (path, tmp_path):
        with pytest.raises(TableError, match=r"annotated\.csv:1: it is not UTF-8 text"):
            read_examples(source)


def test_test_sets_without_perplexities(tmp_path: Path) -> None:
    for group in ("blicket", "stad", "elm"):
        (tmp_path / f"age_{group}_test.csv").write_text(f",replaced_sentence\n0,a {group}\n1,the {group}\n", "utf-8")
    table = read_test_sets(tmp_path)
    assert table["sentence"].to_pylist() == ["a blicket", "the blicket", "a elm", "the elm", "a stad", "the stad"]
    with pytest.raises(CorpusError, match="blicket, elm, stad has no column perplexity"):
        read_group_perplexities(tmp_path)


def test_several_test_sets(tmp_path: Path) -> None:
    for part in ("processed_phrase_biased_testset", "processed_phrase_biased_testset_reduced"):
        for group, text in (("blicket", OWN), ("stad", OTHER)):
            reddit(tmp_path, "race", group, part, text)
    with pytest.raises(CorpusError, match=r"has several test sets .*: name a file"):
        read_test_sets(tmp_path)
    named = tmp_path / "race" / "reddit_comments_race_stad_processed_phrase_biased_testset.csv"
    assert len(read_test_sets(named)) == 4


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("comments_processed,perplexity\na stad,1\n", "different numbers of sentences, so these are not pairs"),
        ("comments_processed,perplexity\na stad,high\nb,1\n", "row 1: column perplexity is not a number but 'high'"),
        ("comments_processed,perplexity\na stad,1\n,1\n", "row 2: column comments_processed is missing: "),
        ("comment,perplexity\na stad,1\nb,1\n", "no column comments_processed or replaced_sentence"),
        ("comments_processed,perplexity\na stad,1\nb, c,1\n", "row 2 has 3 cells, but the header has 2"),
        ("comments_processed,perplexity\n,\n", "has no rows"),
    ],
)
def test_wrong_test_sets(tmp_path: Path, other: str, message: str) -> None:
    reddit(tmp_path, "race", "blicket", "biased_test_reduced", OWN)
    reddit(tmp_path, "race", "stad", "biased_test_reduced", other)
    with pytest.raises((CorpusError, TableError), match=message):
        read_test_sets(tmp_path)


def test_folders_and_files_that_are_not_published(tmp_path: Path) -> None:
    (tmp_path / "own_stad_train.csv").write_text("dimension,group,text\nown.invented,stad,a stad\n", "utf-8")
    (tmp_path / "race.txt").write_text(PAPER, "utf-8")
    assert not is_published(tmp_path / "own_stad_train.csv")
    assert not is_published(tmp_path / "race.txt")
    assert read_examples(tmp_path / "own_stad_train.csv")["text"].to_pylist() == ["a stad"]
    (tmp_path / "empty").mkdir()
    for read in (read_examples, read_test_sets):
        with pytest.raises(CorpusError, match=r"without published files|has no test set"):
            read(tmp_path / "empty")
    with pytest.raises(CorpusError, match="is not a published file"):
        read_test_sets(tmp_path / "x.csv")
    annotated = "id,attribute_in_window,comment,phrase,bias_sent,bias_phrase\n80,False,nothing here,,0,0\n"
    with pytest.raises(CorpusError, match="has no sentence"):
        read_examples(reddit(tmp_path, "race", "blicket", "processed_phrase_annotated", annotated))


TEXTS = ("=1+1 a stad", "'tis a stad", "- a stad", "two\nlines, a stad", 'a "stad"', "\ufeffstad \U0001f600", "007")


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    """A spreadsheet runs no cell."""
    rows = [example(i, "stad", text, label=(1, 0, None)[i % 3]) for i, text in enumerate(TEXTS)]
    path = tmp_path / f"examples{suffix}"
    write_table(pa.Table.from_pylist(rows), path)
    assert read_examples(path).to_pylist() == rows
    assert suffix != ".csv" or '"\'=1+1 a stad"' in path.read_text("utf-8")


def test_columns_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,group,dimension\na stad,stad,own.x\na stad,stad,own.x\nan elm,elm,own.x\n", "utf-8")
    table = read_examples(path)
    assert table.column_names == list(COLUMNS)
    assert table["target"].null_count == 3
    first, second, third = table["id"].to_pylist()
    assert second == f"{first}-2"
    assert third not in {first, second}
    assert read_examples(path)["id"].to_pylist() == [first, second, third]
    path.write_text("id,text,group,dimension,target\n ,a,stad,x, \n", "utf-8")
    [row] = read_examples(path).to_pylist()
    assert (row["id"][:1], row["target"]) == ("x", None), "blank cells are missing"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("group,dimension\nstad,x\n", "has no column text: a table of examples has dimension, group and text"),
        ("text,group,dimension\na,,x\n", "row 1: column group is missing: "),
        (
            "id,text,group,dimension\n1,a,stad,x\n1,b,stad,x\n",
            "row 2: column id is '1', as in row 1: give every row its own",
        ),
        ("text,group,dimension,label\na,stad,x,2\n", "row 1: column label is 2.0: write 0 or 1"),
        ("text,group,dimension,label:a\na,stad,x,yes\n", "row 1: column label:a is not a number but 'yes'"),
    ],
)
def test_wrong_tables(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.csv").write_text(content, "utf-8")
    with pytest.raises(EvaluationError, match=message):
        read_examples(tmp_path / "x.csv")
