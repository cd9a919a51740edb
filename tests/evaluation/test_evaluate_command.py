import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluation.conftest import mini_catalog

from holisticbias import build_release, write_release
from holisticbias_eval.models.loading import source
from holisticbias_eval.results.run import Run, read_run
from invoking import Invoke
from known import known
from loopback_hub import Hub, RefusedError, Repository, User, serve, use_as_client

Spoil = Callable[[Path], None]


@pytest.fixture
def refused(tmp_path: Path, invoke: Invoke) -> Callable[..., str]:
    """Run ``evaluate`` and return its errors; it must leave nothing behind."""
    return lambda *arguments: invoke.refused("evaluate", *arguments, "--out", tmp_path / "run", keeps=tmp_path)


def test_a_run_can_be_repeated_in_its_folder(tiny_options: tuple[str, ...], tmp_path: Path, invoke: Invoke) -> None:
    out = tmp_path / "new" / "run"
    arguments = ("evaluate", *tiny_options, "--out", out)
    assert "tiny-gpt2 on HolisticBias 0.1.0" in invoke.printed(*arguments)
    assert {"pairs.parquet", "report.html", "result.json", "scores.parquet"} <= {p.name for p in out.iterdir()}
    first = (out / "result.json").read_bytes()
    invoke.printed(*arguments)
    assert (out / "result.json").read_bytes() == first
    assert [p.name for p in out.parent.iterdir()] == ["run"]


def test_help_is_short_again_after_all_settings_were_shown(invoke: Invoke) -> None:
    said = [invoke.printed("evaluate", option) for option in ("--help", "--help-all", "--help")]
    assert said[0] == said[2]
    assert len(said[0].splitlines()) <= 40 < len(said[1].splitlines()) / 3


def test_a_hub_model_that_cannot_be_had(
    refused: Callable[..., str], mini_release_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    line = refused("--model", "nobody/nothing-of-the-kind", "--release", mini_release_folder)
    assert "nobody/nothing-of-the-kind: the configuration cannot be loaded: " in line
    assert "Hub" in line


def test_a_hub_without_an_address_is_not_asked_again_and_again(
    refused: Callable[..., str], mini_release_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def nowhere(host: object, *_: object, **__: object) -> None:
        asked.append(host)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(source, "getproxies", dict)
    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    source.hub_has_address.cache_clear()
    line = refused("--model", "nobody/nothing-of-the-kind", "--release", mini_release_folder)
    source.hub_has_address.cache_clear()
    assert "it is not on this machine and the Hugging Face Hub cannot be reached" in line
    assert len(asked) <= 3  # two from this package, and one in which the client asks for its agent


REFUSALS = {
    "there is no such folder and no such model on the Hub (or it is private: hf auth login)": (404, "RepoNotFound", ""),
    "it is gated: ask for access on its Hub page, and log in with: hf auth login": (403, "GatedRepo", ""),
    "the Hub does not accept your token: log in again with": (401, "", "Invalid credentials in Authorization header"),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_hub_that_refuses_a_model(
    said: str, mini_release_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    class Refusing(Hub):
        def open(self, name: str, user: User | None) -> Repository:
            raise RefusedError(*REFUSALS[said])

    monkeypatch.setattr(source, "hub_has_address", lambda: True)
    with serve(Refusing()) as hub:
        use_as_client(hub, tmp_path, monkeypatch)
        assert said in invoke.refused("evaluate", "--model", "some/model", "--release", mini_release_folder)


def test_what_rounding_costs_is_in_the_result(
    run: Run, tiny_options: tuple[str, ...], tmp_path: Path, invoke: Invoke
) -> None:
    assert run.result.signature.rounding is None
    for name in ("scored", "read from the store"):
        invoke.printed("evaluate", *tiny_options, "--dtype", "bfloat16", "--out", tmp_path / name)
        rounded = read_run(tmp_path / name)
        found = known(rounded.result.signature.rounding)
        assert (found.dtype, found.texts) == ("bfloat16", 16)
        assert 0 < found.mean <= found.largest < 1
        off = np.abs(rounded.answers["nll"].to_numpy() - run.answers["nll"].to_numpy())
        assert off.mean() < 3 * found.largest
        assert "bfloat16 instead of float32: on 16 texts tried" in (tmp_path / name / "report.html").read_text("utf-8")


def without(name: str) -> Spoil:
    """Remove the files of this name."""

    def spoil(model: Path) -> None:
        for path in model.glob(name):
            path.unlink()

    return spoil


def other_weights(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """Change the weights in place."""

    def spoil(model: Path) -> None:
        from safetensors.torch import load_file, save_file

        weights = load_file(model / "model.safetensors")
        change(weights)
        save_file(weights, model / "model.safetensors", metadata={"format": "pt"})

    return spoil


def pickled(model: Path) -> None:
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(model / "model.safetensors"), model / "pytorch_model.bin")
    (model / "model.safetensors").unlink()


def truncated(model: Path) -> None:
    path = model / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def remote_code(model: Path) -> None:
    path, own = model / "config.json", {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "model_type": "own", "auto_map": own}), "utf-8")
    (model / "own.py").write_text("raise SystemExit('remote code ran')\n", "utf-8")


def damaged_config(model: Path) -> None:
    (model / "config.json").write_text("{", "utf-8")


def damaged_settings(content: bytes) -> Spoil:
    """A file that a download left empty, or that another program wrote: transformers takes the defaults then."""

    def spoil(model: Path) -> None:
        (model / "generation_config.json").write_bytes(content)

    return spoil


def other_size(model: Path) -> None:
    path = model / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "n_positions": 500}), "utf-8")


def large_tokenizer(model: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.add_tokens([f"word{i}" for i in range(40)])
    tokenizer.save_pretrained(model)


def short_context(model: Path) -> None:
    from transformers import AutoModelForCausalLM, GPT2Config

    config = GPT2Config.from_pretrained(model, n_positions=3)
    AutoModelForCausalLM.from_config(config).save_pretrained(model)


ATTENTION = "transformer.h.0.attn.c_attn.weight"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without("config.json"), "is not a model: the folder has no config.json"),
        (without("tokenizer*"), "has no tokenizer"),
        (pickled, "it has no safetensors weights, and pickled weights are never loaded"),
        (without("model.safetensors"), "it has no safetensors weights"),
        (truncated, "the model cannot be loaded"),
        (remote_code, "it needs its own code, which is never run here"),
        (damaged_config, "the configuration cannot be loaded"),
        (lambda model: (model / "config.json").write_text("[1]"), "its configuration is not a JSON object"),
        (other_weights(lambda w: w.pop(ATTENTION)), f"its weights lack {ATTENTION}"),
        (
            damaged_settings(b""),
            "generation_config.json is not a JSON object in UTF-8: download it again, or remove it",
        ),
        (damaged_settings("{}".encode("utf-16")), "generation_config.json is not a JSON object in UTF-8"),
        (damaged_settings(b"\xef\xbb\xbf{}"), "generation_config.json is not a JSON object in UTF-8"),
        (damaged_settings(b"[1]"), "generation_config.json is not a JSON object in UTF-8"),
        (other_size, "its weights have other sizes than its configuration: the files are of different models"),
        (large_tokenizer, "they do not match"),
        (other_weights(lambda w: w["transformer.ln_f.weight"].mul_(float("nan"))), "hold numbers that are not finite"),
        (other_weights(lambda w: w["transformer.ln_f.weight"].fill_(3e38)), "gives no finite likelihood for"),
        (short_context, "the model reads at most 3 tokens, and these texts have more"),
    ],
)
def test_a_model_that_cannot_be_used(
    spoil: Spoil, message: str, copied_model: Callable[[], Path], refused: Callable[..., str], mini_release_folder: Path
) -> None:
    model = copied_model()
    spoil(model)
    line = refused("--model", model, "--release", mini_release_folder).splitlines()[-1]
    assert (line.startswith("holisticbias: "), message in line) == (True, True), line


def test_a_release_with_nothing_to_measure(refused: Callable[..., str], tiny_gpt2: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    write_release(build_release(mini_catalog(nouns=())), release)
    assert "no sentence is left to score" in refused("--model", tiny_gpt2, "--release", release)
