"""A task, a reader and two measures of it, each a class registered in one line, work everywhere."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import ClassVar

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import holisticbias_eval as hbe
from holisticbias.cli import main
from holisticbias_eval.commands import evaluate, measure
from holisticbias_eval.evaluating import all_uses
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure, TextMethod
from holisticbias_eval.measures.info import WRITERS, Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.reader import MethodValues, Reader, ReaderSettings, reading_table
from holisticbias_eval.results.compare import not_comparable
from holisticbias_eval.results.recipes import read_recipe
from holisticbias_eval.results.run import Result, read_signature
from holisticbias_eval.sections.blocks import Bar, Bars, Section
from holisticbias_eval.sections.tables import Column, Paragraph, Table
from holisticbias_eval.settings import ReleaseName, Settings, Use, setting
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.responding import RespondingTask, ResponseRequests
from holisticbias_eval.tasks.response_settings import asking_uses
from holisticbias_eval.tasks.sources import TaskSource
from holisticbias_eval.tasks.task import Given
from invoking import Invoke

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
        return TaskSource(pa.Table.from_pylist(asked), release, "remarks", {"about": wording})

    def ask(self, source: TaskSource, model: Generator, given: Given) -> ResponseRequests:
        return ResponseRequests(source.content, model, _as_texts, count=source.content.num_rows)


def _as_texts(table: pa.Table) -> pa.Table:
    """Answers with columns that no other task has, and one without values, which other answers always have."""
    table = table.select(["response_id", "domain", "group", "response"])
    return table.rename_columns(["remark_id", "domain", "group", "text"]).append_column(
        "dimension", pa.nulls(table.num_rows)
    )


class LoudSettings(ReaderSettings):
    loud: int = setting(6, "Letters from which on a text is loud.", ge=1)


class LoudReader(Reader):
    """The letters of a text."""

    name: ClassVar[str] = "loudness"
    settings_type: ClassVar[type[ReaderSettings]] = LoudSettings

    @property
    def signed(self) -> Mapping[str, str]:
        return {"loud": str(self.settings.loud)}

    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        values = np.array([len(text) for text in texts], np.float64)
        classes = ["loud" if value >= self.settings.loud else "quiet" for value in values]
        return reading_table(self.name, {"letters": MethodValues(values, [None] * len(texts), classes)})


class Loudness(GroupMeasure):
    """Loudness by group, which the reader reads."""

    info: ClassVar[Info] = Info(
        name="loudness", title="Loudness", summary="letters", direction="more is louder", limits="invented",
        source="this test", headline="disparity", by=("domain", "class"),
    )  # fmt: skip
    methods: ClassVar[tuple[TextMethod, ...]] = (TextMethod("letters", "Letters", "letters", ("loud",)),)
    task = "remarks"


class LengthSettings(Settings):
    shortest: int = setting(0, "Letters that a remark needs to count.", ge=0)


class RemarkLength(Measure):
    """How many letters remarks of a domain have."""

    info = Info(
        name="remark_length", title="Length of remarks", summary="the mean number of letters of a domain's remarks",
        direction="longer is longer", limits="counts letters", source="invented for this test", headline="letters",
        by=("domain",),
    )  # fmt: skip
    needs = Needs("remarks", WRITERS, "remarks made by", "judging")
    task = "remarks"
    uses = (Use(LengthSettings),)

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        return {"shortest": str(settings.read(LengthSettings).shortest)}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        sized = answers.append_column("letters", pc.utf8_length(answers["text"].cast(pa.string())))
        if settings:
            sized = sized.filter(pc.greater_equal(sized["letters"], settings.read(LengthSettings).shortest))
        rows = sized.group_by("domain").aggregate([("letters", "mean"), ("letters", "count")]).to_pylist()
        return Measured(
            tuple(
                Figure(measure="remark_length", name="letters", keys={"domain": row["domain"]}, unit="letters",
                       value=row["letters_mean"], n=row["letters_count"],
                       interval=Interval(low=row["letters_mean"] - 1, high=row["letters_mean"] + 1))
                for row in rows
            ),
            {"sizes": sized.select(["letters"])},
        )  # fmt: skip

    def sections(self, view: View) -> tuple[Section, ...]:
        found = view.figures.by("remark_length", "letters", "domain")
        bars = tuple(Bar(f.keys["domain"], f.value) for f in found)
        table = Table("remarks-by-domain", "Letters", (Column("domain", "Domain"), Column("letters", "Letters")),
                      tuple((bar.label, bar.value) for bar in bars))  # fmt: skip
        chart = Bars("remarks-chart", "Letters by domain", "letters", bars, "mean letters of a remark")
        return (Section("remarks", "Remarks", (Paragraph("Letters were counted.", "finding"), chart, table)),)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TASKS, "remarks", Remarks())
        patch.setitem(READERS, "loudness", LoudReader)
        patch.setitem(MEASURES, "loudness", Loudness())
        patch.setitem(MEASURES, "remark_length", RemarkLength())
        for command in (evaluate.command, measure.command):  # they keep the options that they make
            for name, state in [*vars(command).items()]:
                patch.setattr(command, name, copy(state))
        yield


@pytest.fixture(scope="module")
def options(tiny_options: tuple[str, ...]) -> list[str]:
    return [*tiny_options, "--decoding", "greedy"]


@pytest.fixture(scope="module")
def made(options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "run"
    asked = [
        "--measures",
        ",".join(NAMES),
        "--about",
        "I'm {}",
        "--loud",
        "4",
        "--set",
        "shortest=2",
        "--out",
        str(out),
    ]
    assert main(["evaluate", *options, *asked]) == 0
    return out


def test_it_is_listed_with_its_settings(invoke: Invoke) -> None:
    said = invoke.printed("measures")
    assert "loudness: Loudness" in said
    assert "remark_length: Length of remarks" in said
    assert "remarks made by causal or seq2seq models" in said
    said = invoke.printed("evaluate", "--help-all")
    assert "The prompt, with {} in the place of the term" in said
    assert "--shortest" in said


def test_its_run_is_kept(made: Path, root: Path) -> None:
    result = json.loads((made / "result.json").read_text("utf-8"))
    assert result["signature"]["measures"] == list(NAMES)
    assert result["signature"]["generation"]["about"] == "I'm {}"
    measuring = result["signature"]["measuring"]
    assert measuring["remark_length"] == {"shortest": "2"}
    assert measuring["loudness"]["loud"] == "4"
    assert {f["measure"] for f in result["figures"]} == set(NAMES)
    schema = json.loads((root / "schema" / "result.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(result)
    assert {"answers.parquet", "sizes.parquet"} <= {path.name for path in made.iterdir()}


def test_its_option_is_one_field(invoke: Invoke, options: list[str], made: Path, tmp_path: Path) -> None:
    asked = (*options, "--out", tmp_path / "run", "--measures")
    said = invoke.refused("evaluate", *asked, "loudness", "--set", "shortest=9")
    assert "--shortest is for remark_length: here it has no effect, so leave it out" in said
    assert "--shortest" in invoke.refused("evaluate", *asked, "remark_length", "--set", "shortest=-1")
    run = hbe.evaluate(
        *(options[1], options[3], "remark_length"), progress=False, decoding="greedy", about="I'm {}", shortest=2
    )
    written = Result.model_validate_json((made / "result.json").read_bytes())
    assert run.result.figures == tuple(f for f in written.figures if f.measure == "remark_length")
    assert hbe.compare(run, run).figures


def test_it_is_drawn(invoke: Invoke, made: Path, tmp_path: Path) -> None:
    def drawn(form: str, *part: str) -> str:
        invoke.printed("report", made, "--format", form, *part, "--out", tmp_path / "report")
        return (tmp_path / "report").read_text("utf-8")

    assert "remarks about terms" in drawn("html")
    assert "Letters were counted" in drawn("md")
    assert "domain,letters" in drawn("csv", "--part", "remarks-by-domain")
    assert "nonce" in drawn("csv", "--part", "remarks-chart")
    assert "<svg" in drawn("svg", "--part", "remarks-chart")


def test_it_is_compared(invoke: Invoke, made: Path) -> None:
    said = invoke.printed("compare", made, made, "--format", "json")
    changes = [f for f in json.loads(said)["figures"] if f["measure"] == "remark_length" and f["name"] == "change"]
    assert {f["keys"]["domain"]: f["value"] for f in changes} == {"age": 0, "ability": 0, "nonce": 0}
    said = invoke.printed("compare", made, made)
    assert "Length of remarks" in said
    assert "answers in both; 0 changed, 0 gone, 0 added." in said


def test_its_parameters_must_be_equal(made: Path) -> None:
    signature = read_signature(made)
    other = signature.model_copy(update={"measuring": {"remark_length": {"shortest": "3"}}})
    assert not_comparable("remark_length", signature, other) == "the measure's parameters differ (shortest)"


def test_the_registry_takes_it(invoke: Invoke, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = json.loads((made / "result.json").read_text("utf-8"))["signature"]["release"]["digest"]
    monkeypatch.setattr("holisticbias_eval.results.registry.published_digests", lambda _: lambda *_: digest)
    results = tmp_path / "results"
    results.mkdir()
    invoke.printed("leaderboard", "--add", made, "--contributor", "Ada", "--name", "some/model", "--results", results)
    assert any(path.name.endswith("-remark-length.json") for path in results.iterdir())
    assert invoke("leaderboard", "--check", "--results", results) == (0, "", "")
    said = invoke.printed("leaderboard", "--results", results)
    assert "Length of remarks" in said
    assert "some/model" in said


def test_tables_of_a_user_are_measured(invoke: Invoke, tmp_path: Path) -> None:
    table = tmp_path / "remarks.csv"
    table.write_text("domain,group,text\nage,old,Hello!\nage,new,No\nage,odd,Well\n", "utf-8")
    (figure,) = json.loads(invoke.printed("measure", "remark_length", table, "--format", "json"))["figures"]
    assert figure == {
        "measure": "remark_length", "name": "letters", "keys": {"domain": "age"}, "value": 4.0, "unit": "letters",
        "interval": {"low": 3.0, "high": 5.0}, "floor": None, "floor_interval": None, "p_value": None,
        "adjusted_p": None, "n": 3, "missing": 0, "of": None,
    }  # fmt: skip
    measured = hbe.measure("loudness", table, progress=False, loud=4).figures
    assert {"share", "mean"} <= {figure.name for figure in measured}
    (loud,) = (
        f.value for f in measured if f.name == "share" and f.keys == {"domain": "age", "group": "odd", "class": "loud"}
    )
    assert loud == 1
    assert "--loud" in invoke.refused("measure", "loudness", table, "--loud", "0")


def test_a_recipe_names_it_and_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    measures = ",".join(NAMES)
    path.write_text(f"model: a/b\nrelease: 1.0.0\nmeasure: {measures}\nabout: I'm {{}}\nsource: x\n", "utf-8")
    recipe = read_recipe(str(path), all_uses())
    assert (recipe["measures"], recipe["about"]) == (measures, "I'm {}")
