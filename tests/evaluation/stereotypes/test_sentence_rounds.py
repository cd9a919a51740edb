"""Rounds of requests with a model in this process: no batch, round or interruption changes a text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.evaluation.stereotypes.sentences_by_hand import specification

from holisticbias_eval.errors import RunError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.stereotypes.acceptance import select_rules
from holisticbias_eval.stereotypes.few_shot import Shot, ShotFile, Shots
from holisticbias_eval.stereotypes.record import Returned, read_rounds
from holisticbias_eval.stereotypes.rounds import SentenceJudging, Wanted, run_rounds
from holisticbias_eval.stereotypes.settings import RequestSettings
from holisticbias_eval.stereotypes.targets import Target, all_terms, group_terms, targets
from known import ignore
from quiet import QUIET
from tiny_models import MODELS, local_generator, tiny_loaded

SHORT = Decoding(id="short", method="sample", max_new_tokens=8, top_k=50, top_p=0.85, source="this test")
EXAMPLE = Shot(keywords=("a", "b"), sentence="A b.")
SHOTS = Shots(ShotFile(id="own", source="this test", licence="CC0-1.0", shots=(EXAMPLE,)))
ASKING = RequestSettings(ask="text", seed=7, samples=3, per_attribute=5, requests=4)
LENIENT = SentenceJudging(select_rules("none"))


@pytest.fixture(scope="module")
def generators() -> Mapping[int, LocalGenerator]:
    """The same random model with batches of different sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODELS, "llama", (MODELS["llama"][0], {**MODELS["llama"][1], "max_position_embeddings": 512}))
        loaded = tiny_loaded("llama")
    return {batch: local_generator(loaded, SHORT, 7, batch, chat="off", continuation="{prompt}") for batch in (4, 64)}


def states(*kept: Target) -> list[Wanted]:
    found = specification()
    terms, every = group_terms(found), all_terms(found)
    return [Wanted(t, terms, every) for t in targets(found) if not kept or t in kept]


def run(
    generator: LocalGenerator,
    *kept: Target,
    judging: SentenceJudging = LENIENT,
    asking: RequestSettings = ASKING,
) -> list[Returned]:
    return run_rounds(states(*kept), generator, SHOTS, asking, judging, {}, ignore, QUIET)


def by_target(log: Sequence[Returned]) -> Mapping[str, list[Returned]]:
    return {name: [row for row in log if row.attribute == name] for name in {row.attribute for row in log}}


def test_requests_end_when_there_are_enough_sentences(generators: Mapping[int, LocalGenerator]) -> None:
    log = run(generators[64])
    for rows in by_target(log).values():
        last = max(row.request for row in rows)
        before = sum(row.accepted for row in rows if row.request < last)
        assert before < ASKING.per_attribute
        assert last == ASKING.requests - 1 or sum(row.accepted for row in rows) >= ASKING.per_attribute
        assert Counter(row.request for row in rows) == dict.fromkeys(range(last + 1), ASKING.samples)
    asking = RequestSettings(ask="text", seed=7, samples=3, requests=2)
    strict = run(generators[64], judging=SentenceJudging(), asking=asking)
    assert len(strict) == 3 * 2 * 3
    assert {row.rule for row in strict} <= {"empty", "both-terms"}


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    assert read_rounds(tmp_path) == {}
    (tmp_path / "requests.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"requests.parquet is damaged: remove it to start again"):
        read_rounds(tmp_path)


@pytest.mark.parametrize(("counts", "enough"), [((3, 1), True), ((2, 1), False), ((4, 0), False)])
def test_an_attribute_has_enough_of_each_group_and_together(counts: tuple[int, int], enough: bool) -> None:
    wanted = states()[0]
    wanted.groups.update(dict(zip(wanted.terms, counts, strict=True)))
    assert wanted.has_enough(RequestSettings(per_group=1, per_attribute=4)) == enough


def test_equal_prompts_of_later_requests_give_other_texts(generators: Mapping[int, LocalGenerator]) -> None:
    # six terms: the first comes again in request 6 or later
    strict = RequestSettings(ask="text", seed=7, samples=1, requests=13)
    log = run(generators[64], targets(specification())[0], judging=SentenceJudging(), asking=strict)
    again = [row for row in log if row.prompt_sha256 == log[0].prompt_sha256]
    assert len(again) >= 2
    assert len({row.text for row in again}) == len(again)


def test_an_attribute_does_not_depend_on_the_others(generators: Mapping[int, LocalGenerator]) -> None:
    together = by_target(run(generators[64]))
    for target in targets(specification()):
        assert run(generators[4], target) == together[target.attribute]
