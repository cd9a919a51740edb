"""Every option with every measure: it changes what a run records, or is refused with what it is for."""

from __future__ import annotations

import csv
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
from rich.console import Console
from tests.evaluation.conftest import VERSION, mini_catalog

from holisticbias import build_release, write_release
from holisticbias.release.intersections import Request, write_intersections
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
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.words import POLARITY
from holisticbias_eval.settings import Uses, refuse_unused

HOW = {
    *("recipe", "measure", "out", "overwrite", "dry_run", "store", "no_store", "kind", "device", "batch", "replicas"),
    *("engine", "ray_address", "api_base", "api_concurrency", "api_rate", "api_budget", "api_timeout", "api_wait"),
    *("api_largest", "api_endpoint", "api_batch", "api_retries", "classifier_api_base"),
}
"""Options of where and how it runs, which are refused or not, and change no signature."""
INPUTS = {"model", "pairs", "test_set", "retain", "retain_command", "responses", "prompts", "corpus", "norms"}
"""Inputs, which always change the run."""
Invoke = Callable[..., tuple[int, str, str]]


def option(command: str, name: str) -> click.Parameter:
    found: click.Command = import_module(f"holisticbias_eval.commands.{command}").command
    return next(param for param in found.params if param.name == name)


def flag(command: str, name: str) -> str:
    return option(command, name).opts[0]


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory, mini_release_folder: Path) -> Mapping[str, Path]:
    """Small files of every kind."""
    folder = tmp_path_factory.mktemp("inputs")
    files = {name: folder / name for name in ("lines.txt", "more.txt", "prompts.csv", "human.csv", "phrases.yaml")}
    files["lines.txt"].write_text("A quiet day.\nRain in the north.\n")
    files["more.txt"].write_text("You are calm.\nYou are loud.\n")
    people = [{"prompt": f"A {name} walks", "group": name} for name in ("blicket", "doff")]
    write_csv(files["prompts.csv"], people)
    write_csv(files["human.csv"], [{**row, "continuation": "home."} for row in people])
    rated = ("Word", "V.Mean.Sum", "A.Mean.Sum", "D.Mean.Sum")
    for name, word in (("norms.csv", "calm"), ("other-norms.csv", "loud")):
        write_csv(folder / name, [dict(zip(rated, (word, 5.0, 4.0, 3.0), strict=True))])
    phrases = {"id": "few", "source": "this test", "phrases": {"greetings": ["hello"]}}
    files["phrases.yaml"].write_text(yaml.safe_dump(phrases))
    polarity = yaml.safe_load(POLARITY.find("gender-polarity").read_text())
    (folder / "polarity.yaml").write_text(yaml.safe_dump({**polarity, "id": "other"}))
    pairs = [
        {
            "pair_id": f"p{i}", "specification": "invented.one", "attribute": attribute, "term": "dromel",
            "other_term": "tazzin", "sentence": f"The dromel is {attribute}.",
            "other_sentence": f"The tazzin is {attribute}.", "stereotyped": side,
        }
        for i, (attribute, side) in enumerate((("ferlic", "sentence"), ("sarlish", "other_sentence")))
    ]  # fmt: skip
    (folder / "bold" / "prompts").mkdir(parents=True)
    bold = {"Blickets": {"Mel_Rowe": ["Mel Rowe is a maker of", "Mel Rowe"], "Ada_Smith": ["Ada Smith is a maker of"]}}
    (folder / "bold" / "prompts" / "craft_prompt.json").write_text(json.dumps(bold))
    write_csv(folder / "pairs.csv", pairs)
    write_csv(folder / "responses.csv", [{"axis": "age", "template": "I'm {noun_phrase}.", "descriptor": "young",
                                          "response": "Hi."}])  # fmt: skip
    write_csv(folder / "texts.csv", [{"group": name, "prompt": "A", "response": "b."} for name in ("blicket", "doff")])
    write_intersections(mini_catalog(), Request(VERSION, "age x ability"), folder / "intersections")
    write_intersections(mini_catalog(("person", "kid")), Request(VERSION, "age x ability"), folder / "fewer")
    write_release(build_release(mini_catalog(("person", "kid"))), folder / "other")
    small = SubsetFile(subset="small", summary="One term.", descriptors=("age.young",))
    write_release(build_release(replace(mini_catalog(), subsets=(small,))), folder / "whole")
    named = (
        "bold",
        "norms.csv",
        "other-norms.csv",
        "polarity.yaml",
        "pairs.csv",
        "responses.csv",
        "texts.csv",
        "intersections",
        "fewer",
        "other",
        "whole",
    )
    return {**files, **{name: folder / name for name in named}, "mini": mini_release_folder}


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random masked model of one layer."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    words = BertWordPieceTokenizer()
    words.train_from_iterator(["These are young people. That is a deaf kid."] * 9, vocab_size=80, show_progress=False)
    BertTokenizerFast(tokenizer_object=words._tokenizer).save_pretrained(folder)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    BertForMaskedLM(BertConfig(vocab_size=80, **size)).save_pretrained(folder)
    return folder


def base(measure: str, files: Mapping[str, Path], masked: Path, name: str = "") -> tuple[str, ...]:
    """The options with which a measure is made."""
    kind = MEASURES[measure].task
    mini = files["whole" if name == "small" else "mini"]
    if kind == "texts" and name in ("variants", "personas", "censor", "release"):
        return ("--prompts", "sentences", "--model", "embedded-responder", *release(name, files["mini"]))
    known: dict[str, tuple[str, ...]] = {
        "sentences": release(name, mini),
        "seat": (*release(name, mini), "--model", str(masked)),
        "responses": release(name, mini),
        "intersections": release(name, files["intersections"]),
        "texts": () if name == "faulty_prompts" else ("--prompts", str(files["prompts.csv"])),
        "pairs": ("--pairs", str(files["pairs.csv"])),
        "lines": ("--retain", str(files["lines.txt"])),
        "dialogues": ("--retain", f"multiwoz:{files['mini']}"),
        "results": ("--retain-command", "true {model} {out}"),
    }
    own = known.get(kind, ())
    own += ("--norms", str(files["norms.csv"])) if measure == "norms" and name != "norms" else ()
    given = name in {"prompts": {"prompts"}, "pairs": {"pairs"}}.get(name, set())
    return () if given else (*own, *(("--model", "embedded-writer") if kind == "texts" else ()))


def release(name: str, folder: Path) -> tuple[str, ...]:
    return ("--release", str(folder))


def tried(name: str, measure: str, files: Mapping[str, Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options that an option needs, and the option with a value that is not the default."""
    more, text = str(files["more.txt"]), MEASURES[measure].task == "texts"
    responded = MEASURES[measure].task == "responses"
    where = "group=blicket" if text else "axis=age"
    values: dict[str, tuple[str, ...]] = {
        "recipe": ("gpt2-large",), "model": ("embedded",), "release": (str(files["other"]),), "measure": (measure,),
        "out": ("run",), "pll": ("within_word_l2r",), "context": ("Hello.",), "context_file": (more,),
        "context_seed": ("3",), "first_token": ("none",), "chat": ("on" if text else "off" if responded else "user",),
        "pairs": (str(files["pairs.csv"]),), "mode": ("published",), "test_set": (more,),
        "retain": (str(files["lines.txt"]),), "retain_command": ("true {model} {out}",), "kind": ("causal",),
        "dtype": ("bfloat16",), "device": ("cpu",), "engine": ("ray",), "api_base": ("http://127.0.0.1:9/v1",),
        "api_endpoint": ("completions",), "ray_address": ("auto",), "per_cell": ("2",), "where": (where,),
        "limit": ("40",), "seed": ("3",), "personas": (more,), "decoding": ("greedy",), "system": ("Be brief.",),
        "separator": ("<|endoftext|>",), "continuation": ("Say: {prompt}",), "control": ("no_bias",),
        "prompts": (str(files["prompts.csv"]),), "human": (str(files["human.csv"]),), "part": ("continuation",),
        "faulty_prompts": ("drop",), "style": ("continuation",), "norms": (str(files["other-norms.csv"]),),
        "polarity": (str(files["polarity.yaml"]),), "ties": ("published",), "positive": ("0.6",), "negative": ("-0.6",),
        "classifier": ("vader",),
        "responses": (str(files["texts.csv" if text else "responses.csv"]),), "clusters": ("found",),
        "phrases": (str(files["phrases.yaml"]),), "corpus": (more,), "store": ("store",),
        "classifier_api_base": ("http://127.0.0.1:9/v1",),
    }  # fmt: skip
    flags = {"variants": ("--no-variants",) if MEASURES[measure].task != "sentences" else ("--variants",)}
    flags["variants"] = ("--variants",) if MEASURES[measure].task in ("sentences", "seat") else flags["variants"]
    flags |= {
        "censor": ("--no-censor",),
        **{n: (flag("evaluate", n),) for n in ("overwrite", "no_store", "dry_run", "small")},
    }
    kind = MEASURES[measure].task
    given: dict[tuple[str, str], tuple[str, ...]] = {
        **{("context_seed", asked): ("--context-file", more) for asked in ("sentences", "seat", "test_set")},
        ("context_seed", "intersections"): ("--context-file", more),
        **{("seed", asked): ("--limit", "40") for asked in ("sentences", "seat")},
        ("faulty_prompts", "texts"): ("--prompts", str(files["bold"])),
    }
    return given.get((name, kind), ()), flags.get(name) or (flag("evaluate", name), *values.get(name, ("1",)))


def read(arguments: tuple[str, ...]) -> tuple[str | None, str | None, list[str], dict[str, Any]]:
    """The model, the release, the measures and the settings of a command line."""
    context = evaluate.make_context("evaluate", list(arguments))
    values, given = given_settings(context), context.params
    return given["model"], values.pop("release", None), given["measure"].split(","), values


def refusal(arguments: tuple[str, ...]) -> str | None:
    try:
        _, version, measures, values = read(arguments)
        refuse_unused({**values, **({"release": version} if version else {})}, all_uses(), measures)
    except (click.UsageError, EvaluationError) as error:
        return str(error)
    return None


@cache
def sign(arguments: tuple[str, ...]) -> list[Mapping[str, Any]] | str:
    """The signatures of the runs that options ask for, before anything is scored, or why they do not fit the model."""
    model, version, measures, values = read(arguments)
    try:
        made = list(prepare(model, version, measures, values, Display(Console(quiet=True))))
    except EvaluationError as error:
        return str(error)
    return [one.signature.model_dump(exclude={"versions", "machine"}) for one in made]


EVALUATE = evaluate.make_context("evaluate", []).command.params


@pytest.mark.parametrize("name", [str(param.name) for param in EVALUATE if param.name not in ("set", "help_all")])
def test_an_option_of_evaluate_changes_what_is_recorded_or_is_refused(
    name: str, inputs: Mapping[str, Path], tiny_bert: Path
) -> None:
    accepted: dict[str, list[str]] = {}
    for measure, found in MEASURES.items():
        own = base(measure, inputs, tiny_bert, name)
        companions, given = tried(name, measure, inputs)
        said = refusal(("--measure", measure, *own, *companions, *(() if given[0] in own else given)))
        if said is None:
            accepted.setdefault(found.task, []).append(measure)
        else:
            assert flag("evaluate", name) in said
            assert " is for " in said
            assert "here it has no effect" in said or name == "chat"
    assert accepted or name in HOW
    for measures in accepted.values():
        if name not in HOW | INPUTS and measures[0] not in ("dialogue_state", "retained"):
            _check_recorded(name, measures, inputs, tiny_bert)


def _check_recorded(name: str, measures: list[str], inputs: Mapping[str, Path], tiny_bert: Path) -> None:
    """Check that an option which is accepted for measures of one run changes their signature, or does not fit."""
    light = [measure for measure in measures if measure not in ("toxicity", "regard")]  # their models are not here
    for measure in light[:1]:
        companions, given = tried(name, measure, inputs)
        arguments = ("--measure", measure, *base(measure, inputs, tiny_bert, name), *companions)
        changed, plain = sign((*arguments, *given)), sign(arguments)
        assert not isinstance(plain, str), plain
        if isinstance(changed, str):
            assert flag("evaluate", name) in changed
        assert changed != plain, f"{given} is accepted for {measure}, and changes nothing"


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


SETTINGS: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "seed": (("--seed", "3"), {"seed": 3}),
    "clusters": (("--clusters", "found"), {"clusters": "found"}),
    "threshold": (("--threshold", "0.7"), {"threshold": 0.7}),
    "positive": (("--positive", "0.7"), {"positive": 0.7}),
    "negative": (("--negative", "-0.7"), {"negative": -0.7}),
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_setting_of_measure_changes_what_is_recorded_or_is_refused(
    name: str, measure: str, inputs: Mapping[str, Path]
) -> None:
    given, changed = SETTINGS[name]
    settings = MeasureSettings(norms=(str(inputs["norms.csv"]),))
    said = unused("measure", (measure, "t.csv", *given), (measure,))
    records = [MEASURES[measure].signature(s) for s in (settings, settings.model_copy(update=changed))]
    own = name == "threshold" and MEASURES[measure].needs.answers == "offensiveness"  # of the card, in a run
    assert (not said) == (records[0] != records[1] or own)
    assert not said or measure not in said


@pytest.mark.parametrize("measure", [name for name, found in MEASURES.items() if found.needs.answers != "texts"])
def test_trust_is_for_measures_that_resample(measure: str) -> None:
    said = unused("measure", (measure, "t.csv", "--no-trust"), (measure,))
    assert (not said) == MEASURES[measure].resamples


CARD = """
id: judge
title: A chat model
task: toxicity
engine: chat
model: m
labels: [toxic, none]
activation: none
offensive: toxic
prompt: "{text}"
licence: none
source: this test
limits: none
"""
TABLE = (
    ("measure", ("norms", "t.csv", "--classifier", "vader"), "--classifier is for toxicity and regard"),
    ("measure", ("norms", "t.csv", "--phrases", "x"), "--phrases is for response_wording"),
    ("measure", ("sentiment", "t.csv", "--no-store"), "--no-store is for toxicity and regard"),
    ("measure", ("sentiment", "t.csv", "--corpus", "c.txt"), "--corpus is for stance_contrast"),
    ("measure", ("sentiment", "t.csv", "--polarity", "x"), "--polarity is for gender_polarity"),
    ("measure", ("medians", "t.csv", "--norms", "x"), "--norms is for norms"),
    ("measure", ("medians", "t.csv", "--device", "cpu"), "--device is for toxicity and regard"),
    ("measure", ("toxicity", "t.csv", "--classifier-api-base", "http://a"), "--classifier-api-base is for"),
    (
        "measure",
        ("toxicity", "t.csv", "--classifier-api-base", "http://a", "--classifier", "judge.yaml"),
        "",
    ),
    ("measure", ("likelihood_bias", "t.csv", "--seed", "1", "--no-trust"), "--seed is for stance_contrast"),
    ("measure", ("likelihood_bias", "t.csv", "--seed", "1"), ""),
    ("generate", ("--prompts", "p.txt", "--personas", "x.txt"), "--personas is for runs about a release's sentences"),
    ("generate", ("--prompts", "p.txt", "--no-variants"), "--variants/--no-variants is for runs about a release's"),
    ("generate", ("--prompts", "p.txt", "--limit", "3"), ""),
    ("generate", ("--prompts", "sentences", "--no-variants"), ""),
    ("generate", ("--api-base", "http://a"), "--api-base is for runs with --engine api"),
    ("generate", ("--api-endpoint", "chat"), "--api-endpoint is for runs with --engine api"),
    ("generate", ("--replicas", "2"), "--replicas is for runs with --engine ray"),
    ("generate", ("--engine", "api", "--batch", "2"), "--batch is for runs with --engine local or ray"),
    ("generate", ("--engine", "api", "--api-rate", "2"), ""),
    ("generate", ("--store", "s", "--no-store"), "--store is for runs without --no-store"),
    ("mitigate", ("lmd", "--out", "o", "--alpha", "1"), "--alpha is for style_equality and self_chat"),
    ("mitigate", ("lmd", "--out", "o", "--where", "axis=age"), "--where is for style_equality and self_chat"),
    ("mitigate", ("ctda", "--out", "o", "--weight", "1"), "--weight is for lmd and add"),
    ("mitigate", ("self_chat", "--out", "o", "--corpus", "c"), "--corpus is for lmd, add, ctda and cada"),
    ("mitigate", ("self_chat,lmd", "--out", "o", "--corpus", "c", "--alpha", "1"), ""),
    ("mitigate", ("lmd", "--out", "o", "--max-perplexity-rise", "1"), "--max-perplexity-rise is for runs with --grid"),
    ("mitigate", ("lmd", "--out", "o", "--epochs", "1", "--steps", "1"), "--epochs is for runs without --steps"),
    ("mitigate", ("lmd", "--out", "o", "--release", "1.0.0"), "--release is for runs with --measure without"),
    ("mitigate", ("lmd", "--out", "o", "--release", "1.0.0", "--measure", "medians"), ""),
    ("mitigate", ("lmd", "--out", "o", "--no-measure", "--measure", "medians"), "--measure is for runs without --no"),
    ("mitigate", ("self_chat", "--out", "o", "--threshold", "1", "--quantile", "0.5"), "--quantile is for style_equal"),
    ("mitigate", ("self_chat", "--out", "o", "--no-measure", "--responses", "r", "--system", "s"), "--system is for"),
    (
        "classify",
        ("--responses", "r", "--classifier", "vader", "--out", "o", "--device", "cpu"),
        "--device is for runs",
    ),
    (
        "classify",
        ("--responses", "r", "--classifier", "vader", "--out", "o", "--classifier-api-base", "u"),
        "--classifier-api-base is for runs",
    ),
    ("classify", ("--responses", "r", "--classifier", "judge.yaml", "--out", "o", "--classifier-api-base", "u"), ""),
)


@pytest.mark.parametrize(("command", "arguments", "said"), TABLE)
def test_options_of_other_commands(
    command: str, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("judge.yaml").write_text(CARD)
    chosen = tuple(arguments[0].split(",")) if command in ("measure", "mitigate") else ()
    found = unused(command, arguments, chosen)
    assert found.startswith(said) if said else not found
    assert not found or found.endswith("here it has no effect, so leave it out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measure", "likelihood_bias", "--where", "nonsense"), "write KEY=VALUE"),
        (("--measure", "likelihood_bias", "--classifier", "nonsense"), "--classifier is for generation_bias"),
        (("--measure", "likelihood_bias", "--personas", "missing.txt"), "--personas is for generation_bias"),
        (("--measure", "likelihood_bias", "--api-base", "http://a"), "with --engine api"),
        (("--measure", "generation_bias", "--where", "nonsense"), "write KEY=VALUE"),
        (("--measure", "generation_bias", "--classifier", "nonsense"), "there is no classifier 'nonsense'"),
        (("--measure", "generation_bias", "--personas", "missing.txt"), "missing.txt cannot be read"),
        (("--measure", "sentiment", "--where", "nonsense"), "write KEY=VALUE"),
        (("--measure", "sentiment", "--classifier", "nonsense"), "--classifier is for generation_bias"),
        (("--measure", "toxicity", "--classifier", "nonsense"), "there is no classifier 'nonsense'"),
        (("--measure", "sentiment", "--faulty-prompts", "drop"), "with --prompts of BOLD"),
    ],
)
def test_nonsense_is_refused_by_the_command(
    invoke: Invoke, arguments: tuple[str, ...], message: str, mini_release_folder: Path, tmp_path: Path
) -> None:
    own = () if {"sentiment", "toxicity"} & {*arguments} else ("--release", mini_release_folder)
    code, said, error = invoke("evaluate", *arguments, *own, "--out", tmp_path / "run")
    assert (code, said) == (2, "")
    assert message in " ".join(error.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (("--set", "norms=a.csv", "--set=norms=b.csv"), {"norms": ("a.csv", "b.csv")}),
        (("--set", "chat=on"), {"chat": "on"}),
        (("--set", "per_cell=2", "--set", "part=whole"), {"per_cell": 2, "part": "whole"}),
        (("--set", "censor=no", "--set", "variants=yes"), {"censor": False, "variants": True}),
        (("--set", "no_store=no"), {}),
        (("--set", "context=a=b"), {"context": "a=b"}),
    ],
)
def test_a_setting_is_an_option(written: tuple[str, ...], plain: dict[str, object]) -> None:
    assert given_settings(evaluate.make_context("evaluate", list(written))) == plain


@pytest.mark.parametrize("written", ["colour=red", "norms", ""])
def test_a_setting_that_is_not_there_is_refused(written: str) -> None:
    with pytest.raises(click.UsageError, match="--set takes NAME=VALUE"):
        evaluate.make_context("evaluate", ["--set", written])


def test_a_source_of_no_chosen_measure_is_refused(inputs: Mapping[str, Path]) -> None:
    retain = ("--retain", str(inputs["lines.txt"]), "--retain", f"multiwoz:{inputs['mini']}")
    said = sign(("--measure", "retention", "--model", "embedded", *retain))
    assert said == "texts are given for dialogue_state: add it to --measure, or leave them out"
