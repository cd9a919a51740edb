"""Evaluations that are stopped or killed while they score."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest
from tests.evaluation.conftest import mini_catalog
from tests.evaluation.generation.chat_server import Answering, Body, ChatServer, asked, message
from tests.evaluation.test_stored import CHILD, ROOT, Able

from holisticbias import build_release, write_release
from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.readers.classifier import BLOCK
from holisticbias_eval.readers.engines.phrases import LexiconClassifier
from invoking import Invoke

pytestmark = pytest.mark.long
NOUNS = 60
START = "holisticbias_eval.tasks.scored.start_scorer"
RUN = """
import time
from holisticbias.__main__ import run
from holisticbias_eval.tasks import scored
from tests.evaluation.test_stored import Able

class Slow(Able):
    def score(self, spans, progress):
        time.sleep(0.05)
        return super().score(spans, progress)

scored.start_scorer = lambda *_: Slow(50)
run()
"""
TEXTS = 7 * NOUNS * 3 + 7 * NOUNS * 2  # sentences, and phrases in the singular and in the plural


def stop(arguments: list[str], sent: signal.Signals, store: Path | None) -> tuple[int, str]:
    """Run until the store has scores, or without one until scoring begins, and send a signal: exit code and errors."""
    command = [sys.executable, "-c", RUN, *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=CHILD)
    assert process.stderr
    next(line for line in process.stderr if line.startswith("Scoring with"))
    while store and process.poll() is None and not [*store.rglob("*.parquet")]:
        time.sleep(0.01)
    process.send_signal(sent)
    _, printed = process.communicate(timeout=60)
    return process.returncode, printed


def test_an_interruption_says_how_many_scores_are_kept_and_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    release, out, store = (tmp_path / name for name in ("release", "out", "store"))
    write_release(build_release(mini_catalog(nouns=tuple(f"person{i}" for i in range(NOUNS)))), release)
    arguments = ["evaluate", "--release", str(release), "--out", str(out / "run"), "--store", str(store)]
    code, printed = stop(arguments, signal.SIGTERM, store)
    assert code == 130
    assert "Traceback" not in printed
    (folder,) = store.iterdir()
    kept = sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))
    assert 0 < kept < TEXTS
    expected = f"{kept:,} of {TEXTS:,} scores are kept in {folder}; run the same command again to continue"
    assert printed.rstrip().splitlines()[-1] == f"holisticbias: interrupted; {expected}"
    assert not out.exists()
    monkeypatch.setattr(START, lambda *_: Able(50))
    said = invoke.printed(*arguments, "--dry-run")
    assert said.startswith(f"{TEXTS - kept:,} of {TEXTS:,} texts to score: ")


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        (("--measures", "likelihood_bias", "--no-store"), "no scores are kept with --no-store"),
        (("--measures", "likelihood_bias", "--store", "store"), "no scores are kept"),
        (("--measures", "generation_bias", "--classifier", "calibration-styles", "--store", "store"),
         "no responses are kept"),
    ],
)  # fmt: skip
def test_before_the_first_answer_no_store_is_named(
    options: tuple[str, ...], lost: str, tiny_options: tuple[str, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, invoke: Invoke,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CausalScorer, "score", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(LocalGenerator, "generate", Mock(side_effect=KeyboardInterrupt))
    code, _, errors = invoke("evaluate", *tiny_options, *options, "--out", "run")
    said = f"holisticbias: interrupted; {lost}; the same command starts from the beginning"
    assert (code, errors.rstrip().splitlines()[-1]) == (130, said)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_classification_names_the_store_of_its_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    texts = [f"I like number {i}." for i in range(2 * BLOCK)]
    (tmp_path / "responses.csv").write_text("".join(f"{text}\n" for text in ["response", *texts]))
    judge, blocks = LexiconClassifier.judge, count()

    def second_is_interrupted(self: LexiconClassifier, block: list[str]) -> Floats:
        if next(blocks):
            raise KeyboardInterrupt
        return judge(self, block)

    monkeypatch.setattr(LexiconClassifier, "judge", second_is_interrupted)
    monkeypatch.chdir(tmp_path)
    options = ("--classifier", "calibration-styles", "--out", "judged.csv", "--store", "store")
    code, _, errors = invoke("classify", "--responses", "responses.csv", *options)
    (folder,) = Path("store").iterdir()
    said = f"interrupted; what is finished is kept in {folder}; run the same command again to continue"
    assert (code, errors.rstrip().splitlines()[-1]) == (130, f"holisticbias: {said}")
    assert {path.name for path in tmp_path.iterdir()} == {"responses.csv", "store"}


def test_a_server_that_stops_says_what_is_kept(
    chat_server: Callable[[Answering], ChatServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    def answer(body: Body, _: int) -> tuple[int, object]:
        if asked(body) == "last":  # after the texts that are tried alone
            return 500, {"error": "no more memory"}
        return 200, message("Hello.")

    monkeypatch.chdir(tmp_path)
    Path("prompts.txt").write_text("one\ntwo\nthree\nfour\nlast\n")
    server = ("--engine", "api", "--api-base", chat_server(answer).base, "--model", "m", "--api-retries", "0")
    code, _, errors = invoke("generate", "--prompts", "prompts.txt", *server, "--store", "store", "--out", "run")
    (folder,) = Path("store").iterdir()
    said = f"4 of 5 responses are kept in {folder}; run the same command again to continue"
    assert (code, errors.rstrip().splitlines()[-1].partition("; ")[2]) == (2, said)
    assert not Path("run").exists()


def test_a_prompt_that_is_too_long_is_not_refused_with_advice_to_try_again(
    tiny_gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prompts.txt").write_text("one\n")
    options = ("--prompts", "prompts.txt", "--model", tiny_gpt2, "--store", "store", "--out", "run")
    assert invoke("generate", *options)[0] == 0
    Path("prompts.txt").write_text(f"one\n{'long ' * 5000}\n")
    said = invoke.refused("generate", *options, "--overwrite")
    assert said.endswith("leave the prompt out or take a smaller max_new_tokens\n")


def test_an_interruption_does_not_wait_for_the_answer_of_a_server(
    chat_server: Callable[[Answering], ChatServer], tmp_path: Path
) -> None:
    waiting = threading.Event()

    def answer(body: Body, _: int) -> tuple[int, object]:
        if asked(body) == "last":  # after the texts that are tried alone
            waiting.set()
            threading.Event().wait()
        return 200, message("Hello.")

    (tmp_path / "prompts.txt").write_text("one\ntwo\nthree\nfour\nlast\n")
    server = ["--engine", "api", "--api-base", chat_server(answer).base, "--model", "m"]
    prompts = ["--prompts", "prompts.txt", "--out", "out", "--store", "store"]
    command = [sys.executable, "-m", "holisticbias", "generate", *server, *prompts]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert waiting.wait(60)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert (process.returncode, "holisticbias: interrupted; " in printed) == (130, True)


def test_a_signal_does_not_kill_a_command_that_is_done() -> None:
    code = (
        "import os, signal, sys; from holisticbias.__main__ import run\n"
        "class Last:\n    def __del__(self): os.kill(os.getpid(), signal.SIGTERM)\n"
        "last = Last(); sys.argv = ['holisticbias', 'releases']; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_a_command_that_fails_does_not_wait_for_threads() -> None:
    code = (
        "import sys, threading; from holisticbias.__main__ import run; "
        "threading.Thread(target=threading.Event().wait).start(); sys.argv = ['holisticbias', 'report', 'none']; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
