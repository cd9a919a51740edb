"""Runs that may replace a run, and work that is done once for several runs."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.evaluation.conftest import mini_catalog

from altered import set_value
from holisticbias import build_release, write_release
from holisticbias_eval.errors import RunError
from holisticbias_eval.evaluating import evaluations
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.tokens import Encoded, TextEncoder
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run import RESULT, read_run, read_signature
from holisticbias_eval.results.signature import Signature, differences
from holisticbias_eval.tasks import scored, sources
from invoking import Invoke

Refused = Callable[..., str]


@pytest.fixture
def run(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of the tiny run."""
    return Path(shutil.copytree(tiny_run, tmp_path / "run"))


@pytest.fixture
def refused(tmp_path: Path, invoke: Invoke) -> Refused:
    """Run ``evaluate``, which must change nothing, and return its one-line error."""
    given = ("--store", tmp_path / "store")
    return lambda *arguments: invoke.refused("evaluate", *arguments, *given, keeps=tmp_path).rstrip().splitlines()[-1]


@pytest.fixture
def moved_options(moved_gpt2: Path, mini_release_folder: Path) -> tuple[str | Path, ...]:
    return ("--model", moved_gpt2, "--release", mini_release_folder)


def test_a_run_of_another_model_is_replaced_only_if_told_so(
    run: Path, tiny_gpt2: Path, moved_gpt2: Path, moved_options: tuple[str | Path, ...], refused: Refused,
    invoke: Invoke,
) -> None:  # fmt: skip
    arguments = (*moved_options, "--out", run)
    line = refused(*arguments)
    assert line.startswith(f"holisticbias: {run} holds another run (model {tiny_gpt2} (")
    assert f", not {moved_gpt2} (" in line
    assert line.endswith("): name another folder with --out, or replace the run with --overwrite")
    invoke.printed("evaluate", *arguments, "--overwrite")
    assert read_run(run).result.signature.model.name == str(moved_gpt2)


def test_a_damaged_run_is_refused_in_one_line(
    run: Path, tiny_options: tuple[str, ...], refused: Refused, invoke: Invoke
) -> None:
    (run / RESULT).write_bytes(b"")
    arguments = (*tiny_options, "--out", run)
    line = refused(*arguments)
    assert line.startswith(f"holisticbias: {run / RESULT} is damaged or of another version: ")
    assert line.endswith("; name another folder with --out, or replace the run with --overwrite")
    invoke.printed("evaluate", *arguments, "--overwrite")
    assert read_run(run).result.signature.sentences_scored == 84


def test_what_is_not_a_run_is_never_replaced(tiny_options: tuple[str, ...], tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / RESULT).write_text("mine", "utf-8")
    assert "holds something else" in refused(*tiny_options, "--out", tmp_path / "mine", "--overwrite")


@pytest.fixture(scope="module")
def signature(tiny_run: Path) -> Signature:
    return read_signature(tiny_run)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        # another machine, packages, folder or count: the same run
        ({"machine": "Darwin arm64", "versions": {"python": "3.14"}, "model.name": "elsewhere/gpt"}, ()),
        ({"model.revision": "abc", "model.note": "a note", "model.parameters": 1, "rounding": None}, ()),
        ({"measures": ("love_hate", "stance_contrast", "medians", "likelihood_bias", "another")}, ()),
        ({"measures": ("another",)}, ("measure stance_contrast, likelihood_bias, medians, love_hate, not another",)),
        ({"model.dtype": "bfloat16"}, ("precision float32, not bfloat16",)),
        ({"release.version": "0.2.0"}, ("release 0.1.0 (digest DIGEST), not 0.2.0 (digest DIGEST)",)),
        ({"release.subset": "small"}, ("release 0.1.0 (digest DIGEST), not 0.1.0 small (digest DIGEST)",)),
        ({"release.digest": "0" * 64}, ("release 0.1.0 (digest DIGEST), not 0.1.0 (digest 00000000)",)),
        ({"model.weights_sha256": "0" * 64}, ("model MODEL (WEIGHTS), not MODEL (00000000)",)),
        ({"model.weights_sha256": None, "model.name": "a/b"}, ("model MODEL (WEIGHTS), not a/b",)),
        (
            {"model.weights_sha256": "0" * 64, "model.dtype": "bfloat16", "scoring": {}},
            ("model MODEL (WEIGHTS), not MODEL (00000000)", "precision float32, not bfloat16"),
        ),
        ({"scoring.scorer": "masked"}, ("scorer 'causal', not 'masked'",)),
        ({"scoring.chat": "user " * 20}, (f"chat not given, not '{('user ' * 20)[:57]}...'",)),
    ],
)
def test_what_tells_one_run_from_another(
    signature: Signature, changes: dict[str, object], expected: tuple[str, ...]
) -> None:
    content: dict[str, Any] = json.loads(signature.model_dump_json())
    for path, value in changes.items():
        set_value(content, path, value)
    model = signature.model
    assert model.weights_sha256
    named = {"DIGEST": signature.release.digest[:8], "MODEL": model.name, "WEIGHTS": model.weights_sha256[:8]}
    for name, value in named.items():
        expected = tuple(text.replace(name, value) for text in expected)
    assert differences(signature, Signature.model_validate(content)) == expected


def test_default_folders_keep_models_and_parts_of_releases_apart(
    tiny_gpt2: Path, moved_options: tuple[str | Path, ...], mini_release_folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, refused: Refused, invoke: Invoke,
) -> None:  # fmt: skip
    write_release(build_release(mini_catalog(), where=("axis=age,ability",)), tmp_path / "part")
    monkeypatch.chdir(tmp_path)
    for release in (mini_release_folder, tmp_path / "part"):
        invoke.printed("evaluate", "--model", tiny_gpt2, "--release", release)
    names = {"tiny-gpt2-on-0.1.0", "tiny-gpt2-on-0.1.0-axis-ability-age"}
    assert {path.name for path in (tmp_path / "runs").iterdir()} == names
    line = refused(*moved_options)
    assert line.startswith(f"holisticbias: {tmp_path / 'runs' / 'tiny-gpt2-on-0.1.0'} holds another run (model ")


@pytest.fixture
def begin(mini_release_folder: Path, tmp_path: Path) -> Callable[[Path], Iterator[object]]:
    """Begin two runs of a model, of sentences and of lines."""
    lines = tmp_path / "lines.txt"
    lines.write_text("A quiet day.\n")
    measures, values = ["likelihood_bias", "retention"], {"retain": (str(lines),)}
    out, release = tmp_path / "out", str(mini_release_folder)
    return lambda model: evaluations(str(model), release, measures, values, out=out, display=Display())


@pytest.mark.parametrize("held", ["likelihood_bias", "retention"])
def test_no_run_begins_if_one_of_them_is_refused(
    run: Path, moved_gpt2: Path, tmp_path: Path, begin: Callable[[Path], Iterator[object]], held: str
) -> None:
    shutil.copytree(run, tmp_path / "out" / held)
    with pytest.raises(RunError, match="holds another run"):
        list(begin(moved_gpt2))
    assert [path.name for path in (tmp_path / "out").iterdir()] == [held]


def test_release_and_model_are_loaded_once_for_several_runs(
    tiny_gpt2: Path, monkeypatch: pytest.MonkeyPatch, begin: Callable[[Path], Iterator[object]]
) -> None:
    loaded = []

    def counting(module: ModuleType, name: str) -> None:
        real = getattr(module, name)

        def load(*arguments: object) -> object:
            loaded.append(name)
            return real(*arguments)

        monkeypatch.setattr(module, name, load)

    counting(sources, "open_release")
    counting(scored, "start_scorer")
    assert len(list(begin(tiny_gpt2))) == 2
    assert loaded == ["open_release", "start_scorer"]


def test_a_dry_run_says_what_it_does_and_encodes_no_more_than_it_needs(
    tiny_options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    encoded = []
    real = TextEncoder.encode

    def encode(self: TextEncoder, spans: Any, *rest: Any, **options: Any) -> Any:
        encoded.append(len(spans))
        return real(self, spans, *rest, **options)

    monkeypatch.setattr(TextEncoder, "encode", encode)
    monkeypatch.chdir(tmp_path)
    code, said, steps = invoke("evaluate", *tiny_options, "--store", tmp_path / "store", "--dry-run")
    assert (code, said.partition(": ")[0]) == (0, "140 of 140 texts to score")
    assert steps.splitlines() == [
        f"Opening release {tiny_options[3]}",
        f"Loading model {tiny_options[1]}",
        "Selecting sentences",
        "Finding the texts that are not scored yet",
        "Counting tokens and timing a few texts",
    ]
    assert encoded == [4, 140, 16, 140, 140]  # to test, to count, to warm up, to time, and to count what was timed
    assert list(tmp_path.iterdir()) == []


def test_the_scoring_method_is_tested_once_whatever_the_blocks(
    tiny_options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    tests = []
    real = CausalScorer._plain_sums

    def counted(scorer: CausalScorer, few: Encoded) -> Any:
        tests.append(few.lengths.max())
        return real(scorer, few)

    monkeypatch.setattr(CausalScorer, "_plain_sums", counted)
    monkeypatch.setattr(CausalScorer, "block_size", 20)
    for more in (["--dry-run"], ["--out", tmp_path / "run"]):
        tests.clear()
        invoke.printed("evaluate", *tiny_options, "--store", tmp_path / "store", *more)
        assert len(tests) == 1


@pytest.mark.parametrize(
    "command",
    [
        "measure sentiment missing.csv --out file",
        "classify --responses missing.csv --classifier vader --out file/x.csv",
        "compare missing missing --out file/x.html",
        "corpus retrieve missing.txt --specification calibration-many --out file/x.csv",
        "corpus annotate missing.csv --labels missing.csv --out file/x.csv",
        "mitigate ctda --model missing --out file",
    ],
)
def test_a_place_where_nothing_can_be_written_is_refused_before_anything_is_read(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    error = invoke.refused(*command.split())
    assert (error.count("\n"), "file" in error, "is not a folder" in error) == (1, True, True), error
