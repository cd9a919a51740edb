"""``holisticbias generate``: prompts of a release or of a file in, a folder of responses out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.generating import GENERATION, Generation

Answer = tuple[int, str, str]
Invoke = Callable[..., Answer]
FEW = ("--per-cell", 2, "--where", "axis=nonce,age", "--where", "template=dialogue.im,dialogue.hate")


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A decoding of a few tokens: the model's window has 64."""
    path = tmp_path / "short.yaml"
    path.write_text("id: short\nmethod: sample\nmax_new_tokens: 4\nsource: this test\n", "utf-8")
    return path


@pytest.fixture
def generate(invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path) -> Callable[..., Answer]:
    def run(*options: object, out: str = "responses", release: bool = True) -> Answer:
        asked = ("--release", mini_release_folder) if release else ()
        return invoke(
            "generate", "--model", tiny_gpt2, *asked, "--store", tmp_path / "store", "--out", tmp_path / out, *options
        )

    return run


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["response_id"]: row for row in pq.read_table(folder / "responses.parquet").to_pylist()}


def test_a_release_is_asked_about(generate: Callable[..., Answer], tmp_path: Path, short: Path) -> None:
    code, said, _ = generate(*FEW, "--decoding", short)
    assert code == 0
    found = rows(tmp_path / "responses")
    assert len(found) == 5 * 2 * 2
    assert "20 responses: " in said
    assert {row["finish"] for row in found.values()} <= {"stop", "length"}
    assert all(row["tokens"] > 0 for row in found.values())
    content = json.loads((tmp_path / "responses" / GENERATION).read_text("utf-8"))
    jsonschema.validate(content, Generation.model_json_schema())
    assert content["counts"]["responses"] == 20
    assert content["generation"]["decoding"] == "short"
    assert content["generation"]["prompts_per_cell"] == "2"
    assert content["generation"]["seed"] == "0"
    assert content["model"]["weights_sha256"]


def test_other_responses_are_not_overwritten(generate: Callable[..., Answer], tmp_path: Path, short: Path) -> None:
    assert generate(*FEW, "--decoding", short)[0] == 0
    before = rows(tmp_path / "responses")
    assert generate(*FEW, "--decoding", short)[0] == 0  # the same responses may be replaced
    code, _, error = generate(*FEW, "--decoding", "greedy")
    assert code == 2
    assert "holds other responses (settings differ): name another folder with --out, or replace it" in error
    assert rows(tmp_path / "responses") == before
    assert generate(*FEW, "--decoding", "greedy", "--overwrite")[0] == 0
    assert rows(tmp_path / "responses") != before


def test_a_file_of_prompts(generate: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "prompts.csv").write_text("prompt,group\nI'm old.,a\nI love kids.,b\n")
    options = ("--prompts", tmp_path / "prompts.csv", "--per-cell", 2)
    assert generate(*options, release=False)[0] == 0
    found = rows(tmp_path / "responses")
    assert [(key, row["group"]) for key, row in found.items()] == [
        ("1/0", "a"),
        ("1/1", "a"),
        ("2/0", "b"),
        ("2/1", "b"),
    ]
    content = json.loads((tmp_path / "responses" / GENERATION).read_text("utf-8"))
    assert content["release"] is None
    assert content["prompts"] == "prompts.csv"
    assert len(content["prompts_sha256"]) == 64


def test_fewer_prompts_of_a_file_are_other_responses(generate: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("I'm old.\nI love kids.\n")
    options = ("--prompts", tmp_path / "prompts.txt")
    assert generate(*options, release=False)[0] == 0
    code, _, error = generate(*options, "--limit", 1, release=False)
    assert (code, "holds other responses (settings differ)" in error) == (2, True)
    assert len(rows(tmp_path / "responses")) == 2
    content = json.loads((tmp_path / "responses" / GENERATION).read_text("utf-8"))
    assert content["generation"]["prompts_limit"] == "none"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", ""), "--model is empty: give a name, or leave --model out"),
        (("--release", ""), "--release is empty"),
        (("--prompts", "none.csv"), "none.csv does not exist or is not a file"),
        (("--decoding", ""), "there is no decoding ''"),
        (("--engine", "api", "--api-batch", 2), "No such option '--api-batch'"),
        (("--engine", "api", "--api-timeout", "inf"), "'--api-timeout': inf is not in the range"),
        (("--engine", "api", "--set", "api_wait=1e300"), "'--api-wait': 1e+300 is not in the range"),
    ],
)
def test_what_cannot_be_used_is_one_line(options: tuple[object, ...], said: str, invoke: Invoke) -> None:
    code, _, error = invoke("generate", "--limit", 2, "--no-store", *options)
    assert (code, said in error.rstrip().splitlines()[-1]) == (2, True), error


def test_prompts_to_continue(generate: Callable[..., Answer], tmp_path: Path) -> None:
    bold = {"Blickets": {"Ada": ["A blicket from the north is "]}, "Daxes": {"Bob": ["A dax from the south is "]}}
    (tmp_path / "bold").mkdir()
    (tmp_path / "bold" / "craft_prompt.json").write_text(json.dumps(bold))
    options = ("--prompts", tmp_path / "bold", "--where", "group=Daxes", "--per-cell", 2)
    code, _, error = generate(*options, release=False)
    assert code == 0, error
    found = rows(tmp_path / "responses").values()
    assert [(row["prompt"], row["group"], row["sample"]) for row in found] == [
        ("A dax from the south is", "Daxes", 0),
        ("A dax from the south is", "Daxes", 1),
    ]
    content = json.loads((tmp_path / "responses" / GENERATION).read_text("utf-8"))
    assert (content["release"], content["prompts"]) == (None, "bold")
    assert content["generation"]["decoding"] == "bold-gpt2"
    assert content["prompts_sha256"] == content["generation"]["prompts_sha256"]
    code, _, error = generate("--prompts", "unknown")
    assert code == 2
    assert "release 0.1.0 has no prompts" in error


def test_personas_are_read_first(generate: Callable[..., Answer], tmp_path: Path, short: Path) -> None:
    (tmp_path / "personas.txt").write_text("I sing.\nI am 9.\n")
    assert generate(*FEW, "--personas", tmp_path / "personas.txt", "--decoding", short)[0] == 0
    found = rows(tmp_path / "responses").values()
    assert {row["persona"] for row in found} == {"I sing.", "I am 9."}
    content = json.loads((tmp_path / "responses" / GENERATION).read_text("utf-8"))
    assert content["generation"]["personas"].startswith("2 lines of personas.txt, SHA-256 ")
