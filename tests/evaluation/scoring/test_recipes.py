from pathlib import Path

import pytest

from holisticbias.cli import main
from holisticbias_eval.commands import evaluate, generate, mitigate
from holisticbias_eval.errors import RecipeError
from holisticbias_eval.evaluating import all_uses
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.loading.load import AUTO_CLASSES
from holisticbias_eval.options import given_settings
from holisticbias_eval.results.recipes import read_recipe, recipe_files
from holisticbias_eval.results.run import read_signature
from tiny_models import DECODER, MODELS, saved, surround

from .small_models import COMMON, GPT2, make_model, make_tokenizer

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>", "unk_token": "<unk>"}
ARCHITECTURES: dict[str, tuple[str, dict[str, int]]] = {
    "gpt2-large": ("GPT2Config", GPT2),
    "dialogpt-medium": ("GPT2Config", GPT2),
    "blenderbot-400m-distill": MODELS["blenderbot"],
    "blenderbot-3b": MODELS["blenderbot"],
    "roberta-large": ("RobertaConfig", COMMON | {"max_position_embeddings": 131}),
}


LIKE_OTHERS = {"dialogpt-medium", "blenderbot-3b"}
"""Recipes for the architecture of another one; they are run at night."""


def test_every_recipe_is_tried_here() -> None:
    assert set(recipe_files({}).available()) == set(ARCHITECTURES)
    for name in LIKE_OTHERS:
        assert read_recipe(name, all_uses())["kind"] in AUTO_CLASSES


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in LIKE_OTHERS else []) for name in ARCHITECTURES]
)
def test_a_recipe_on_a_tiny_model_of_its_architecture(name: str, mini_release_folder: Path, tmp_path: Path) -> None:
    recipe = read_recipe(name, all_uses())
    config, settings = ARCHITECTURES[name]
    tokenizer = make_tokenizer(**SPECIAL)
    if recipe["kind"] == "seq2seq":  # BlenderBot's closes every text
        surround(tokenizer, "$A </s>")
    made = make_model(config, AUTO_CLASSES[recipe["kind"]], **DECODER | settings)
    model, run = saved(tmp_path / "tiny", made, tokenizer), tmp_path / "run"
    beside = ["--model", str(model), "--release", str(mini_release_folder), "--out", str(run), "--no-store"]
    assert main(["evaluate", "--recipe", name, *beside]) == 0
    signature = read_signature(run)
    assert signature.model.name == str(model), "an option overrides a recipe"
    by_default = [n for n, m in MEASURES.items() if m.task == "sentences"]
    assert list(signature.measures) == (recipe["measures"].split(",") if "measures" in recipe else by_default)
    assert signature.scoring["scorer"] == recipe["kind"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty|empty"),
        ("model: a/b\nmodel: c/d\n", "model"),
        ("measures: phrenology\n", "measures: there is no measure 'phrenology'; `holisticbias measures` explains all"),
        ("measure: [medians, 1]\n", "measures: it must be a text"),
        ("measure: [medians, phrenology]\n", "measures: there is no measure 'phrenology'"),
        ("model: a/b\nlimit: 0\n", "limit: it must be at least 1"),
        ("model: a/b\nlimit: many\n", "limit: it must be a whole number"),
        ("model: a/b\ntrust_remote_code: true\n", "trust_remote_code: the key is not in the schema"),
    ],
)
def test_a_wrong_recipe_is_one_clear_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(RecipeError, match=message) as raised:
        read_recipe(str(path), all_uses())
    assert str(path) in str(raised.value)


def test_a_recipe_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--recipe", "gpt-9"]) == 2
    assert "there is no recipe 'gpt-9' and no such file; available: blenderbot-3b, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "beside", "content", "expected"),
    [
        (
            "evaluate", (), "where: axis=age\nlimit: 40\nvariants: false\nstore: kept\nchat: 'on'\n",
            {"where": ("axis=age",), "limit": 40, "variants": False, "store": Path("kept"), "chat": "on"},
        ),
        ("evaluate", ("--limit", "3"), "limit: 40\nno_store: true\n", {"limit": 3, "no_store": True}),
        ("generate", (), "per_cell: 2\ndecoding: greedy\n", {"per_cell": 2, "decoding": "greedy"}),
        (
            "mitigate", ("lmd", "--out", "o", "--measures", "medians"), "hold_out: [a, b]\nlearning_rate: 0.1\n",
            {"hold_out": ("a", "b"), "learning_rate": 0.1, "measures": ("medians",)},
        ),
        ("mitigate", ("lmd", "--out", "o"), "measures: medians\nbatch: 2\n", {"measures": ("medians",), "batch": 2}),
        ("mitigate", ("lmd", "--out", "o"), "measure: [medians]\n", {"measures": ("medians",)}),
        (
            "mitigate", ("lmd", "--out", "o", "--measure=a", "--measure", "b"), "batch: 2\n",
            {"measures": ("a", "b"), "batch": 2},
        ),
    ],
)  # fmt: skip
def test_a_recipe_has_any_settings_of_its_command(
    name: str, beside: tuple[str, ...], content: str, expected: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, "utf-8")
    command = {"evaluate": evaluate, "generate": generate, "mitigate": mitigate}[name].command
    context = command.make_context(name, [*beside, "--recipe", str(path)])
    assert given_settings(context) == expected
