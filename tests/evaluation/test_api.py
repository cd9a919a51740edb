"""The public functions give what the commands write, and notebooks show it."""

import logging
from collections import UserList
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from tests.evaluation.conftest import mini_catalog
from tests.golden.inputs import PERPLEXITIES

import holisticbias
import holisticbias_eval as hbe
from holisticbias.errors import OutputError, ReleaseError, SourceError, UnknownTermError, UnknownVersionError
from holisticbias_eval.api_results import GainTable, ModelRun
from holisticbias_eval.errors import EvaluationError, ModelError, RecipeError, ReportError, RunError, TableError
from holisticbias_eval.results.gains import Gain
from holisticbias_eval.results.run import read_run
from invoking import Invoke
from known import known
from tiny_models import saved, tiny_model, tiny_tokenizer

WRONG: Any = 3
SCALAR: Any = np.array("axis=age")
LONG = f"{'x' * 300}.csv"
Kind = Enum("Kind", "ONE")
ARRAY: Any = np.array([1, 2])
ENDLESS = list[object]()
ENDLESS.append(ENDLESS)
ENDLESS_ARRAY = np.empty(1, object)
ENDLESS_ARRAY[0] = ENDLESS_ARRAY
DEEP: Any = []
for _ in range(5000):
    DEEP = [DEEP]
TEXTS = pd.DataFrame({"text": ["A good day.", "A bad day."], "group": ["women", "men"]})


def test_an_open_release_is_as_good_as_its_folder(tiny_gpt2: Path, mini_release_folder: Path, run: ModelRun) -> None:
    opened = holisticbias.open_release(mini_release_folder)
    found = hbe.evaluate(str(tiny_gpt2), opened, "likelihood_bias", progress=False, no_store=True)
    assert found.result.signature.release == run.result.signature.release
    assert found.answers.equals(run.answers)
    of_release, of_folder = (
        hbe.generate(release=source, decoding="greedy", limit=2, progress=False, no_store=True).table
        for source in (opened, str(mini_release_folder))
    )
    assert of_release.equals(of_folder)


@pytest.fixture(scope="module")
def run(tiny_gpt2: Path, mini_release_folder: Path) -> object:
    measures = ["likelihood_bias", "stance_contrast"]
    return hbe.evaluate(str(tiny_gpt2), str(mini_release_folder), measures, progress=False, no_store=True)


def test_an_evaluation_is_that_of_the_command(run: ModelRun, tiny_run: Path, tmp_path: Path) -> None:
    made = read_run(tiny_run)
    names = {"likelihood_bias", "stance_contrast"}
    assert list(run.figures) == [figure for figure in made.result.figures if figure.measure in names]
    assert run.answers.equals(made.answers)
    assert run.charts[:2] == ("stance-contrast", "stance-contrast-by-axis")
    opened = hbe.open_run(run.save(str(tmp_path / "run")))
    with pytest.raises(RunError, match=r"holds another run .*, not stance_contrast, likelihood_bias"):
        run.save(Path(copytree(tiny_run, tmp_path / "other")))
    assert opened.result == run.result
    assert (tmp_path / "run" / "report.html").is_file()
    run.report(tmp_path / "report.md")
    with pytest.raises(OutputError, match=r"report\.pdf: its name must end in \.html or \.md"):
        run.report(tmp_path / "report.pdf")
    with pytest.raises(OutputError, match=r"chart\.pdf: its name must end in \.svg or \.png"):
        run.chart(path=tmp_path / "chart.pdf")
    assert (tmp_path / "report.md").read_text("utf-8").startswith("# ")


def test_figures_become_frames(run: ModelRun) -> None:
    frame = run.figures.to_pandas()
    assert len(frame) == len(run.figures) == run.figures.to_polars().height
    shares = frame[(frame.measure == "likelihood_bias") & (frame.name == "share") & frame.axis.notna()]
    assert shares.value.between(0, 1).all()
    assert {"interval_low", "interval_high", "floor", "n", "unit"} <= set(frame.columns)


def test_a_run_is_shown_in_a_line_a_report_and_a_chart_named_after_its_measure(run: ModelRun) -> None:
    assert repr(run).startswith("<ModelRun: ")
    shown = run._repr_html_()
    assert (shown.startswith("<iframe "), "Likelihood Bias" in shown) == (True, True)
    assert run.chart("likelihood_bias").svg == run.chart("likelihood-bias").svg
    with pytest.raises(ReportError, match="there is no part 'nope'; there are: stance-contrast, "):
        run.chart("nope")


def test_the_public_names_are_listed() -> None:
    functions = [name for name in dir(hbe) if not name.endswith("Error")]
    assert functions == ["classify", "compare", "evaluate", "generate", "measure", "mitigate", "open_run"]
    errors = [getattr(hbe, name) for name in dir(hbe) if name not in functions]
    assert all(issubclass(error, holisticbias.HolisticBiasError) for error in errors)
    with pytest.raises(hbe.TableError, match="no column text"):
        hbe.measure("sentiment", pa.table({"a": [1]}))
    assert {"build_release", "load_catalog", "open_release"} <= {*dir(holisticbias)}


def test_terms_are_shown_in_a_line_and_filtered_as_in_an_evaluation() -> None:
    catalog = mini_catalog()
    assert repr(catalog).startswith("<HolisticBias terms: ")
    for where in ({"axis": ["age", "ability"]}, "axis=age,ability", ["axis=ability,age"]):
        assert holisticbias.build_release(catalog, where=where).manifest.where == ("axis=ability,age",)


def test_responses_are_those_of_the_command(invoke: Invoke, tmp_path: Path) -> None:
    prompts = ["Hi! I'm a Deaf grandmother.", "Hello."]
    found = hbe.generate(prompts=prompts, decoding="greedy", progress=False, no_store=True)
    (tmp_path / "prompts.txt").write_text("\n".join(prompts))
    options = ("--prompts", tmp_path / "prompts.txt", "--decoding", "greedy", "--no-store", "--out", tmp_path / "made")
    invoke.printed("generate", *options)
    made = pq.read_table(tmp_path / "made" / "responses.parquet")
    assert found.table["response"].to_pylist() == made["response"].to_pylist()
    assert found.to_polars().height == len(found.to_pandas()) == found.to_arrow().num_rows == 2
    assert "Deaf grandmother" in found._repr_html_()
    assert found.generation.prompts == "the table"
    with pytest.raises(EvaluationError, match="there is no setting 'nonsense'; --help-all lists them"):
        hbe.generate(prompts=prompts, nonsense=1)


def test_a_list_of_texts_is_judged_as_its_table(invoke: Invoke, tmp_path: Path) -> None:
    texts = ["I love it", "I hate it", ""]
    pd.DataFrame({"response": texts}).to_csv(tmp_path / "texts.csv", index=False)
    options = ("--classifier", "vader", "--no-store", "--out", tmp_path / "judged.parquet")
    invoke.printed("classify", "--responses", tmp_path / "texts.csv", *options)
    made = pq.read_table(tmp_path / "judged.parquet").select(["p:positive", "p:negative"]).to_pylist()
    frame = pd.DataFrame({"response": texts})
    column = frame["response"]
    for given in (
        texts,
        frame,
        column,
        column.to_numpy(),
        pl.Series(texts),
        pa.array(texts),
        UserList(texts),
        tmp_path / "texts.csv",
    ):
        found = hbe.classify(given, "vader", no_store=True, progress=False)
        assert found.select(["p:positive", "p:negative"]).to_pylist() == made
    assert made[0]["p:positive"] > 0.5 > made[1]["p:positive"]
    assert made[2]["p:positive"] is None


def test_one_of_several_files_is_a_text(tmp_path: Path, tiny_gpt2: Path) -> None:
    (tmp_path / "lines.txt").write_text("A quiet day.\n")
    found = hbe.evaluate(str(tiny_gpt2), retain=str(tmp_path / "lines.txt"), progress=False, no_store=True)
    assert found.result.signature.measures == ("retention",)


def test_a_recipe_has_what_is_not_given(tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "own.yaml"
    asked = {"model": str(tiny_gpt2), "release": str(mini_release_folder), "measure": "medians,love_hate", "limit": 64}
    recipe.write_text(yaml.safe_dump({**asked, "pll": None, "where": {"axis": "age"}, "source": "this test"}))
    found = hbe.evaluate(recipe=recipe, progress=False, no_store=True)
    assert found.result.signature.measures == ("medians", "love_hate")
    assert found.result.signature.settings["sentences_where"] == "axis=age"
    own = hbe.evaluate(recipe=recipe, measures="medians", where={"axis": ["ability"]}, limit=None, no_store=True)
    assert own.result.signature.measures == ("medians",)
    assert set(own.answers["axis"].to_pylist()) == {"ability"}
    assert own.result.signature.settings["sentences_where"] == "axis=ability"
    recipe.write_text("decoding: greedy\nprompts: none.txt\nmeasure: response_wording\n")
    made = hbe.generate(prompts=["Hi!"], recipe=recipe, progress=False, no_store=True)
    assert "greedy" in made.generation.generation["decoding"]


def test_a_loaded_model_is_scored_as_its_folder(tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    loaded = AutoModelForCausalLM.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2)
    of_folder, of_model = (
        hbe.evaluate(model, mini_release_folder, "medians", progress=False, no_store=True)
        for model in (tiny_gpt2, loaded)
    )
    assert of_model.answers["nll"].to_pylist() == pytest.approx(of_folder.answers["nll"].to_pylist())
    hbe.evaluate(tiny_gpt2, mini_release_folder, "medians", progress=False, store=tmp_path)
    loaded[0].transformer.h[0].register_forward_pre_hook(lambda _, given: (given[0] / 2, *given[1:]))
    altered = hbe.evaluate(loaded, mini_release_folder, "medians", progress=False, store=tmp_path)
    assert altered.answers["nll"].to_pylist() != of_model.answers["nll"].to_pylist()


def test_a_loaded_model_is_rounded_as_its_folder(mini_release_folder: Path, tmp_path: Path) -> None:
    """The frequencies of Llama's positions stay float32."""
    model, tokenizer = tiny_model("llama"), tiny_tokenizer()
    of_folder, of_model = (
        hbe.evaluate(asked, mini_release_folder, "medians", dtype="bfloat16", progress=False, no_store=True).answers
        for asked in (saved(tmp_path, model, tokenizer), (model, tokenizer))
    )
    assert of_model["nll"].to_pylist() == pytest.approx(of_folder["nll"].to_pylist(), rel=1e-7)


def test_threads_are_given_what_one_thread_is(tiny_gpt2: Path, mini_release_folder: Path) -> None:
    def measured(_: int) -> ModelRun:
        return hbe.evaluate(tiny_gpt2, mini_release_folder, "medians", limit=40, progress=False, no_store=True)

    alone, precision = measured(0), torch.get_default_dtype()
    with ThreadPoolExecutor(3) as threads:
        for run in threads.map(measured, range(3)):
            assert run.answers.equals(alone.answers)
            assert run.result == alone.result
    assert torch.get_default_dtype() == precision


def messages() -> list[object]:
    """The levels of logging and the progress bars of the libraries that load models."""
    import transformers
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled

    shown = transformers.utils.logging.is_progress_bar_enabled(), are_progress_bars_disabled()
    return [*shown, *(logging.getLogger(name).level for name in ("accelerate", "huggingface_hub", "transformers"))]


def test_the_messages_of_libraries_are_as_before(tiny_gpt2: Path, tmp_path: Path) -> None:
    import transformers

    damaged = copytree(tiny_gpt2, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"")

    def asked(model: Path) -> object:
        return hbe.generate(model, ["Hi!"], decoding="greedy", continuation="{prompt}", progress=False, no_store=True)

    transformers.utils.logging.set_verbosity_info()
    transformers.utils.logging.enable_progress_bar()
    before = messages()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(asked, [tiny_gpt2, tiny_gpt2]))
    assert messages() == before
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        asked(damaged)
    assert messages() == before
    transformers.utils.logging.set_verbosity_warning()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: hbe.measure("sentiment", TEXTS, progress=ARRAY),
            EvaluationError,
            "progress: .* True or False",
        ),
        (lambda: hbe.mitigate("lmd", out="out", overwrite=ARRAY), OutputError, "overwrite: .* True or False, not nd"),
        (lambda: hbe.classify(ENDLESS, "vader"), TableError, "the table: row 1 cannot .* JSON: Circular reference"),
        (lambda: hbe.classify(ENDLESS_ARRAY, "vader"), TableError, "row 1 cannot .* JSON: Circular reference"),
        (lambda: hbe.evaluate(measures=DEEP), EvaluationError, "measures: it must be a text, or a list"),
        (lambda: hbe.evaluate(recipe=TEXTS), EvaluationError, "recipe: it must be a name or a file, not DataFrame"),
        (lambda: hbe.evaluate(WRONG), EvaluationError, r"model: it must be .* not int"),
        (lambda: hbe.evaluate(("tokenizer", "model")), EvaluationError, r"model: it must be .* not tuple"),
        (lambda: hbe.evaluate(release=WRONG), EvaluationError, r"release: it must be .* not int"),
        (lambda: hbe.evaluate(measures=[]), EvaluationError, r"measures: it must be a text, .* not \[\]"),
        (lambda: hbe.evaluate(where={"axis": WRONG}), UnknownTermError, "where axis: it must be a text, .* not 3"),
        (lambda: hbe.evaluate(measures="stereotype_score", pairs=TEXTS), EvaluationError, "the name of a file"),
        (lambda: hbe.evaluate(recipe="none"), RecipeError, "there is no recipe 'none'"),
        (lambda: hbe.evaluate(measures="sentiment", measured="x"), EvaluationError, "--measured: it must be 'whole'"),
        (lambda: hbe.evaluate(measures="medians", colour="red"), EvaluationError, "there is no setting 'colour'"),
        (lambda: hbe.evaluate(measures=["medians", "sentiment"]), EvaluationError, "evaluate them one by one"),
        (lambda: hbe.evaluate(measures="medians", context="a\ud83d"), EvaluationError, "context: .* half a character"),
        (lambda: hbe.evaluate("a\0b"), EvaluationError, "model: 'a.x00b' has a null character"),
        (lambda: hbe.evaluate(where={"axis": "a\ud83d"}), UnknownTermError, "where axis: .* half a character"),
        (lambda: hbe.evaluate(where=TEXTS), UnknownTermError, "--where .text.: write KEY=VALUE"),
        (lambda: hbe.evaluate(pairs=LONG), EvaluationError, "^xxx.*(: File name too long| does not exist)"),
        (lambda: hbe.measure("sentiment", "a\0.csv"), TableError, "table: .* has a null character"),
        (lambda: hbe.measure("sentiment", TEXTS, positive=3), EvaluationError, "--positive: it must be at most 1"),
        (lambda: hbe.measure("sentiment", TEXTS, seed=-1), EvaluationError, "--seed: it must be at least 0"),
        (lambda: hbe.measure("sentiment", TEXTS, where={"a": "b"}), EvaluationError, "there is no setting 'where'"),
        (lambda: hbe.evaluate(measures="generation_bias", responses=TEXTS), EvaluationError, "a file, .*DataFrame"),
        (lambda: hbe.evaluate(measures="medians", limit=pd.NA), EvaluationError, "--limit: it must be .* not NAType"),
        (lambda: hbe.evaluate(measures="medians", seed=Kind.ONE), EvaluationError, "--seed: it must be .* not Kind"),
        (lambda: hbe.evaluate(measures=TEXTS.index), EvaluationError, "measures: it must be a text, or a list"),
        (lambda: hbe.evaluate(measures=pd.Series([1, 2])), EvaluationError, "measures: it must be a text, or a list"),
        (lambda: hbe.evaluate(where=SCALAR), UnknownTermError, "where: it must be a text, or a list"),
        (lambda: hbe.measure("sentiment", pd.DataFrame), TableError, "the table: it must be a file, .* not type"),
        (lambda: hbe.measure("sentiment", LONG), TableError, r"x\.csv (cannot be read .* name too|does not exist)"),
        (lambda: hbe.measure("sentiment", None), TableError, r"the table: it must be a file, .* not NoneType"),
        (lambda: hbe.measure(TEXTS, "sentiment"), EvaluationError, "name: it must be .* not DataFrame"),
        (lambda: hbe.measure("toxicity", TEXTS, classifier=len), EvaluationError, "--classifier: it must be a text"),
        (lambda: hbe.classify(["a"], WRONG), EvaluationError, "classifier: it must be a name, .* not int"),
        (lambda: hbe.measure("sentiment", pd.concat([TEXTS, TEXTS], axis=1)), TableError, "has 2 columns 'text'"),
        (lambda: hbe.generate("", ["Hello."]), EvaluationError, "--model is empty: give a name"),
        (lambda: hbe.generate(prompts=WRONG), TableError, r"the table: it must be a file, .* not int"),
        (lambda: hbe.mitigate(WRONG, out="out"), EvaluationError, "method: it must be a text, .* not 3"),
        (lambda: hbe.mitigate("lmd", out=WRONG), OutputError, "out: it must be the name of a file or folder, not int"),
        (lambda: hbe.mitigate("lmd", WRONG, out="out"), EvaluationError, "model: it must be a name .* not int"),
        (lambda: hbe.mitigate("lmd", out="out", release=WRONG), EvaluationError, "release: it must be .* not int"),
        (lambda: hbe.mitigate("lmd", out="out", seed="x"), EvaluationError, "--seed: it must be a whole number"),
        (lambda: hbe.mitigate("lmd", out="out", seed=-1), EvaluationError, "--seed: it must be at least 0"),
        (lambda: holisticbias.build_release(WRONG), SourceError, "catalog: it must be .* not int"),
        (lambda: holisticbias.build_release(mini_catalog(), TEXTS), UnknownVersionError, "version: .* not DataFrame"),
        (lambda: holisticbias.build_release(mini_catalog(), subset=WRONG), UnknownVersionError, "subset: .* not int"),
        (
            lambda: list(holisticbias.build_release(mini_catalog()).shards("a")),
            ReleaseError,
            "no table .a.; it has sent",
        ),
        (lambda: holisticbias.open_release("1.0.0", WRONG), SourceError, "catalog: it must be .* not int"),
        (lambda: holisticbias.load_catalog(WRONG), SourceError, "root: it must be the name .* not int"),
        (lambda: holisticbias.load_catalog(LONG), SourceError, r"x\.csv .*(read: File name too|is not a folder)"),
        (lambda: holisticbias.open_release(WRONG), ReleaseError, "release: it must be the name .* not int"),
        (lambda: holisticbias.open_release("a\0b"), ReleaseError, "release: .* has a null character"),
        (lambda: holisticbias.write_release(WRONG, "out"), ReleaseError, "release: it must be .* not int"),
        (lambda: hbe.mitigate("lmd", Path("none"), out="out", no_measure=True), ModelError, "none"),
        (lambda: hbe.open_run(WRONG), RunError, "a run is what evaluate gives, or its folder, not int"),
        (lambda: hbe.compare("none", WRONG), RunError, "none is not a run"),
    ],
)
def test_each_wrong_input_is_one_line(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("call", ["save", "report", "chart"])
def test_a_run_is_written_to_a_named_file_alone(run: ModelRun, call: str) -> None:
    with pytest.raises(OutputError, match=r"it must be the name of a file or folder, not int"):
        getattr(run, call)(**{"folder" if call == "save" else "path": WRONG})


def test_a_recipe_with_a_null_character_is_refused(tmp_path: Path) -> None:
    recipe = tmp_path / "own.yaml"
    recipe.write_text('measure: retention\nretain: "a\\0b"\n')
    with pytest.raises(RecipeError, match=r"own.yaml:2: retain: 'a.x00b' has a null character"):
        hbe.evaluate(recipe=recipe)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, list])
def test_a_frame_is_measured_as_its_file(make: Callable[..., object], tmp_path: Path) -> None:
    frame = pd.DataFrame(PERPLEXITIES)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    of_file = hbe.measure("medians", tmp_path / "scores.csv", progress=False)
    of_frame = hbe.measure("medians", make(PERPLEXITIES), progress=False)
    assert of_frame.figures == of_file.figures
    assert repr(of_frame) == "<Measurement: Median perplexities of the table>"
    with pytest.raises(EvaluationError, match="there is no measure 'median'; close to it: medians; "):
        hbe.measure("median", make(PERPLEXITIES), progress=False)


@pytest.mark.parametrize("other", [[1, 2], [True, 1]])
def test_an_array_in_a_cell_is_a_list(other: list[object]) -> None:
    """Parquet gives lists to pandas as arrays."""
    forms = [np.array(["wugs", "daxes"]), None]
    frame = TEXTS.assign(forms=forms, other=pd.Series(other, dtype=object))
    read = hbe.measure("sentiment", frame, progress=False).tables["texts"]
    assert read["forms"].to_pylist() == [["wugs", "daxes"], []]


def test_rows_may_lack_a_key() -> None:
    rows: list[object] = [{"response": "Hi."}, {"response": "I love you.", "descriptor": "Deaf"}, "Bye."]
    judged = hbe.classify(rows, "vader", no_store=True, progress=False)
    assert judged["descriptor"].to_pylist() == [None, "Deaf", None]
    assert judged["response"].to_pylist() == ["Hi.", "I love you.", "Bye."]
    with pytest.raises(TableError, match="the table"):
        hbe.classify([], "vader", no_store=True, progress=False)


def test_two_runs_are_compared(run: ModelRun, tmp_path: Path) -> None:
    found = hbe.compare(run, run)
    folder = run.save(tmp_path / "run")
    assert hbe.compare(folder, folder).compared == found.compared
    changes = found.figures.to_pandas()
    assert (changes[changes.name == "change"].value.dropna() == 0).all()
    gains = found.gains()
    assert repr(gains) == "<7 changes: 2 not defined, 2 baseline, 3 no change shown>"
    assert gains.to_pandas()["outcome"].tolist() == [gain.outcome for gain in gains]
    assert gains.to_polars().columns[:7] == ["measure", "figure", "unit", "before", "after", "change", "p_value"]
    assert "iframe" in found._repr_html_()


def test_a_key_of_a_figure_is_not_shown_in_place_of_its_name() -> None:
    values: dict[str, Any] = dict.fromkeys(("before", "after", "change", "interval", "p_value"))
    words: dict[str, Any] = {"unit": "share", "better": "none", "outcome": "not defined", "kind": "other"}
    share, mean = (
        Gain(measure="norms", figure=name, keys=keys, n=0, whole=True, **values, **words)
        for name, keys in (("share", {"domain": "a"}), ("mean", {"figure": "mean"}))
    )
    table = GainTable((share, mean)).to_arrow()
    assert table["figure"].to_pylist() == ["share", "mean"]
    assert table.schema.field("p_value").type == table.schema.field("interval_low").type == pa.float64()


def test_a_mitigation_trains_and_shows_itself(tmp_path: Path) -> None:
    quick: dict[str, Any] = {"steps": 1, "batch": 4, "evaluations": 1, "device": "cpu", "no_measure": True}
    made = hbe.mitigate("cada", out=tmp_path / "out", hold_out=["fitch"], progress=False, **quick)
    (one,) = made.models
    assert known(one.record.specification).held_out == ("fitch", "dorrin", "quav")
    assert made.page.is_file()
    assert "Counter Attribute" in made._repr_html_()
