"""A task, a reader and two measures of it, each a class registered in one line, work everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import holisticbias_eval as hbe
from holisticbias_eval.blocks import Column, Paragraph, Table
from holisticbias_eval.evaluating import all_uses
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure, Method
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.reader import MethodValues, Reader, reading_table
from holisticbias_eval.results.recipes import read_recipe
from holisticbias_eval.sections import Bar, Bars, Section
from holisticbias_eval.settings import ReleaseName, Settings, Use, setting
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.answered import RespondingTask, ResponseRequests
from holisticbias_eval.tasks.responding import asking_uses
from holisticbias_eval.tasks.sources import TaskSource, sign_release
from holisticbias_eval.tasks.task import Given

Invoke = Callable[..., tuple[int, str, str]]
NAMES = ("loudness", "remark_length")


class RemarkSettings(Settings):
    group = "Remarks"

    about: str = setting("{}?", "The prompt, with {} in the place of the term.", metavar="TEXT")


class Remarks(RespondingTask):
    """Remarks of a model about each term of a release."""

    name = "remarks"
    subject = "remarks about terms"
    uses = (Use(ReleaseName), Use(RemarkSettings), *asking_uses())
    tables: ClassVar = {"remarks": Form("remarks", columns("text", "domain", "text", need=True)).read}

    def source(self, given: Given) -> TaskSource:
        release = given.release(None)
        terms = release.tables["descriptors"].select(["axis", "descriptor_id", "descriptor"]).to_pylist()
        wording = given.read(RemarkSettings).about
        asked = [
            {"response_id": row["descriptor_id"], "prompt": wording.format(row["descriptor"]), "persona": "",
             "sample": 0, "domain": row["axis"], "group": row["descriptor"]}
            for row in terms
        ]  # fmt: skip
        return TaskSource(pa.Table.from_pylist(asked), sign_release(release), "remarks", {"about": wording})

    def ask(self, source: TaskSource, model: Generator, given: Given) -> ResponseRequests:
        return ResponseRequests(source.content, model, _as_texts, count=source.content.num_rows, settings=source.about)


def _as_texts(table: pa.Table) -> pa.Table:
    table = table.append_column("text", table["response"])
    return table.append_column("source", pa.array(["model"] * table.num_rows))


class LoudReader(Reader):
    """The letters of a text."""

    name: ClassVar[str] = "loudness"

    @property
    def signed(self) -> Mapping[str, str]:
        return {"loud": "letters"}

    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        values = np.array([len(text) for text in texts], np.float64)
        classes = ["loud" if value > 5 else "quiet" for value in values]
        return reading_table(self.name, {"letters": MethodValues(values, [None] * len(texts), classes)})


class Loudness(GroupMeasure):
    """Loudness by group, which the reader reads."""

    info: ClassVar[Info] = Info(
        name="loudness", title="Loudness", summary="letters", direction="more is louder", limits="invented",
        source="this test", headline="disparity", by=("domain", "class"),
    )  # fmt: skip
    methods: ClassVar[tuple[Method, ...]] = (Method("letters", "Letters", "letters", ("loud",), "more is louder"),)
    task = "remarks"


class RemarkLength(Measure):
    """How many letters remarks of a domain have."""

    info = Info(
        name="remark_length", title="Length of remarks", summary="the mean number of letters of a domain's remarks",
        direction="longer is longer", limits="counts letters", source="invented for this test", headline="letters",
        by=("domain",),
    )  # fmt: skip
    needs = Needs("remarks", ("causal", "seq2seq"))
    task = "remarks"

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        sized = answers.append_column("letters", pc.utf8_length(answers["text"].cast(pa.string())))
        rows = sized.group_by("domain").aggregate([("letters", "mean"), ("letters", "count")]).to_pylist()
        return Measured(
            tuple(
                Figure(measure="remark_length", name="letters", keys={"domain": row["domain"]}, unit="letters",
                       value=row["letters_mean"], n=row["letters_count"])
                for row in rows
            )
        )  # fmt: skip

    def sections(self, view: View) -> tuple[Section, ...]:
        found = view.figures.by("remark_length", "letters", "domain")
        bars = tuple(Bar(f.keys["domain"], f.value) for f in found)
        table = Table("remarks-by-domain", "Letters", (Column("domain", "Domain"), Column("letters", "Letters")),
                      tuple((bar.label, bar.value) for bar in bars))  # fmt: skip
        chart = Bars("remarks-chart", "Letters by domain", "letters", bars, "mean letters of a remark")
        return (Section("remarks", "Remarks", (Paragraph("Letters were counted.", "finding"), chart, table)),)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "remarks", Remarks())
    monkeypatch.setitem(READERS, "loudness", LoudReader)
    monkeypatch.setitem(MEASURES, "loudness", Loudness())
    monkeypatch.setitem(MEASURES, "remark_length", RemarkLength())


@pytest.fixture
def made(invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> Path:
    options = ("--release", mini_release_folder, "--measure", ",".join(NAMES), "--decoding", "greedy", "--no-store")
    code, said, errors = invoke(
        "evaluate", "--model", tiny_gpt2, *options, "--about", "I'm {}", "--out", tmp_path / "run"
    )
    assert code == 0, errors
    assert "Letters were counted" in said
    return tmp_path / "run"


def test_it_is_listed_with_its_settings(invoke: Invoke) -> None:
    code, said, _ = invoke("measures")
    assert code == 0
    assert "loudness: Loudness" in said
    assert "remark_length: Length of remarks" in said
    code, said, _ = invoke("evaluate", "--help-all")
    assert code == 0
    assert "The prompt, with {} in the place of the term" in said


def test_its_run_is_kept(made: Path, root: Path) -> None:
    result = json.loads((made / "result.json").read_text("utf-8"))
    assert result["signature"]["measures"] == list(NAMES)
    assert result["signature"]["generation"]["about"] == "I'm {}"
    assert {f["measure"] for f in result["figures"]} == set(NAMES)
    schema = json.loads((root / "schema" / "result.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(result)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--format", "html"], "remarks about terms"),
        (["--format", "md"], "Letters were counted"),
        (["--format", "csv", "--part", "remarks-by-domain"], "domain,letters"),
        (["--format", "svg", "--part", "remarks-chart"], "<svg"),
    ],
)
def test_it_is_drawn(invoke: Invoke, made: Path, tmp_path: Path, options: list[str], expected: str) -> None:
    assert invoke("report", made, *options, "--out", tmp_path / "report")[0] == 0
    assert expected in (tmp_path / "report").read_text("utf-8")


def test_it_is_compared(invoke: Invoke, made: Path) -> None:
    code, said, errors = invoke("compare", made, made, "--format", "json")
    assert code == 0, errors
    changes = [f for f in json.loads(said)["figures"] if f["measure"] == "remark_length" and f["name"] == "change"]
    assert {f["value"] for f in changes} == {0}


def test_the_registry_takes_it(invoke: Invoke, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = json.loads((made / "result.json").read_text("utf-8"))["signature"]["release"]["digest"]
    monkeypatch.setattr("holisticbias_eval.results.registry.published_digests", lambda _: lambda *_: digest)
    results = tmp_path / "results"
    results.mkdir()
    add = ("--add", made, "--contributor", "Ada", "--name", "some/model", "--results", results)
    assert invoke("leaderboard", *add)[0] == 0
    assert invoke("leaderboard", "--check", "--results", results) == (0, "", "")
    code, said, _ = invoke("leaderboard", "--results", results)
    assert code == 0
    assert "Length of remarks" in said


def test_the_functions_have_it(tiny_gpt2: Path, mini_release_folder: Path) -> None:
    run = hbe.evaluate(
        str(tiny_gpt2), str(mini_release_folder), "remark_length", progress=False, no_store=True, decoding="greedy"
    )
    assert {figure.measure for figure in run.figures} == {"remark_length"}
    assert hbe.compare(run, run).figures


def test_tables_of_a_user_are_measured(invoke: Invoke, tmp_path: Path) -> None:
    table = tmp_path / "remarks.csv"
    table.write_text("domain,group,text\nage,old,Hello!\nage,new,No\nage,odd,Well\n", "utf-8")
    code, said, errors = invoke("measure", "remark_length", "--scores", table, "--format", "json")
    assert code == 0, errors
    (figure,) = json.loads(said)["figures"]
    assert (figure["keys"], figure["value"], figure["n"]) == ({"domain": "age"}, 4.0, 3)
    code, said, errors = invoke("measure", "loudness", "--texts", table, "--format", "json")
    assert code == 0, errors
    assert {"share", "mean"} <= {figure["name"] for figure in json.loads(said)["figures"]}


def test_a_recipe_names_it_and_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    measures = ",".join(NAMES)
    path.write_text(f"model: a/b\nrelease: 1.0.0\nmeasure: {measures}\nabout: I'm {{}}\nsource: x\n", "utf-8")
    recipe = read_recipe(str(path), all_uses())
    assert (recipe["measure"], recipe["about"]) == (measures, "I'm {}")
