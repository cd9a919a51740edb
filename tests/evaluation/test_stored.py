"""A model with a store answers only what the store does not hold, and is otherwise the model."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.engines import answers_fingerprint, store_of, stored
from holisticbias_eval.models.generation.requests import (
    Generator,
    PromptRequests,
    Responses,
    respond_all,
    unique_requests,
)
from holisticbias_eval.models.likelihood.scorer import ExactnessRecord, MaskedInputs, Probe, Scorer, Scores, Work
from holisticbias_eval.models.likelihood.spans import Spans, unique_spans, whole
from holisticbias_eval.progress import Progress
from known import ignore
from tiny_models import tiny_identity

ROOT = Path(__file__).parents[2]
CHILD = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "support")}
"""The environment of a process that imports the tests."""
HERE = tiny_identity("tiny")
TEXTS = [f"I'm a {d} {n}." for d in ("tall", "Deaf", "naïve") for n in ("guy", "woman", "kid", "boss")]


class Lengths(Scorer):
    """Scores a span with its length, and its context with a thousandth of its length; keeps what it was asked."""

    def __init__(self, block_size: int = 3, settings: dict[str, str] | None = None) -> None:
        super().__init__(HERE, "causal", settings or {})
        self.block_size = block_size
        self.asked: list[str] = []

    def score(self, spans: Spans, progress: Progress) -> Scores:
        self.asked += spans.text
        progress(len(spans))
        sizes = (spans.stop - spans.start).astype(np.int32)
        return Scores(sizes + np.array([len(context) for context in spans.context]) / 1000, sizes, sizes)


class Able(Lengths):
    """A scorer with every optional method."""

    def work(self, spans: Spans) -> Work:
        return Work(len(spans), 1)

    def probe(self, spans: Spans) -> Probe:
        return Probe(ExactnessRecord(method="guess", texts=len(spans), error=None, plain_error=None))

    def input_counts(self) -> MaskedInputs:
        return MaskedInputs(asked=3, run=2)


class Repeating(Generator):
    """Answers with its seed and the request, three at a time in reverse, and keeps what it was asked."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(HERE, "causal", {"seed": str(seed)})
        self.seed = seed
        self.asked: list[tuple[str, int]] = []

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        for rows in np.array_split(np.arange(len(requests))[::-1], max(1, -(-len(requests) // 3))):
            some = requests.take(rows)
            self.asked += zip(some.prompt, some.sample.tolist(), strict=True)
            ends = ["length" if sample else "stop" for sample in some.sample]
            progress(len(rows))
            yield rows, Responses(expected(some, self.seed), ends, some.sample + 7, [""] * len(rows))


def expected(requests: PromptRequests, seed: int = 0) -> list[str]:
    rows = zip(requests.prompt, requests.persona, requests.sample, strict=True)
    return [f"{seed} {prompt} {persona} {sample}" for prompt, persona, sample in rows]


def numbered(count: int, samples: int = 1) -> PromptRequests:
    """Prompts 0, 1, 2 ... with samples each; odd ones have a persona."""
    which = np.repeat(np.arange(count), samples)
    personas = ["I like tea." if i % 2 else "" for i in which]
    return PromptRequests(
        [f"I'm blicket {i}." for i in which], personas, np.tile(np.arange(samples), count).astype(np.int32)
    )


def test_a_rerun_scores_only_what_is_missing_whatever_the_size_of_blocks(tmp_path: Path) -> None:
    counted: list[int] = []
    first, again = Lengths(3), Lengths(50)
    stored(first, tmp_path, ignore).score(whole(TEXTS[:7]), counted.append)
    assert (sorted(first.asked), sum(counted)) == (sorted(TEXTS[:7]), 7)
    distinct, rows = unique_spans(whole([*TEXTS, TEXTS[0]]))
    scorer = stored(again, tmp_path, ignore)
    assert [len(block) for block in scorer.blocks(distinct)] == [len(TEXTS) - 7]
    assert scorer.score(distinct, ignore).take(rows).nll.tolist() == [*map(len, TEXTS), len(TEXTS[0])]
    assert sorted([*first.asked, *again.asked]) == sorted(TEXTS)
    assert scorer.kept == f"{len(TEXTS)} of {len(TEXTS)} scores are kept in {store_of(again, tmp_path, ignore).folder}"


def test_the_span_and_the_context_are_part_of_the_key(tmp_path: Path) -> None:
    model = Lengths()
    scorer = stored(model, tmp_path, ignore)
    spans = Spans(
        ["a tall guy"] * 4, np.array([0, 0, 2, 7], np.int32), np.array([10, 10, 6, 10], np.int32), ["", "Hi! ", "", ""]
    )
    for _ in range(2):
        assert scorer.score(spans, ignore).nll.tolist() == [10, 10.004, 4, 3]
    assert len(model.asked) == 4


def test_a_stored_scorer_has_the_abilities_of_its_scorer(tmp_path: Path) -> None:
    model, spans = Able(), whole(TEXTS)
    scorer = stored(model, tmp_path, ignore)
    assert (scorer.identity, scorer.kind, scorer.settings, scorer.context_in_text) == (HERE, "causal", {}, True)
    assert (scorer.work(spans), scorer.probe(spans), scorer.input_counts()) == (
        model.work(spans), model.probe(spans), model.input_counts(),
    )  # fmt: skip
    plain = stored(Lengths(), tmp_path, ignore)
    assert (plain.work(spans), plain.probe(spans), plain.input_counts()) == (None, None, None)


def test_models_settings_and_abilities_are_kept_apart() -> None:
    models: Sequence[Scorer | Generator] = (Lengths(), Lengths(settings={"a": "b"}), Repeating(), Repeating(1))
    assert len({answers_fingerprint(model) for model in models}) == 4
    renamed = Lengths()
    renamed.identity = tiny_identity("other name")
    assert answers_fingerprint(renamed) == answers_fingerprint(Lengths()), "weights have a digest"
    for model in (renamed, models[0]):
        model.identity = model.identity.model_copy(update={"weights_sha256": None})
    assert answers_fingerprint(renamed) != answers_fingerprint(models[0]), "the name stands for the weights"


def made(requests: PromptRequests, folder: Path, seed: int = 0) -> tuple[Responses, list[tuple[str, int]]]:
    """The responses from a new process's point of view, and what had to be made."""
    generator = Repeating(seed)
    counted: list[int] = []
    responses = respond_all(requests, stored(generator, folder, ignore), counted.append)
    assert sum(counted) == len(requests)
    return responses, generator.asked


def test_more_samples_prompts_and_seeds_only_add(tmp_path: Path) -> None:
    for prompts, samples, seed, new in ((4, 1, 0, 4), (4, 3, 0, 8), (6, 3, 0, 6), (2, 1, 1, 2), (6, 2, 0, 0)):
        requests = numbered(prompts, samples)
        responses, asked_for = made(requests, tmp_path, seed)
        assert responses.text == expected(requests, seed)
        assert responses.finish == ["length" if sample else "stop" for sample in requests.sample]
        assert responses.tokens.tolist() == (requests.sample + 7).tolist()
        assert len(set(asked_for)) == len(asked_for) == new


def test_a_persona_is_part_of_what_is_asked_and_a_damaged_shard_is_made_again(tmp_path: Path) -> None:
    requests = numbered(3)
    made(requests, tmp_path)
    others = PromptRequests(requests.prompt, ["I like tea."] * 3, requests.sample)
    assert sorted(made(others, tmp_path)[1]) == [("I'm blicket 0.", 0), ("I'm blicket 2.", 0)]
    for shard in tmp_path.rglob("*.parquet"):
        shard.write_bytes(shard.read_bytes()[:-9])
    responses, asked_for = made(requests, tmp_path)
    assert (responses.text, len(asked_for)) == (expected(requests), 3)


def test_equal_requests_are_answered_once() -> None:
    distinct, rows = unique_requests(numbered(3).take(np.array([2, 0, 2, 1, 0])))
    assert distinct.prompt == ["I'm blicket 2.", "I'm blicket 0.", "I'm blicket 1."]
    assert rows.tolist() == [0, 1, 0, 2, 1]
