from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.evaluating import plans
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, Work
from holisticbias_eval.models.likelihood.spans import Spans, unique_spans, whole
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.models.trial import Plan, plan_trial, plan_work
from holisticbias_eval.progress import Display, Progress
from holisticbias_eval.prompts.selection import Selection
from holisticbias_eval.prompts.sentences import ask_sentences
from invoking import Invoke
from known import ignore, known
from tiny_models import as_loaded

TEXTS = [f"I'm a {d} {n}." for d in ("tall", "Deaf", "naïve", "rich", "old") for n in ("guy", "woman", "kid", "boss")]


class Counting(Scorer):
    """A scorer whose texts have 10 tokens each, half of them forward tokens; it records its calls."""

    def __init__(self) -> None:
        super().__init__(ModelSignature.unknown("counting", "none"), "causal", {})
        self.worked: list[str] = []
        self.scored: list[int] = []

    def work(self, spans: Spans) -> Work | None:
        self.worked += spans.text
        return Work(10 * len(spans), 5 * len(spans))

    def score(self, spans: Spans, progress: Progress) -> Scores:
        self.scored.append(len(spans))
        return Scores(np.zeros(len(spans)), np.zeros(len(spans), np.int32), np.zeros(len(spans), np.int32))


def plan_of(scorer: Scorer, sizes: Sequence[int], seconds: Sequence[float], known: int = 0) -> Plan:
    """A plan of blocks of some sizes, after texts that are ``known``; a text says its block and its place in it."""
    ticks = iter([tick for taken in seconds for tick in (10.0, 10.0 + taken)])
    spans = whole(["known"] * known + [f"{i} {j}" for i, size in enumerate(sizes) for j in range(size)])
    blocks = np.split(np.arange(known, len(spans)), np.cumsum(sizes)[:-1]) if sizes else []
    return plan_work(scorer, spans, blocks, lambda: next(ticks))


def test_the_work_is_that_of_the_texts_and_of_their_prefixes(gpt2: Any, tokenizer: Any) -> None:
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    plan = plan_work(scorer, whole(TEXTS), [np.arange(20)])
    assert scorer.probe(whole(TEXTS)).exactness.error is None  # not computed in float64, which takes long
    rows = [(0, *tokenizer(text)["input_ids"]) for text in TEXTS]
    prefixes = {row[:i] for row in rows for i in range(1, len(row))}
    assert plan.work == Work(sum(map(len, rows)), len(prefixes))
    assert (plan.count, plan.missing) == (20, 20)


@pytest.mark.parametrize(
    ("sizes", "seconds", "scored", "expected"),
    [
        ([20], [0.1, 0.3], [16, 20], 0.3),
        ([20], [9.0], [16], 9.0 * 20 / 16),  # a slow model reads no more
        ([6000], [0.2, 0.6], [16, 128], 0.6 * 6000 / 128),
        ([700, 300], [0.1, 0.6], [16, 160], 0.6 * 1000 / 160),  # a place is within a block
        ([20_000], [4.0, 0.2, 0.9], [16, 128, 640], 0.9 * 20_000 / 640),  # the first texts say little
        ([20_000] * 5, [0.2, 0.25, 0.9], [16, 128, 512], 0.9 * 100_000 / 512),
        ([20_000] * 5, [0.0, 0.2], [16, 4096], 0.2 * 100_000 / 4096),
    ],
)
def test_the_time_is_that_of_a_short_trial_for_each_text(
    sizes: list[int], seconds: list[float], scored: list[int], expected: float
) -> None:
    scorer = Counting()
    plan = plan_of(scorer, sizes, seconds)
    low, high = plan.seconds
    assert scorer.scored == scored
    assert (low * high) ** 0.5 == pytest.approx(expected)
    assert high / low == pytest.approx(1.3**2)  # all texts are alike: the range is that of the machine's speed
    assert plan.work == Work(10 * sum(sizes), 5 * sum(sizes))
    assert len(scorer.worked) <= sum(scored) + 48 * 512
    assert plan.exact == (sum(sizes) < 48 * 512)


def test_few_texts_with_much_work_do_not_stand_for_the_others() -> None:
    """A twentieth of the texts in a row has ten times the work: places are many, and the estimate is close."""

    class Dense(Counting):
        def work(self, spans: Spans) -> Work | None:
            dense = sum(47_000 <= int(text.split()[1]) < 52_000 for text in spans.text)
            return Work(10 * len(spans), len(spans) + 9 * dense)

    plan = plan_of(Dense(), [100_000], [0.0, 1.0])
    assert known(plan.work).forward == pytest.approx(100_000 + 9 * 5_000, rel=0.1)


def test_places_that_differ_widen_the_range() -> None:
    class Uneven(Counting):
        def work(self, spans: Spans) -> Work | None:
            first = int(spans.text[0].split()[1])
            return Work(10 * len(spans), (5 + first // 20_000) * len(spans))

    low, high = plan_of(Uneven(), [100_000], [0.0, 0.9]).seconds
    assert high / low > 1.3**2


def test_nothing_to_score_takes_no_time() -> None:
    plan = plan_of(Counting(), [], [], known=7)
    assert (plan.work, plan.seconds) == (Work(0, 0), (0.0, 0.0))
    assert str(plan) == "0 of 7 texts to score: all are in the store"
    assert str(replace(plan, counted=False)) == "0 of about 7 texts to score: all are in the store"
    assert plan.advice() == ""


def test_a_plan_of_a_long_release_follows_from_few_descriptors_and_needs_no_digest(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = build_release(catalog, "1.0.0")
    monkeypatch.setattr("holisticbias.release.release.lazy_digest", None)
    (plan,) = plans(None, release, ["likelihood_bias"], {"store": tmp_path}, Display())
    texts, _ = unique_spans(ask_sentences(release, lambda texts: [""] * len(texts), Selection()).together)
    assert isinstance(plan, Plan)
    assert plan.missing == plan.count == pytest.approx(len(texts), rel=0.02)
    tokens = known(plan.work).tokens
    assert str(plan).startswith(f"about {plan.count:,} of {plan.count:,} texts to score: {tokens:,} tokens, ")
    assert plan.shorter == ("limit", "small", "where")
    (plan,) = plans(None, build_release(catalog, "1.0.0", "small"), ["medians"], {"store": tmp_path}, Display())
    assert plan.shorter == ("limit", "where")


def test_an_engine_that_cannot_count_its_work_has_no_plan() -> None:
    class Uncounted(Counting):
        def work(self, spans: Spans) -> Work | None:
            return Scorer.work(self, spans)

    with pytest.raises(EvaluationError, match="a dry run needs the local engine"):
        plan_of(Uncounted(), [3], [1.0])


def test_a_plan_is_one_line_and_a_long_one_has_advice() -> None:
    plan = Plan("texts to score", 2000, 1000, (80.0, 120.0), Work(9000, 1500))
    assert str(plan) == ("1,000 of 2,000 texts to score: 9,000 tokens, 1,500 of them forward tokens; 80 s to 2 min")
    assert plan.advice() == ""
    long = Plan("texts to score", 2_000_000, 1_000_000, (36_000.0, 50_000.0), Work(9, 1))
    assert long.advice() == "", "nothing shortens it"
    said = replace(long, shorter=("limit", "small")).advice()
    assert "--small (100 descriptors), or --limit 10000 (at most 10 min)" in said
    assert "--where" not in said


@pytest.mark.parametrize(
    ("missing", "seconds", "asked", "expected"),
    [
        (5, [0.2], [5], 0.2),  # all are asked
        (1000, [9.0], [8], 9.0 * 1000 / 8),  # a slow model is asked no more
        (1000, [0.5, 2.0], [8, 64], 2.0 * 1000 / 64),  # the first rows say little
        (1000, [0.2, 0.2, 0.9], [8, 64, 320], 0.9 * 1000 / 320),
    ],
)
def test_the_time_of_answers_is_that_of_a_batch(
    missing: int, seconds: list[float], asked: list[int], expected: float
) -> None:
    ticks = iter([tick for taken in seconds for tick in (10.0, 10.0 + taken)])
    tried: list[int] = []
    plan = plan_trial("answers to give", 2000, np.arange(missing), lambda rows: tried.append(len(rows)), ticks.__next__)
    low, high = plan.seconds
    assert tried == asked
    assert (low * high) ** 0.5 == pytest.approx(expected)
    assert str(plan).startswith(f"{missing:,} of 2,000 answers to give: ")


def test_a_long_run_of_answers_has_advice() -> None:
    plan = Plan("answers to give", 90_000, 70_000, (3_000.0, 7_000.0), shorter=("limit", "small", "where"))
    assert str(plan) == "70,000 of 90,000 answers to give: 50 min to 1.9 h"
    assert plan.advice() == (
        "To shorten it: --small (100 descriptors), or --where KEY=VALUE (only some), or --limit 6000 (at most 10 min); "
        "finished answers are kept, and a longer run continues from them"
    )
    assert "--limit 1000 (at most 10 min)" in replace(plan, each=4).advice(), "of each prompt four"
    assert replace(plan, shorter=()).advice() == ""
    assert replace(plan, seconds=(300.0, 600.0)).advice() == ""
    done = replace(plan, missing=0, seconds=(0.0, 0.0))
    assert (str(done), done.advice()) == ("0 of 90,000 answers to give: all are in the store", "")


def test_a_dry_run_counts_the_responses_that_the_store_lacks(
    tiny_options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.yaml").write_text("id: short\nmethod: greedy\nmax_new_tokens: 2\nsource: this test\n", "utf-8")
    few = ("--measures", "response_wording", "--per-cell", 2, "--decoding", "short.yaml", "--store", tmp_path / "store")
    arguments = ("evaluate", *tiny_options, *few)
    count, _, total, *what = invoke.printed(*arguments, "--dry-run").split()
    assert count == total
    assert what[:3] == ["responses", "to", "write:"]
    assert invoke.printed(*arguments[:-2], "--no-store", "--dry-run").startswith(f"{total} of {total} responses to ")
    assert [path.name for path in tmp_path.iterdir()] == ["short.yaml"]
    invoke.printed(*arguments, "--out", tmp_path / "run")
    assert invoke.printed(*arguments, "--dry-run").strip() == f"0 of {total} responses to write: all are in the store"
    given = ("--measures", "response_wording", "--responses", tmp_path / "run" / "responses.parquet")
    assert "these are given" in invoke.refused("evaluate", *tiny_options, *given, "--dry-run")


def test_a_limit_of_prompts_counts_each_once(tmp_path: Path) -> None:
    (plan,) = plans(None, None, ["gender_polarity"], {"per_cell": 3, "limit": 4, "store": tmp_path}, Display())
    assert (plan.count, plan.each) == (12, 3)


def test_no_server_is_asked_in_a_dry_run() -> None:
    with pytest.raises(EvaluationError, match="a dry run needs the local engine"):
        Generator.attempt(None, None)  # type: ignore[arg-type] # any engine has the method


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("generation_bias --classifier none", "there is no classifier 'none'"),
        ("generation_bias --classifier vader,calibration-styles", "are both for styles: name one"),
        ("generation_bias --classifier calibration-styles --clusters holisticbias", "has the style 'Sympathetic'"),
        ("generation_bias --classifier vader --corpus none.txt", "none.txt cannot be read"),
        ("generation_bias --classifier {card}", "asks a chat model: give its server's address"),
        ("response_wording --phrases none", "there is no list of phrases 'none'"),
        ("toxicity --prompts sentences --classifier vader", "vader is a classifier of sentiment"),
        ("norms --prompts sentences", "norms needs a lexicon"),
        ("gender_polarity --prompts sentences --polarity none", "there is no gender polarity 'none'"),
    ],
)
def test_a_dry_run_refuses_what_the_run_refuses_and_both_do_so_before_a_model_is_loaded(
    asked: str, message: str, card: Callable[..., Path], mini_release_folder: Path, tmp_path: Path, invoke: Invoke
) -> None:
    judge = card(engine="chat", activation="none", model="judge-1", prompt="{text}")
    measure = asked.format(card=judge).split()
    for more in ((), ("--dry-run",)):
        given = ("--model", tmp_path / "missing", "--release", mini_release_folder, *more)
        assert message in invoke.refused("evaluate", "--measures", *measure, *given)
