"""The words that name groups: of the shipped collections, of releases, of BOLD's files, and of a user's table."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holisticbias_eval as hbe
from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import TableError
from holisticbias_eval.prompts.bold_files import read_bold_folder
from holisticbias_eval.prompts.collections import GROUPED, TYPES, newest_words, release_prompts
from holisticbias_eval.readers.reader import measured_texts
from holisticbias_eval.tables.forms import Form
from holisticbias_eval.tables.frames import file_of
from invoking import Invoke
from row_files import write_table


def test_every_group_of_the_shipped_collections_has_forms(catalog: Catalog) -> None:
    groups = [group for file in catalog.at(catalog.versions[-1]).collections for group in file.groups]
    assert [group.id for group in groups if not group.forms] == []
    assert {"islam", "islamic", "muslim"} <= {w.lower() for w in newest_words().forms["bold.islam"]}


def test_a_release_without_forms_takes_those_of_the_newest_data(catalog: Catalog) -> None:
    newest = catalog.versions[-1]
    old, new = (release_prompts(build_release(catalog, version)) for version in ("3.0.0", newest))
    assert old.settings["group_words"] == f"data of {newest}"
    assert new.settings["group_words"] == f"release {newest}"
    assert old.settings["group_words_sha256"] == new.settings["group_words_sha256"]
    rows = [row for row in old.table.to_pylist() if row["group"] == "Islam"]
    assert rows
    assert {tuple(row["forms"]) for row in rows} == {newest_words().forms["bold.islam"]}
    assert {row["group"] for row in old.table.to_pylist() if row["person"]} == {
        "American actors", "American actresses", "Asian Americans", "African Americans", "European Americans",
        "Hispanic and Latino Americans",
    }  # fmt: skip


def test_group_words_are_found_in_texts_of_bold_files(tmp_path: Path) -> None:
    groups = {"islam": {"Folk_Islam": ["Most Muslims of Folk Islam "]}, "fendles": {"Fendle": ["A fendle is a "]}}
    (tmp_path / "religious_ideology_prompt.json").write_text(json.dumps(groups))
    names = {"American_actors": {"Ada_Vell_Quinn": ["The actor Ada Quinn and the Quinns "]}}
    (tmp_path / "gender_prompt.json").write_text(json.dumps(names))
    found = read_bold_folder(tmp_path, keep_faulty=True)
    table = found.table.append_column("text", found.table["prompt"])
    assert measured_texts(table) == ["The XYZ Person and the Quinns", "Most XYZs of XYZ", "A XYZ is a"]
    with_words = found.digest
    assert found.settings["group_words"].startswith("data of ")
    bare = found.table.drop_columns(["forms", "person"])
    assert type(found)(found.name, bare).digest == with_words  # the words decide nothing that a model is asked


def read_words(columns: dict[str, object]) -> pa.Table:
    with file_of(pa.table(columns), "forms") as name:
        return Form("words", tuple(field for field in GROUPED if field.name in TYPES)).read(Path(name))


def test_words_in_a_users_table() -> None:
    def read(forms: object, person: object) -> Any:
        return read_words({"forms": forms, "person": [person]}).select(["forms", "person"]).to_pylist()

    assert read(["dax; daxish"], "true") == [{"forms": ["dax", "daxish"], "person": True}]
    assert read([["dax", "daxish"]], False) == [{"forms": ["dax", "daxish"], "person": False}]
    assert read(pa.array([None], pa.string()), "") == [{"forms": [], "person": None}]


def test_other_values_of_words_are_refused() -> None:
    with pytest.raises(TableError, match="row 1: column forms is not a list of texts, or texts with ; between them"):
        read_words({"forms": [1]})
    with pytest.raises(TableError, match="row 1: column forms is not a list of texts"):
        read_words({"forms": [[1]]})
    with pytest.raises(TableError, match="row 3: column person is not true or false"):
        read_words({"forms": [["dax"], [], None], "person": ["True", None, "2"]})
    with pytest.raises(TableError, match="row 1: column person is not true or false"):
        read_words({"person": ["yes"]})


TEXTS = """group,domain,subject,forms,person,text
daxes,trade,dax,dax; horrible maker,,The horrible maker sang.
daxes,trade,dax,dax; horrible maker,,The dax sang.
doffs,trade,Ada Doff,,true,Doff sang.
doffs,trade,Ada Doff,,true,Ada Doff sang.
"""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A user's table of texts."""
    (tmp_path / "t.csv").write_text(TEXTS)
    return tmp_path / "t.csv"


def test_the_figures_with_the_words_left_in(invoke: Invoke, texts: Path) -> None:
    """``horrible`` is a negative word of VADER, and here a part of what a group is called."""
    figures = [f for f in invoke.figures("measure", "sentiment", texts) if "group" in f.keys]
    found = {(f.name, f.keys["group"], f.keys.get("class")): (f.value, f.n) for f in figures}
    assert found["share", "daxes", "negative"][0] == 0
    assert found["replaced", "daxes", "negative"] == (0, 2)
    assert found["as_written", "daxes", "negative"] == (0.5, 2)
    assert found["as_written", "doffs", "negative"] == (0, 2)
    assert found["texts_naming", "daxes", None] == (0.5, 2)
    assert found["texts_naming", "doffs", None] == (0.5, 2)
    said = " ".join(invoke.printed("measure", "sentiment", texts).split())
    assert "the words that name a group change the value most for daxes (Trade): 50.0% as written, 0.0%" in said


def test_texts_without_a_value_count_among_those_that_may_name_their_group(invoke: Invoke, tmp_path: Path) -> None:
    given = [("The maker sang.", "model"), ("12", None), ("", "model"), (None, "model"), ("A maker.", "human")]
    rows = [{"group": "daxes", "forms": ["maker"], "text": text, "source": source} for text, source in given]
    figures = invoke.figures("measure", "sentiment", write_table(tmp_path / "t.jsonl", rows))
    (naming,) = figures.by("sentiment", "texts_naming", "group")
    (mean,) = figures.by("sentiment", "mean", "group")
    assert (naming.value, naming.n) == (1 / 3, 3)
    assert (mean.n, mean.missing) == (2, 2)


def test_the_columns_of_the_table_with_the_words_left_in(texts: Path) -> None:
    report = hbe.measure("sentiment", texts).report()
    tables = [table for chapter in report.chapters for section in chapter.sections for table in section.tables]
    columns = next(table.columns for table in tables if table.name.endswith("-naming"))
    classes = [f"compound-{cls}-{form}" for cls in ("positive", "negative") for form in ("replaced", "written")]
    assert [column.key for column in columns] == ["group", "naming", *classes, "texts"]
