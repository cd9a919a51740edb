"""A measure written in one file and registered in one line works everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from holisticbias_eval.api import evaluate
from holisticbias_eval.blocks import Column, Paragraph, Table
from holisticbias_eval.evaluating import all_uses
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.results.recipes import read_recipe
from holisticbias_eval.results.run import Result
from holisticbias_eval.sections import Bar, Bars, Section
from holisticbias_eval.settings import Settings, Use, setting
from invoking import Invoke

NAME = "sentence_length"


class LengthSettings(Settings):
    """An option of the measure."""

    shortest: int = setting(0, "Tokens that a sentence needs to count.", ge=0)


class SentenceLength(Measure):
    """How many tokens the sentences of an axis have."""

    info = Info(
        name=NAME,
        title="Sentence length",
        summary="the mean number of tokens of an axis's sentences",
        direction="longer is longer",
        limits="counts tokens, not words",
        source="invented for this test",
        headline="mean_tokens",
    )
    task = "sentences"
    uses = (Use(LengthSettings),)

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        return {"shortest": str(settings.read(LengthSettings).shortest)}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        if settings:
            answers = answers.filter(pc.greater_equal(answers["tokens"], settings.read(LengthSettings).shortest))
        by_axis = answers.group_by("axis", use_threads=False).aggregate([("tokens", "mean"), ("tokens", "count")])
        return Measured(
            tuple(
                Figure(
                    measure=NAME,
                    name="mean_tokens",
                    keys={"axis": row["axis"]},
                    value=row["tokens_mean"],
                    unit="tokens",
                    interval=Interval(low=row["tokens_mean"] - 1, high=row["tokens_mean"] + 1),
                    n=row["tokens_count"],
                )
                for row in by_axis.to_pylist()
            ),
            {"lengths": pa.table({"tokens": pc.unique(answers["tokens"])})},
        )

    def sections(self, view: View) -> tuple[Section, ...]:
        found = view.figures.by(NAME, "mean_tokens", "axis")
        bars = tuple(Bar(view.label("axis", f.keys["axis"]), f.value, f.interval) for f in found)
        columns = (Column("axis", "Axis"), Column("mean", "Mean length", "tokens"))
        table = Table("lengths-by-axis", "Lengths", columns, tuple((bar.label, bar.value) for bar in bars))
        chart = Bars("length-chart", "Lengths by axis", "tokens", bars, "mean tokens of a sentence")
        said = Paragraph("Sentences were counted out, token by token.", "finding")
        return (Section("length", "How long sentences are", (said, chart, table)),)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, NAME, SentenceLength())


@pytest.fixture
def made(invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> Path:
    out = tmp_path / "run"
    options = ["--release", mini_release_folder, "--out", out, "--measure", NAME]
    said = invoke.printed("evaluate", "--model", tiny_gpt2, *options)
    assert "Sentences were counted out" in said
    return out


def test_it_is_listed(invoke: Invoke) -> None:
    said = invoke.printed("measures")
    assert "sentence_length: Sentence length" in said
    assert "invented for this test" in said


def test_it_is_measured_by_default(invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> None:
    invoke.printed("evaluate", "--model", tiny_gpt2, "--release", mini_release_folder, "--out", tmp_path / "run")
    result = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))
    assert set(result["signature"]["measures"]) == {n for n, m in MEASURES.items() if m.task == "sentences"}
    assert {f["measure"] for f in result["figures"]} == set(result["signature"]["measures"])


def test_its_option_is_one_field(invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> None:
    out, options = tmp_path / "run", ["--model", tiny_gpt2, "--release", mini_release_folder, "--measure"]
    invoke.printed("evaluate", *options, NAME, "--out", out, "--set", "shortest=9")
    result = json.loads((out / "result.json").read_text("utf-8"))
    assert result["signature"]["measuring"][NAME] == {"shortest": "9"}
    assert all(f["value"] >= 9 for f in result["figures"])
    run = evaluate(str(tiny_gpt2), release=str(mini_release_folder), measures=[NAME], shortest=9)
    assert run.result.figures == Result.model_validate(result).figures
    code, said, error = invoke("evaluate", *options, "medians", "--out", out, "--set", "shortest=9")
    assert (code, said) == (2, "")
    assert "--shortest is for sentence_length: here it has no effect, so leave it out" in error
    error = invoke.refused("evaluate", *options, NAME, "--out", out, "--set", "shortest=-1")
    assert "--shortest" in error


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--format", "html"], "Lengths by axis"),
        (["--format", "md"], "Sentences were counted out"),
        (["--format", "csv", "--part", "lengths-by-axis"], "axis,mean"),
        (["--format", "csv", "--part", "length-chart"], "Nonce"),
        (["--format", "svg", "--part", "length-chart"], "<svg"),
    ],
)
def test_it_is_drawn(invoke: Invoke, made: Path, tmp_path: Path, options: list[str], expected: str) -> None:
    invoke.printed("report", made, *options, "--out", tmp_path / "report")
    assert expected in (tmp_path / "report").read_text("utf-8")


def test_it_is_compared(invoke: Invoke, made: Path) -> None:
    said = invoke.printed("compare", made, made, "--format", "json")
    changes = [f for f in json.loads(said)["figures"] if f["name"] == "change"]
    assert {f["keys"]["axis"]: f["value"] for f in changes} == {"age": 0, "ability": 0, "nonce": 0}
    said = invoke.printed("compare", made, made)
    assert "Sentence length" in said


def test_the_registry_takes_it(invoke: Invoke, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = json.loads((made / "result.json").read_text("utf-8"))["signature"]["release"]["digest"]
    monkeypatch.setattr(
        "holisticbias_eval.results.registry.published_digests", lambda _: lambda version, subset: digest
    )
    results = tmp_path / "results"
    results.mkdir()
    add = ["--add", made, "--contributor", "Ada", "--name", "some/model", "--results", results]
    assert invoke("leaderboard", *add)[0] == 0
    assert [p.name for p in results.iterdir()] == ["some-model-on-0.1.0-sentence-length.json"]
    assert invoke("leaderboard", "--check", "--results", results) == (0, "", "")
    said = invoke.printed("leaderboard", "--results", results)
    assert "Sentence length" in said
    assert "some/model" in said


def test_a_table_of_scores_is_measured(invoke: Invoke, tmp_path: Path) -> None:
    rows = ["axis,template,descriptor,noun,perplexity,tokens", "age,I'm {noun_phrase}.,old,friend,9.5,4"]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", "utf-8")
    said = invoke.printed("measure", NAME, "--scores", tmp_path / "scores.csv", "--format", "json")
    (figure,) = json.loads(said)["figures"]
    assert figure == {
        "measure": NAME, "name": "mean_tokens", "keys": {"axis": "age"}, "value": 4.0, "unit": "tokens",
        "interval": {"low": 3.0, "high": 5.0}, "floor": None, "floor_interval": None, "p_value": None,
        "adjusted_p": None, "n": 1, "missing": 0, "of": None,
    }  # fmt: skip


def test_a_recipe_names_it(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"model: a/b\nkind: causal\nrelease: 1.0.0\nmeasure: {NAME}\nsource: x\n", "utf-8")
    assert read_recipe(str(path), all_uses())["measure"] == NAME
