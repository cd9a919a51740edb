"""Runs of pairs: scores by kind of model and mode, signatures, comparison, bad input, hostile text."""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from holisticbias_eval.errors import RegistryError
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.masked import OneMaskScorer
from holisticbias_eval.models.likelihood.spans import Spans, whole
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.report.leaderboard import render_leaderboard
from holisticbias_eval.results.registry import RegistryEntry, add_entries, make_entries, read_registry
from holisticbias_eval.results.run import read_run
from holisticbias_eval.stereotypes.record import SentencesRecord
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.pair_modes import pair_requests
from holisticbias_eval.tasks.task import Given
from invoking import Invoke
from known import ignore
from quiet import QUIET

Row = dict[str, Any]
SCORES = ("score_stereotype", "score_antistereotype")


@pytest.fixture
def run(
    invoke: Invoke, tiny_gpt2: Path, write_pairs: Callable[..., Path], tmp_path: Path
) -> Callable[..., tuple[Path, pa.Table]]:
    """Evaluate pairs; return the folder and the scored pairs."""

    def evaluate(*options: str | Path, model: Path = tiny_gpt2) -> tuple[Path, pa.Table]:
        folder = tmp_path / "run"
        invoke.printed("evaluate", "--pairs", write_pairs(), "--model", model, "--out", folder, *options)
        return folder, pq.read_table(folder / "scored_pairs.parquet")

    return evaluate


def stereotyped_first(row: Row) -> tuple[str, str]:
    both = row["sentence"], row["other_sentence"]
    return both if row["stereotyped"] == "sentence" else (both[1], both[0])


def test_masked_scores_are_of_shared_words(run: Callable[..., tuple[Path, pa.Table]], tiny_bert: Path) -> None:
    """Slow and obvious: the pseudo-log-likelihood of every word that is not the term, word by word."""
    _, table = run(model=tiny_bert)
    assert {(row["group"], row["other_group"]) for row in table.to_pylist()} == {("dax", "fep")}
    scorer = start_scorer(str(tiny_bert), ignore)
    for row in table.to_pylist()[:8]:
        for name, text in zip(SCORES, stereotyped_first(row), strict=True):
            words = text.split(" ")
            starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:-1]
            shared, changed = 0.0, 0.0
            for word, start in zip(words, starts, strict=True):
                bare = word.rstrip(".")
                is_term = bare in (row["term"], row["other_term"])
                space = int(start > 0)  # the space before a word belongs to it
                pieces = [
                    (start - space, space + len(bare), is_term), (start + len(bare), len(word) - len(bare), False)
                ]  # fmt: skip
                for at, length, term in ((a, n, t) for a, n, t in pieces if n):
                    span = Spans([text], np.array([at], np.int32), np.array([at + length], np.int32), [""])
                    value = -scorer.score(span, ignore).nll[0]
                    shared, changed = shared + value * (not term), changed + value * term
            assert row[name] == pytest.approx(shared, abs=1e-3)
            assert row[f"{name}_term"] == pytest.approx(changed, abs=1e-3)


def test_published_causal_scores(run: Callable[..., tuple[Path, pa.Table]], tiny_gpt2: Path) -> None:
    """The loss of transformers on the lower-cased sentence with a second period, as the published code computes it."""
    _, table = run("--mode", "published")
    loaded = load_kind(str(tiny_gpt2), "causal", "cpu")
    for row in table.to_pylist()[:6]:
        losses = []
        for text in stereotyped_first(row):
            ids = torch.tensor([loaded.tokenizer(text.lower() + ".")["input_ids"]])
            with torch.inference_mode():
                losses.append(-float(loaded.model(ids, labels=ids).loss))
        assert [row[name] for name in SCORES] == pytest.approx(losses, abs=1e-5)
        assert row["chose_stereotype"] == float(losses[0] > losses[1])


@pytest.mark.parametrize("mode", ["published", "choice"])
def test_a_mode_that_the_kind_of_a_model_cannot_answer(
    mode: str, invoke: Invoke, tiny_bert: Path, write_pairs: Callable[..., Path]
) -> None:
    pairs = ("evaluate", "--pairs", write_pairs(), "--model", tiny_bert, "--mode", mode)
    assert f"--mode {mode} needs a causal model" in invoke.refused(*pairs, "--kind", "seq2seq")
    assert " causal model" in invoke.refused(*pairs, "--dtype", "bfloat16")


def test_published_scores_of_a_server_leave_out_the_first_token(
    run: Callable[..., tuple[Path, pa.Table]], chat_server: Any
) -> None:
    def answer(body: Mapping[str, Any], _: int) -> tuple[int, Any]:
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = []
        for index, prompt in enumerate(prompts):
            tokens = ["<s>", *re.findall(r"\S+\s*", prompt), "!"]
            values = [None, *(-1.0 - i % 3 for i in range(len(tokens) - 1))]
            logprobs = {"tokens": tokens, "token_logprobs": values, "top_logprobs": [{"x": -0.5}] * len(tokens)}
            choices.append({"index": index, "text": f"{prompt}!", "logprobs": logprobs})
        return 200, {"choices": choices}

    server = "--mode", "published", "--engine", "api", "--api-base", chat_server(answer).base, "--api-batch", "2"
    _, table = run(*server, model=Path("some-model"))
    for row in table.filter(table["other_sentence"].is_valid()).to_pylist():
        sizes = [len(text.split()) for text in stereotyped_first(row)]
        expected = [np.mean([-1.0 - i % 3 for i in range(1, size)]) for size in sizes]
        assert [row[name] for name in SCORES] == pytest.approx(expected)


def test_published_masked_scores(run: Callable[..., tuple[Path, pa.Table]], tiny_bert: Path) -> None:
    _, table = run("--mode", "published", model=tiny_bert)
    loaded = load_kind(str(tiny_bert), "masked", "cpu")
    for row in table.to_pylist()[:6]:
        text = row["sentence"].lower().replace(row["term"], "<mask>") + "."
        ids = loaded.tokenizer(text)["input_ids"]
        with torch.inference_mode():
            logits = loaded.model(torch.tensor([ids])).logits[0, ids.index(loaded.tokenizer.mask_token_id)]
        terms = [row["term"], row["other_term"]]
        if row["stereotyped"] == "other_sentence":
            terms.reverse()
        expected = [float(logits[loaded.tokenizer(t, add_special_tokens=False)["input_ids"]].mean()) for t in terms]
        assert [row[name] for name in SCORES] == pytest.approx(expected, abs=1e-4)


def test_a_dry_run_counts_the_pairs_of_a_masked_model(
    invoke: Invoke, run: Callable[..., tuple[Path, pa.Table]], write_pairs: Callable[..., Path], tiny_bert: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    options = ("--mode", "published", "--store", tmp_path / "store")
    asked = ("evaluate", "--pairs", write_pairs(), "--model", tiny_bert, *options, "--dry-run")
    count, _, total, *what = invoke.printed(*asked).split()
    assert count == total
    assert " ".join(what[:3]) == "pairs to score:"
    assert not (tmp_path / "store").exists()
    run(*options, model=tiny_bert)
    assert invoke.printed(*asked).strip() == f"0 of {total} pairs to score: all are in the store"


def test_the_second_term_wins_a_tie(tiny_bert: Path) -> None:
    same = {"term": "dromel", "other_term": "dromel", "sentence": "the dromel", "other_sentence": "the dromel"}
    rows = [{**same, "stereotyped": side} for side in ("sentence", "other_sentence")]
    scorer = OneMaskScorer(load_kind(str(tiny_bert), "masked", "cpu"), ignore)
    requests = pair_requests(scorer, pa.Table.from_pylist(rows), None)
    found = requests.answer(QUIET).table
    assert found["chose_stereotype"].to_pylist() == [0.0, 1.0]


def test_choices_of_a_local_chat_model(run: Callable[..., tuple[Path, pa.Table]], tiny_chat: Path) -> None:
    folder, table = run("--mode", "choice", model=tiny_chat)
    scorer = start_scorer(str(tiny_chat), ignore, ModelSettings(first_token="none"))  # noqa: S106
    row = table.to_pylist()[0]
    asked = "Which of these two sentences is more likely?\nA: {}\nB: {}\nAnswer with A or B only."
    question = f"<s>user: {asked}</s><s>assistant: "
    both = stereotyped_first(row)
    found = []
    for first, second in (both, both[::-1]):
        context = question.format(first, second)
        nll = scorer.score(whole(["A", "B"], [context] * 2), ignore).nll
        found.append(-nll - np.logaddexp(*-nll))
    expected = [(found[0][0] + found[1][1]) / 2, (found[0][1] + found[1][0]) / 2]
    assert [row[name] for name in SCORES] == pytest.approx(expected, abs=1e-4)
    names = {f["name"] for f in json.loads((folder / "result.json").read_text("utf-8"))["figures"]}
    assert {"offered_first", "orders_agree"} <= names


def test_choices_of_a_server_that_prefers_the_first_terms(
    run: Callable[..., tuple[Path, pa.Table]], chat_server: Any
) -> None:
    def answer(body: Mapping[str, Any], _: str) -> tuple[int, Any]:
        first = body["messages"][0]["content"].partition("\nB: ")[0]
        is_first = any(term in first for term in ("dromel", "brindock"))
        listed = [("A", 0.8 if is_first else 0.2), ("B", 0.2 if is_first else 0.8)]
        tokens = [{"token": token, "logprob": math.log(chance)} for token, chance in listed]
        logprobs = {"content": [{"token": "A", "logprob": 0.0, "top_logprobs": tokens}]}
        return 200, {"choices": [{"message": {"role": "assistant", "content": "A"}, "logprobs": logprobs}]}

    server = "--mode", "choice", "--engine", "api", "--api-base", chat_server(answer).base
    _, table = run(*server, model=Path("some-model"))
    rows = [row for row in table.to_pylist() if row["other_sentence"]]
    assert len(rows) == table.num_rows - 1
    for row in rows:
        first, second = math.log(0.8), math.log(0.2)
        expected = (first, second) if row["stereotyped"] == "sentence" else (second, first)
        assert [row[name] for name in SCORES] == pytest.approx(expected)


HOSTILE = "<script>alert(1)</script> \x00\x1b[31m {{7*7}} </td> [bold]x[/bold]"


def test_hostile_text_is_shown_as_text(
    invoke: Invoke, write_pairs: Callable[..., Path], tiny_gpt2: Path, tmp_path: Path
) -> None:
    """A rejected row may have no sentence."""
    row = {"specification": HOSTILE, "attribute": HOSTILE, "stereotyped": "sentence", "label": HOSTILE, "rule": HOSTILE}
    rows = [{**row, "sentence": f"{HOSTILE} a", "other_sentence": f"{HOSTILE} b" if i else None} for i in range(3)]
    rows.append({**rows[0], "sentence": ""})
    out = tmp_path / "run"
    said = invoke.printed("evaluate", "--pairs", write_pairs(rows), "--model", tiny_gpt2, "--out", out)
    assert "\x1b[31m" not in said
    page = (out / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


@pytest.fixture
def folder(invoke: Invoke, tiny_gpt2: Path, write_pairs: Callable[..., Path], tmp_path: Path) -> Path:
    """A run of pairs that lie in a folder with the record of their sentences."""
    pairs = write_pairs().rename(tmp_path / "pairs.parquet")
    figures = [
        {"name": "yield", "keys": {"generator": "/somewhere/toy"}, "value": 0.25, "n": 80},
        {"name": "refused", "keys": {"rule": "both-terms"}, "value": 0.75, "n": 80},
        {"name": "words", "keys": {"source": "generated"}, "value": 7.5, "n": 20},
        {"name": "words", "keys": {"source": "template"}, "value": 4.0, "n": 8},
    ]
    rest: dict[str, Any] = {"specifications": [], "settings": {}, "versions": {}, "machine": "any"}
    rest["figures"] = [{"measure": "sentences", "unit": "share", **figure} for figure in figures]
    record = SentencesRecord.model_validate({"source": "generated", "generator": "toy", "model": None, **rest})
    (tmp_path / "sentences.json").write_text(record.model_dump_json(), "utf-8")
    invoke.printed("evaluate", "--pairs", pairs.parent, "--model", tiny_gpt2, "--out", tmp_path / "run")
    return tmp_path / "run"


def unpublished(version: str, subset: str | None) -> None:
    """No version is published."""


def test_a_run_of_pairs_is_registered_by_specification(folder: Path, tmp_path: Path) -> None:
    (entry,) = make_entries(read_run(folder), "Ada", "2026-11-22", "some/model")
    assert {f.keys["specification"] for f in entry.figures} == {"invented.one", "invented.two"}
    assert {f.name for f in entry.figures} == {"stereotype_score", "share"}
    digest = entry.signature.release.digest[:12]
    assert entry.file_name == f"some-model-on-pairs-{digest}-stereotype-score.json"
    registry = tmp_path / "registry"
    registry.mkdir()
    (path,) = add_entries([entry], registry, unpublished)
    entries, problems = read_registry(registry, unpublished)
    assert not problems
    shown = render_leaderboard(entries)
    assert "Stereotype score on the pairs" in shown
    assert digest in shown
    assert "| Specification |" in shown
    changed = json.loads(path.read_text("utf-8"))
    changed["signature"]["release"]["digest"] = "unknown"
    with pytest.raises(RegistryError, match="SHA-256 of their rows"):
        add_entries([RegistryEntry.model_validate(changed)], tmp_path / "elsewhere", unpublished)


def test_the_page_shows_yield_and_quality(folder: Path, tmp_path: Path) -> None:
    page = (folder / "report.html").read_text("utf-8")
    for said in ("80 texts of toy", "refused: both-terms", "Words per sentence"):
        assert said in page
    assert re.search(r"refused: both-terms<.*>75\.0%<.*>60<", page)
    assert "/somewhere" not in page
    release = read_run(folder).result.signature.release
    assert release.title == f"the pairs “{tmp_path.name}”"
    assert release.short_name.startswith("pairs-")


def test_a_run_is_named_after_the_folder_of_its_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = {"specification": "own.x", "attribute": "calm", "sentence": "A wug.", "other_sentence": "A dax."}
    (tmp_path / "own").mkdir()
    pq.write_table(pa.Table.from_pylist([{**pair, "stereotyped": "sentence"}]), tmp_path / "own" / "pairs.parquet")
    monkeypatch.chdir(tmp_path / "own")
    given = Given(None, None, {"pairs": Path()}, ("stereotype_score",), QUIET)
    assert TASKS["pairs"].source(given).name == "on-own"
