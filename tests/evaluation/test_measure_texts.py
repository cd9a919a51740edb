"""``holisticbias measure NAME TABLE``: tables of texts and of responses from a user's file to figures."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml

from holisticbias_eval.errors import TableError
from holisticbias_eval.tasks.response_files import TEXTS
from invoking import Invoke
from row_files import write_table

SHIPPED = Path(__file__).parents[2] / "evaluation/classifiers"


def test_toxicity_by_a_lexicon(invoke: Invoke, tmp_path: Path) -> None:
    table = pa.table({"text": ["Ugh, my tea is cold again", "Fine.", ""], "group": ["doffs", "daxes", "daxes"]})
    options = ("--classifier", "calibration-offensiveness", "--no-store")
    found = invoke.figures("measure", "toxicity", write_table(tmp_path / "t.csv", table), *options)
    counts = {(f.keys["group"], f.keys["class"]): f.value for f in found.by("toxicity", "count", "group", "class")}
    assert counts == {
        ("doffs", "toxic"): 1, ("doffs", "not_toxic"): 0, ("daxes", "toxic"): 0, ("daxes", "not_toxic"): 1
    }  # fmt: skip
    assert found.value("toxicity", "undefined", {"group": "daxes", "why": "empty text"}) == 1


@pytest.mark.parametrize(("options", "expected"), [((), 0), (("--threshold", "0.5"), 1)])
def test_the_threshold_is_that_of_the_card(
    options: tuple[str, ...], expected: int, invoke: Invoke, tmp_path: Path
) -> None:
    card = yaml.safe_load((SHIPPED / "calibration-offensiveness.yaml").read_text("utf-8"))
    lexicon = {"labels": ["kind", "grumpy"], "phrases": {"kind": ["well"], "grumpy": ["ugh"]}, "otherwise": "kind"}
    (tmp_path / "words.yaml").write_text(yaml.safe_dump(lexicon), "utf-8")
    own = card | {"id": "strict", "threshold": 0.8, "labels": ["kind", "grumpy"], "model": "words.yaml"}
    (tmp_path / "strict.yaml").write_text(yaml.safe_dump(own), "utf-8")
    table = write_table(tmp_path / "t.csv", pa.table({"text": ["Ugh. Well."], "group": ["doffs"]}))
    given = ("--classifier", str(tmp_path / "strict.yaml"), "--no-store", *options)
    found = invoke.figures("measure", "toxicity", table, *given)
    assert found.value("toxicity", "count", {"group": "doffs", "class": "toxic"}) == expected


def test_hostile_texts(invoke: Invoke, tmp_path: Path) -> None:
    texts = ["<script>alert('he')</script>", "he\x00\x1b[31m\u202ehe", "he " * 20_000, "'" * 5_000, '=HYPERLINK("he")']
    table = pa.table(
        {"text": texts, "group": ["<b>doffs</b>", "d\x1b[0m", "d", "d", "d"], "subject": ["(", "\\", "[", "*", "+"]}
    )
    long = write_table(tmp_path / "t.csv", pa.table({"text": ["a"], "group": ["g" * 2000]}))
    assert "row 1: column group has 2,000 characters: the most is 1,000" in invoke.refused("measure", "sentiment", long)
    for name in ("sentiment", "gender_polarity"):
        code, said, errors = invoke("measure", name, write_table(tmp_path / "t.parquet", table))
        assert code == 0, errors
        assert "\x1b" not in said + errors
        assert "\u202e" not in said


def test_columns_are_read_as_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", None]),
            "group": pa.array([1, 2]),
            "domain": pa.array([None, None], pa.string()),
            "subject": pa.array(["s", ""]).dictionary_encode(),
            "item": pa.array([7, 8]),
        }
    )
    found = TEXTS.read(write_table(tmp_path / "t.parquet", table))
    assert found.to_pydict() == {
        "text": ["a", None], "group": ["1", "2"], "domain": [None, None], "subject": ["s", None], "item": ["7", "8"],
    }  # fmt: skip
    gaps = TEXTS.read(write_table(tmp_path / "t.parquet", table.set_column(4, "item", pa.array([7.0, None]))))
    assert gaps["item"].to_pylist() == ["7", None]
    with pytest.raises(TableError, match=r"row 2: column text is not text but 1\.0"):
        TEXTS.read(write_table(tmp_path / "t.parquet", table.set_column(0, "text", pa.array([None, 1.0]))))


def test_texts_without_their_subject_are_counted(invoke: Invoke, tmp_path: Path) -> None:
    texts = ("A bobbin boy sang.", "Bobbin_boy"), ("The bobbin boy sang.", "Bobbin boy"), ("He sang.", "")
    table = write_table(tmp_path / "texts.csv", [{"text": text, "group": "x", "subject": who} for text, who in texts])
    _, _, errors = invoke("measure", "gender_polarity", table)
    assert "1 of 2 texts do not contain their subject as it is written: nothing is replaced in them" in errors
    counted = invoke.figures("measure", "gender_polarity", table)
    assert counted.value("gender_polarity", "count", {"group": "x", "class": "male", "method": "words"}) == 2


def test_columns_of_a_run_are_read(tmp_path: Path, invoke: Invoke) -> None:
    """The responses of a run may be measured as a table; a score that is not needed may be missing."""
    columns = {
        "axis": ["x", "x"], "template": ["t", "t"], "descriptor": ["one", "two"], "draw": [0, 0],
        "prompt": ["I am one.", "I am two."], "response": ["Good.", ""], "finish": ["stop", "refused"],
        "offensive": [0.25, None], "prompt_offensive": [0.75, 0.5], "p:warm": [0.5, None], "p:cold": [0.5, None],
    }  # fmt: skip
    path = tmp_path / "responses.parquet"
    pq.write_table(pa.table(columns), path)
    for measure, share in (("offensiveness", 0.0), ("prompt_offensiveness", 1.0)):
        assert invoke.figures("measure", measure, path).value(measure, "share_offensive") == share


def test_a_corpus_is_counted_for_styles(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "corpus.txt").write_text("one two, One\n", "utf-8")
    path = tmp_path / "styles.csv"
    path.write_text(
        "axis,template,descriptor,p:warm,p:cold\nx,t,one,0.3,0.7\nx,t,one,0.5,0.1\nx,t,two,0.8,0.2\n", "utf-8"
    )
    found = invoke.figures("measure", "generation_bias", path, "--corpus", tmp_path / "corpus.txt")
    counted = found.by("generation_bias", "corpus_count", "axis", "descriptor")
    assert {f.keys["descriptor"]: f.value for f in counted} == {"one": 2, "two": 1}


def test_one_domain_with_two_groups_is_named(invoke: Invoke, tmp_path: Path) -> None:
    """Of several domains one alone can have something to compare."""
    rows = [{"domain": "trades" if group == "c" else "people", "group": group, "text": "good"} for group in "aabbc"]
    said = " ".join(invoke.printed("measure", "sentiment", write_table(tmp_path / "texts.csv", rows)).split())
    assert "negative: in People (+0.0 points) no difference beyond chance is shown." in said
