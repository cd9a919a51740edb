"""``holisticbias generate``: prompts of a release or of a file in, a folder of responses out."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval import generating
from holisticbias_eval.arrays import Ints
from holisticbias_eval.generating import GENERATION, Generation, prepare_answers
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.progress import Progress
from holisticbias_eval.prompts.prompt_sources import COLLECTED
from holisticbias_eval.tasks.task import Given
from invoking import Invoke
from quiet import QUIET

FEW = ("--per-cell", 2, "--where", "axis=nonce,age", "--where", "template=dialogue.im,dialogue.hate")
Words = Callable[..., tuple[object, ...]]


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A decoding of a few tokens: the model's window has 64."""
    path = tmp_path / "short.yaml"
    path.write_text("id: short\nmethod: sample\nmax_new_tokens: 4\nsource: this test\n", "utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of responses."""
    return tmp_path / "responses"


@pytest.fixture
def generate(tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path, out: Path) -> Words:
    """The words of a command that asks the tiny model about the mini release, or with prompts."""

    def words(*options: object) -> tuple[object, ...]:
        about = () if "--prompts" in options else ("--release", mini_release_folder)
        return ("generate", "--model", tiny_gpt2, *about, "--store", tmp_path / "store", "--out", out, *options)

    return words


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["response_id"]: row for row in pq.read_table(folder / "responses.parquet").to_pylist()}


def record(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / GENERATION).read_text("utf-8"))
    return content


def test_a_release_is_asked_about(invoke: Invoke, generate: Words, out: Path, short: Path) -> None:
    said = invoke.printed(*generate(*FEW, "--decoding", short))
    found = rows(out)
    assert len(found) == 5 * 2 * 2
    assert "20 responses: " in said
    assert {row["finish"] for row in found.values()} <= {"stop", "length"}
    assert all(row["tokens"] > 0 for row in found.values())
    content = record(out)
    jsonschema.validate(content, Generation.model_json_schema())
    assert content["counts"]["responses"] == 20
    signed = {key: content["generation"][key] for key in ("decoding", "prompts_per_cell", "seed")}
    assert signed == {"decoding": "short", "prompts_per_cell": "2", "seed": "0"}
    assert content["model"]["weights_sha256"]


def test_other_responses_are_not_overwritten(invoke: Invoke, generate: Words, out: Path, short: Path) -> None:
    invoke.printed(*generate(*FEW, "--decoding", short))
    before = rows(out)
    invoke.printed(*generate(*FEW, "--decoding", short))  # the same responses may be replaced
    error = invoke.refused(*generate(*FEW, "--decoding", "greedy"))
    assert "holds other responses (settings differ): name another folder with --out, or replace it" in error
    assert rows(out) == before
    invoke.printed(*generate(*FEW, "--decoding", "greedy", "--overwrite"))
    assert rows(out) != before


def test_a_file_of_prompts(invoke: Invoke, generate: Words, out: Path, tmp_path: Path) -> None:
    (tmp_path / "prompts.csv").write_text("prompt,group\nI'm old.,a\nI love kids.,b\n")
    options = ("--prompts", tmp_path / "prompts.csv", "--per-cell", 2)
    invoke.printed(*generate(*options))
    expected = [("1/0", "a"), ("1/1", "a"), ("2/0", "b"), ("2/1", "b")]
    assert [(key, row["group"]) for key, row in rows(out).items()] == expected
    content = record(out)
    assert (content["release"], content["prompts"]) == (None, "prompts.csv")
    assert len(content["prompts_sha256"]) == 64
    assert content["generation"]["prompts_limit"] == "none"
    invoke.printed(*generate(*options, "--limit", 10**20, "--overwrite"))
    assert list(rows(out)) == [key for key, _ in expected]
    invoke.printed(*generate(*options, "--overwrite"))
    assert "holds other responses (settings differ)" in invoke.refused(*generate(*options, "--limit", 1))
    invoke.printed(*generate(*options, "--limit", 1, "--overwrite"))
    assert list(rows(out)) == ["1/0", "1/1"], "a limit counts prompts, not responses"
    assert "--where selects prompts of a release" in invoke.refused(*generate(*options, "--where", "group=a"))


def test_what_cannot_be_used_is_one_line(invoke: Invoke) -> None:
    def refused(*options: object) -> str:
        return invoke.refused("generate", "--limit", 2, "--no-store", *options).rstrip().splitlines()[-1]

    assert "--release is empty" in refused("--release", "")
    most = "--per-cell 100,000,000,000,000,000,000 is more than 100,000 responses to a prompt"
    assert most in refused("--per-cell", 10**20)
    assert "'--api-timeout': inf is not in the range" in refused("--engine", "api", "--api-timeout", "inf")
    assert "'--api-wait': 1e+300 is not in the range" in refused("--engine", "api", "--set", "api_wait=1e300")


def test_prompts_to_continue(invoke: Invoke, generate: Words, out: Path, tmp_path: Path) -> None:
    bold = {"Blickets": {"Ada": ["A blicket from the north is "]}, "Daxes": {"Bob": ["A dax from the south is "]}}
    (tmp_path / "bold").mkdir()
    (tmp_path / "bold" / "craft_prompt.json").write_text(json.dumps(bold))
    invoke.printed(*generate("--prompts", tmp_path / "bold", "--where", "group=Daxes", "--per-cell", 2))
    found = [(row["prompt"], row["group"], row["sample"]) for row in rows(out).values()]
    assert found == [("A dax from the south is", "Daxes", 0), ("A dax from the south is", "Daxes", 1)]
    content = record(out)
    assert (content["release"], content["prompts"]) == (None, "bold")
    assert content["generation"]["decoding"] == "bold-gpt2"
    assert content["prompts_sha256"] == content["generation"]["prompts_sha256"]


def test_personas_are_read_first(invoke: Invoke, generate: Words, out: Path, tmp_path: Path, short: Path) -> None:
    (tmp_path / "personas.txt").write_text("I sing.\nI am 9.\n")
    invoke.printed(*generate(*FEW, "--personas", tmp_path / "personas.txt", "--decoding", short))
    assert {row["persona"] for row in rows(out).values()} == {"I sing.", "I am 9."}
    assert record(out)["generation"]["personas"].startswith("2 lines of personas.txt, SHA-256 ")


def test_the_small_part_has_a_default_folder_of_its_own() -> None:
    names = [prepare_answers(None, "1.0.0", {"small": small, "limit": 2}, QUIET).name for small in (False, True)]
    assert names == ["embedded-responder-on-1.0.0", "embedded-responder-on-1.0.0-small"]


@pytest.mark.parametrize(
    ("model", "engine", "release"),
    [("embedded", "local", "1.0.0"), (None, "local", "1.0.0"), ("other", "local", None), ("embedded", "api", None)],
)
def test_nothing_is_known_of_a_servers_model(model: str | None, engine: str, release: str | None) -> None:
    """A server may give any of its models the name of a calibration model."""
    assert Given(model, None, {"engine": engine, "api_base": "http://localhost/v1"}, (), QUIET).own_release == release


def test_a_model_that_a_mitigation_trained_is_asked_as_the_calibration_model_is(tmp_path: Path) -> None:
    (tmp_path / MITIGATION).write_text(json.dumps({"base_model": {"name": RESPONDER}}), "utf-8")
    given = Given(str(tmp_path), None, {}, (), QUIET)
    assert given.own_release == "1.0.0"
    assert given.shipped() is SHIPPED[RESPONDER]


def test_prompts_with_names_in_other_scripts_have_default_folders_of_their_own(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("речь.txt", "слова.txt", "人.txt")]
    for path in files:
        path.write_text("Hello.\n", "utf-8")
    assert len({prepare_answers(None, None, {"prompts": str(path)}, QUIET).name for path in files}) == 3


def test_the_prompts_of_a_collection_are_named_after_its_folder(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    pq.write_table(pa.table({"prompt": ["Hello."]}), tmp_path / "own" / COLLECTED)
    prepared = prepare_answers(None, None, {"prompts": str(tmp_path / "own")}, QUIET)
    assert (prepared.name, prepared.generation.prompts) == ("embedded-responder-on-own", "own")


class Refusing(Generator):
    """A chat model that continues the first prompt only."""

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        texts = ["is tall.", *["I cannot continue this."] * (len(requests) - 1)]
        tokens = np.ones(len(texts), np.int32)
        yield np.arange(len(texts)), Responses(texts, ["stop"] * len(texts), tokens, [""] * len(texts))


def test_refusals_are_noted_as_evaluate_does(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = Refusing(ModelSignature.unknown("refusing", "none"), "causal", {})
    monkeypatch.setattr(generating, "start_responding", lambda *_: refusing)
    table, found = prepare_answers("refusing", None, {"prompts": "calibration", "limit": 3}, QUIET).run(QUIET)
    assert table["finish"].to_pylist() == ["stop", "refused", "refused"]
    assert found.counts["refused"] == 2
    assert found.generation["style"] == "continuation"
