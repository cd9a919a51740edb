"""Every setting of every task changes what a run records; a setting without effect is refused with what it is for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from tests.evaluation.conftest import mini_catalog
from tests.golden.inputs import write_inputs

from holisticbias import build_release, write_release
from holisticbias.terms.file_kinds import SubsetFile
from holisticbias_eval.classifying import USES as USES_OF_CLASSIFY
from holisticbias_eval.commands.evaluate import command as evaluate
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.evaluating import all_uses, prepare
from holisticbias_eval.generating import USES as USES_OF_GENERATE
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measuring import measure_uses
from holisticbias_eval.mitigation.run import mitigation_uses
from holisticbias_eval.options import SettingsCommand, given_settings
from holisticbias_eval.readers.words import POLARITY
from holisticbias_eval.settings import Uses, refuse_unused
from invoking import Invoke
from quiet import QUIET
from row_files import write_table

HOW = {
    *("store", "no_store", "kind", "device", "batch", "replicas", "engine", "ray_address", "classifier_api_base"),
    *("api_base", "api_concurrency", "api_rate", "api_budget", "api_timeout", "api_wait", "api_largest"),
    *("api_endpoint", "api_batch", "api_retries"),
}
"""Settings of where and how a run is made, which change no signature."""
INPUTS = {"pairs", "test_set", "retain", "retain_command", "responses", "prompts", "corpus", "norms"}
"""Inputs, which always change the run."""
ELSEWHERE = {"toxicity", "regard", "dialogue_state", "retained"}
"""Measures whose models or data are not here."""


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small files of every kind."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    write_table(folder / "human.csv", [{"prompt": "A blicket walks", "group": "blicket", "continuation": "home."}])
    phrases = {"id": "few", "source": "this test", "phrases": {"greetings": ["hello"]}}
    (folder / "phrases.yaml").write_text(yaml.safe_dump(phrases))
    polarity = yaml.safe_load(POLARITY.find("gender-polarity").read_text())
    (folder / "polarity.yaml").write_text(yaml.safe_dump({**polarity, "id": "other"}))
    (folder / "bold" / "prompts").mkdir(parents=True)
    bold = {"Blickets": {"Mel_Rowe": ["Mel Rowe is a maker of", "Mel Rowe"], "Ada_Smith": ["Ada Smith is a maker of"]}}
    (folder / "bold" / "prompts" / "craft_prompt.json").write_text(json.dumps(bold))
    small = SubsetFile(subset="small", summary="One term.", descriptors=("age.young",))
    write_release(build_release(replace(mini_catalog(), subsets=(small,))), folder / "whole")
    return folder


def base(task: str, measure: str, name: str, files: Path) -> dict[str, Any]:
    """The settings with which a measure is made, when another setting is tried."""
    mini = files / ("whole" if name == "small" else "mini")
    contexts = str(files / "contexts.txt")
    own: dict[str, dict[str, Any]] = {
        "sentences": {"release": mini},
        "seat": {"release": mini, "model": files / "masked"},
        "responses": {"release": mini},
        "intersections": {"release": files / "intersections"},
        "texts": {"model": "embedded-writer", "prompts": str(files / "people.csv")},
        "pairs": {"pairs": str(files / "pairs.csv")},
        "lines": {"retain": (str(files / "lines.txt"),)},
        "test_set": {"test_set": str(files / "group-sentences.csv")},
    }
    made = own[task]
    if task == "texts" and name in ("variants", "personas", "censor", "release"):
        made = {"model": "embedded-responder", "prompts": "sentences", "release": mini}
    if name == "faulty_prompts":
        made = {**made, "prompts": str(files / "bold")}
    if name == "context_seed":
        made = {**made, "context_file": Path(contexts)}
    if name == "seed" and task in ("sentences", "seat"):
        made = {**made, "limit": 40}
    return {**made, "norms": (str(files / "norms.csv"),)} if measure == "norms" else made


def tried(task: str, name: str, files: Path) -> Any:
    """A value of a setting that is not the default."""
    contexts = files / "contexts.txt"
    values: dict[str, Any] = {
        "release": files / "terms", "small": True, "pll": "within_word_l2r", "context": "Hello.",
        "context_file": contexts, "context_seed": 3, "first_token": "none",
        "chat": {"texts": "on", "responses": "off"}.get(task, "user"), "mode": "published", "dtype": "bfloat16",
        "per_cell": 2, "where": ("group=blicket" if task == "texts" else "axis=age",), "limit": 2, "seed": 3,
        "variants": task in ("sentences", "seat"), "personas": contexts, "decoding": "greedy", "system": "Be brief.",
        "separator": "<|endoftext|>", "continuation": "Say: {prompt}", "control": "no_bias",
        "human": files / "human.csv", "measured": "continuation", "faulty_prompts": "drop", "style": "continuation",
        "polarity": str(files / "polarity.yaml"), "ties": "published", "polar": 0.9, "positive": 0.6, "negative": -0.6,
        "classifier": ("vader",), "clusters": "found", "phrases": str(files / "phrases.yaml"), "censor": False,
    }  # fmt: skip
    return values[name]


TRIED = {
    (MEASURES[measure].task, name): measure
    for measure, uses in reversed(list(all_uses().items()))
    for use in uses
    for name in use.names
    if measure not in ELSEWHERE and name not in HOW | INPUTS
}
"""The first measure of each task that uses a setting."""


@cache
def sign(measure: str, **values: Any) -> list[Mapping[str, Any]] | str:
    """The signatures of the runs that settings ask for, before anything is scored, or why they do not fit the model."""
    model, release = (name and str(name) for name in (values.pop("model", None), values.pop("release", None)))
    try:
        made = list(prepare(model, release, [measure], values, QUIET))
    except EvaluationError as error:
        return str(error)
    return [one.signature.model_dump(exclude={"versions", "machine"}) for one in made]


@pytest.mark.parametrize(("task", "name"), TRIED)
def test_a_setting_changes_what_is_recorded_or_does_not_fit(task: str, name: str, inputs: Path) -> None:
    measure = TRIED[task, name]
    own = base(task, measure, name, inputs)
    plain, changed = sign(measure, **own), sign(measure, **{**own, name: tried(task, name, inputs)})
    assert not isinstance(plain, str), plain
    if isinstance(changed, str):
        assert f"--{name.replace('_', '-')}" in changed
    assert changed != plain, f"{name} is accepted for {measure}, and changes nothing"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, "--style is for chat models: embedded-writer continues the plain text"),
        ({"separator": " "}, "--style is for runs without --chat off, --separator and --continuation"),
        ({"continuation": "{prompt}"}, "--style is for runs without --chat off, --separator and --continuation"),
        ({"chat": "off"}, "--style is for runs without --chat off, --separator and --continuation"),
    ],
)
def test_a_style_is_for_models_that_are_asked(other: dict[str, str], said: str, inputs: Path) -> None:
    own = base("texts", "sentiment", "style", inputs)
    assert said in sign("sentiment", **own, style="continuation", **other)


def test_clusters_of_styles_that_the_classifier_lacks_are_refused_before_a_model_is_asked(inputs: Path) -> None:
    own = base("responses", "generation_bias", "clusters", inputs)
    said = sign("generation_bias", **own, classifier=("calibration-styles",), clusters="holisticbias")
    assert "cluster 'sympathy' has the style 'Sympathetic', which the responses do not have" in said


USES: Mapping[str, Callable[[], Uses]] = {
    "measure": measure_uses,
    "generate": lambda: USES_OF_GENERATE,
    "classify": lambda: USES_OF_CLASSIFY,
    "mitigate": mitigation_uses,
}


def unused(command: str, arguments: tuple[str, ...], chosen: tuple[str, ...] = ()) -> str:
    """The message of a command about its first option without effect; empty if every option has one."""
    found: SettingsCommand = import_module(f"holisticbias_eval.commands.{command}").command
    context = found.make_context(command, list(arguments), help_option_names=["-h", "--help"])
    try:
        values = found.values(context)
        refuse_unused(values, USES[command](), chosen or (command,))
    except click.UsageError as error:
        return error.message
    except EvaluationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", 3), ("clusters", "found"), ("threshold", 0.7), ("positive", 0.7), ("negative", -0.7)],
)
def test_a_setting_of_measure_changes_what_is_recorded_or_is_refused(name: str, value: object, inputs: Path) -> None:
    changed = {name: value}
    norms = {"norms": (str(inputs / "norms.csv"),)}
    before = MeasureSettings(values=norms)
    both = before, before.model_copy(update={**changed, "values": {**norms, **changed}})
    for measure, found in MEASURES.items():
        said = unused("measure", (measure, "t.csv", f"--{name}", str(value)), (measure,))
        records = [found.signature(s) for s in both]
        own = name == "threshold" and found.needs.answers == "offensiveness"  # of the card, in a run
        assert (not said) == (records[0] != records[1] or own), measure
        assert not said or measure not in said


def test_trust_is_for_measures_that_resample() -> None:
    for measure, found in MEASURES.items():
        if found.needs.answers != "texts":
            assert (not unused("measure", (measure, "t.csv", "--no-trust"), (measure,))) == found.resamples


@pytest.mark.parametrize(("measure", "table"), [("retention", "neutral.csv"), ("dialogue_state", "candidates.csv")])
def test_without_trust_the_figures_of_quality_have_no_interval(
    inputs: Path, invoke: Invoke, measure: str, table: str
) -> None:
    trusted, bare = (list(invoke.figures("measure", measure, inputs / table, *more)) for more in ((), ("--no-trust",)))
    assert any(figure.interval for figure in trusted)
    assert bare == [figure.model_copy(update={"interval": None}) for figure in trusted]


@pytest.mark.parametrize(
    "words",
    [
        "measure toxicity t.csv --classifier-api-base http://a --classifier made-up.yaml",
        "measure likelihood_bias t.csv --seed 1",
        "generate --prompts sentences --no-variants",
        "generate --engine api --api-rate 2",
        "mitigate self_chat,lmd --out o --examples c --alpha 1",
        "mitigate lmd --out o --release 1.0.0 --measures medians",
        "classify --responses r --classifier made-up.yaml --out o --classifier-api-base u",
        "mitigate self_chat --out o --classifier made-up.yaml --classifier-api-base u",
    ],
)
def test_options_with_an_effect(
    words: str, card: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    card(task="toxicity", engine="chat", model="m", activation="none", prompt="{text}", offensive="kind")
    command, *arguments = words.split()
    chosen = tuple(arguments[0].split(",")) if command in ("measure", "mitigate") else ()
    assert not unused(command, tuple(arguments), chosen)


def test_a_setting_is_an_option() -> None:
    expected = {
        ("--set", "norms=a.csv", "--set=norms=b.csv"): {"norms": ("a.csv", "b.csv")},
        ("--set", "chat=on"): {"chat": "on"},
        ("--set", "per_cell=2", "--set", "measured=whole"): {"per_cell": 2, "measured": "whole"},
        ("--set", "censor=no", "--set", "variants=yes"): {"censor": False, "variants": True},
        ("--set", "no_store=no"): {},
        ("--set", "context=a=b"): {"context": "a=b"},
    }
    assert {
        written: given_settings(evaluate.make_context("evaluate", list(written))) for written in expected
    } == expected


def test_a_recipe_counts_for_measures_with_blanks_between_them(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("measure: sentiment\npositive: 0.7\nlimit: 3\nmode: choice\n")
    given = ["--recipe", str(recipe), "--measures", "retention, sentiment"]
    assert given_settings(evaluate.make_context("evaluate", given)) == {"positive": 0.7, "limit": 3}


def test_a_text_of_a_recipe_may_be_blank_as_in_an_option(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text('measure: response_wording\nseparator: "\\n"\n')
    given = ["--recipe", str(recipe)]
    assert given_settings(evaluate.make_context("evaluate", given))["separator"] == "\n"


@pytest.mark.parametrize(
    ("measure", "name", "value"),
    [
        ("medians", "context", ""),
        ("medians", "store", ""),
        ("generation_bias", "classifier", ("",)),
        ("generation_bias", "clusters", ""),
        ("generation_bias", "personas", ""),
    ],
)
def test_an_empty_setting_is_refused_as_option_and_in_python(
    measure: str, name: str, value: object, inputs: Path
) -> None:
    option = f"--{name}"
    context = evaluate.make_context("evaluate", ["--measures", measure, option, ""])
    for given in (given_settings(context), {name: value}):
        assert sign(measure, release=inputs / "mini", **given) == f"{option} is empty: give a value, or leave it out"


def test_an_empty_setting_is_refused_before_the_model_is_loaded(invoke: Invoke, tmp_path: Path) -> None:
    refused = invoke.refused("evaluate", "--model", tmp_path / "none", "--store", "")
    assert refused == "holisticbias: --store is empty: give a value, or leave it out\n"


def test_an_empty_control_leaves_it_out(inputs: Path) -> None:
    assert not isinstance(sign("response_wording", release=inputs / "mini", control=""), str)


def test_settings_that_are_read_already_are_taken_as_they_are() -> None:
    read = MeasureSettings()
    assert MeasureSettings.model_validate(read) is read
