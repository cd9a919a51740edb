from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.scorer import Exactness, InputCounts, Probe, Scorer, Work
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import Spans, parts, unique_spans, whole
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.stored import answers_fingerprint, store_of, stored
from holisticbias_eval.progress import Progress
from killed import killed_before

TEXTS = [f"I'm a {d} {n}." for d in ("tall", "Deaf", "naïve", "rich", "old") for n in ("guy", "woman", "kid", "boss")]


class Counting(Scorer):
    """A scorer that records its calls."""

    def __init__(self, scorer: CausalScorer) -> None:
        super().__init__(scorer.identity, scorer.kind, scorer.settings)
        self._scorer = scorer
        self.asked: list[str] = []

    def score(self, spans: Spans, progress: Progress) -> Scores:
        self.asked += spans.text
        return self._scorer.score(spans, progress)


def ignore(message: object) -> None:
    pass


@pytest.fixture
def counting(gpt2: Any, tokenizer: Any, loaded: Any) -> Counting:
    return Counting(CausalScorer(loaded(gpt2, tokenizer), ignore))


def with_store(scorer: Counting, folder: Path, block: int, notices: list[str] | None = None) -> Scorer:
    notice = notices.append if notices is not None else ignore
    scorer.block_size = block
    return stored(scorer, folder, notice, "digest")


def test_a_rerun_scores_only_what_is_missing_whatever_the_size_of_blocks(counting: Counting, tmp_path: Path) -> None:
    counted: list[int] = []
    first = with_store(counting, tmp_path, 3).score(whole(TEXTS[:7]), counted.append)
    assert sorted(counting.asked) == sorted(TEXTS[:7])
    assert sum(counted) == 7
    distinct, rows = unique_spans(whole([*TEXTS, TEXTS[0]]))
    again = with_store(counting, tmp_path, 50).score(distinct, counted.append).take(rows)
    assert sorted(counting.asked) == sorted(TEXTS)
    np.testing.assert_array_equal(first.nll, again.nll[:7])
    assert again.nll[-1] == again.nll[0]
    direct = counting.score(whole(TEXTS), ignore)
    np.testing.assert_allclose(again.nll[:-1], direct.nll, atol=1e-4, rtol=0)


def test_the_span_and_the_context_are_part_of_the_key(counting: Counting, tmp_path: Path) -> None:
    text, scorer = "I'm a tall guy.", with_store(counting, tmp_path, 3)
    for spans in (
        whole([text]),
        whole([text], ["Hi! "]),
        parts([text], ["tall"]),
        parts([text], ["guy"]),
    ):
        scorer.score(spans, ignore)
    assert len(counting.asked) == 4


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b[:0], lambda b: b[:40] + b"x" + b[41:]])
def test_a_damaged_shard_is_scored_again(counting: Counting, tmp_path: Path, damage: Any) -> None:
    notices: list[str] = []
    scorer = with_store(counting, tmp_path, 50, notices)
    before = scorer.score(whole(TEXTS), ignore)
    (shard,) = tmp_path.rglob("*.parquet")
    shard.write_bytes(damage(shard.read_bytes()))
    after = scorer.score(whole(TEXTS), ignore)
    np.testing.assert_array_equal(before.nll, after.nll)
    assert counting.asked == sorted(TEXTS) * 2
    assert len(notices) == 1
    assert "checksum" in notices[0]


class Able(Counting):
    """A scorer with every optional method."""

    def work(self, spans: Spans) -> Work:
        return Work(len(spans), 1)

    def probe(self, spans: Spans) -> Probe:
        return Probe(Exactness("guess", len(spans), None, None))

    def input_counts(self) -> InputCounts:
        return InputCounts(3, 2)


def test_a_stored_scorer_has_the_abilities_of_its_scorer(
    gpt2: Any, tokenizer: Any, loaded: Any, tmp_path: Path
) -> None:
    scorer, spans = Able(CausalScorer(loaded(gpt2, tokenizer), ignore)), whole(TEXTS)
    found = with_store(scorer, tmp_path, 3)
    assert (found.kind, found.context_in_text, found.settings) == ("causal", True, scorer.settings)
    assert found.work(spans) == scorer.work(spans)
    assert found.probe(spans) == scorer.probe(spans)
    assert found.input_counts() == scorer.input_counts()
    plain = with_store(Counting(CausalScorer(loaded(gpt2, tokenizer), ignore)), tmp_path, 3)
    assert (plain.work(spans), plain.probe(spans), plain.input_counts()) == (None, None, None)


def test_models_and_settings_are_kept_apart(gpt2: Any, make_tokenizer: Any, loaded: Any) -> None:
    kinds: tuple[dict[str, str], ...] = ({"eos_token": "<s>"}, {"eos_token": "</s>"}, {})
    keys = [answers_fingerprint(CausalScorer(loaded(gpt2, make_tokenizer(**kind)), ignore)) for kind in kinds]
    assert len(set(keys)) == len(kinds)


class ByChecksum(Scorer):
    """A scorer that another process can have without a model: the score of a text is its checksum."""

    block_size = 5

    def score(self, spans: Spans, progress: Progress) -> Scores:
        ones = np.ones(len(spans), np.int32)
        return Scores(np.array([checksum(text) for text in spans.text]), ones, ones)


def checksum(text: str) -> float:
    return float(crc32(text.encode()))


def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    kills = int(os.environ.get("HOLISTICBIAS_KILLS", "12"))
    texts = [f"{text} {i}" for i in range(12) for text in TEXTS]
    identity = ModelIdentity("checksums", "none", None, None, None, "float64", None, None)
    scorer, chance = ByChecksum(identity, "causal", {}), random.Random(7)  # noqa: S311 - moments of killing, not secrets
    store = store_of(scorer, tmp_path, ignore, "digest")
    for turn in range(kills):
        if not turn % 10:  # ten killed processes write at most 40 of the 48 shards
            for shard in list(store.folder.glob("*.parquet"))[chance.randrange(3) :]:
                shard.unlink()
        assert killed_before(chance.randrange(9), lambda: stored(scorer, tmp_path, ignore).score(whole(texts), ignore))
    found = stored(scorer, tmp_path, ignore).score(whole(texts), ignore)
    assert found.nll.tolist() == [checksum(text) for text in texts]
    assert sorted(store.read()["text"].to_pylist()) == sorted(texts)
