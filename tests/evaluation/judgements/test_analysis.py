"""Answers of a study, and their analysis."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from holisticbias_eval.errors import CorpusError, JudgementsError
from holisticbias_eval.judgements.analysis import Rate, analyse
from holisticbias_eval.judgements.answers import AnnotatorAnswer, answer_files, join, read_answers
from holisticbias_eval.judgements.key import CHOICES, Choice, Key
from holisticbias_eval.judgements.settings import AnalysisSettings, StudySettings
from holisticbias_eval.judgements.study import labelling_config, shown_tasks
from holisticbias_eval.statistics.clusters import clustered_interval, flip_p_value
from holisticbias_eval.statistics.intervals import CRITICAL_Z, wilson
from known import known
from label_studio import choices, exported

from .made_studies import NAMES, answers_of, saved_answers, side, study

SETTINGS = AnalysisSettings()
TRIALS = 30
LARGEST = 6  # of 30 trials at 0.05: more have a chance of 0.001


def by_hand(key: Key, chosen: Sequence[Sequence[int | Choice]]) -> Iterator[AnnotatorAnswer]:
    """Answers to the first question: for each sheet a place or a choice per pair."""
    order = [pair.id for pair in key.pairs]
    for task in key.tasks:
        if task.sheet:
            value = chosen[task.sheet - 1][order.index(task.pair)]
            choice = side(task, value) if isinstance(value, int) else value
            yield AnnotatorAnswer(f"{task.sheet}", task.id, NAMES[0], choice)


def preference(rates: Sequence[Rate], question: str = NAMES[0]) -> Rate:
    return next(rate for rate in rates if rate.question == question)


def test_rates_by_hand() -> None:
    key = study(4, StudySettings(pairs=4, sheets=2, per_pair=2, catch=0, ties=True))
    found = analyse(by_hand(key, [[1, 1, 1, 0], [1, 0, "tie", "refused"]]), key, SETTINGS)
    rate = preference(found.of("kept"))
    assert (rate.chosen, rate.wins, rate.share, rate.ties, rate.refused) == (6, 4, 4 / 6, 1, 1)
    assert rate.p_value == pytest.approx(44 / 64)  # P(at most 2 of 6) is 22/64
    # wins minus losses of the prompts are 2, 0, 1, -1: the sum 2 or more in 3 of 8 signs, and so -2 or less
    assert rate.clustered_p_value == pytest.approx(6 / 8)
    assert (rate.prompts, rate.pairs, rate.annotators) == (4, 4, 2)
    assert preference(found.of("kept"), NAMES[1]).share is None


def test_agreement_by_hand() -> None:
    key = study(4, StudySettings(pairs=4, sheets=2, per_pair=2, catch=0))
    found = analyse(by_hand(key, [[1, 1, 0, 0], [1, 1, 0, 1]]), key, SETTINGS)
    figures = {one.name: one for one in found.agreement if one.who == "kept" and one.question == NAMES[0]}
    assert (figures["raw"].value, figures["raw"].n) == (0.75, 4)
    # 5 of 8 choices are of B: agreement by chance is 2 (5*4 + 3*2) / (2*8*7) = 52/112, so alpha is 1 - (1/4)/(60/112)
    assert figures["krippendorff_alpha"].value == pytest.approx(1 - 0.25 / (60 / 112))
    assert figures["fleiss_kappa"].value == pytest.approx((0.75 - 34 / 64) / (30 / 64))
    assert {one.value for one in found.agreement if one.question == NAMES[1]} == {None}


def test_the_names_of_annotators_change_no_rate() -> None:
    """One annotator has refused, so that the prompts of each begin with another one."""
    key = study(12, StudySettings(pairs=12, sheets=2, per_pair=2, catch=0))
    answers = list(by_hand(key, [["refused", 1, 1, 0, 1, 1] * 2, [1, 0, "refused", 1, 1, 1] * 2]))
    renamed = [replace(answer, annotator={"1": "b", "2": "a"}[answer.annotator]) for answer in answers]
    assert analyse(answers, key, SETTINGS).rates == analyse(renamed, key, SETTINGS).rates


def test_holm_over_questions() -> None:
    key = study(10, StudySettings(pairs=10, sheets=1, per_pair=1, catch=0))
    wins = dict(zip(NAMES, (10, 9, 5), strict=True))
    found = analyse(answers_of(key, lambda _rng, _who, pair, name: pair < wins[name]), key, SETTINGS)
    corrected = [rate.p_holm for rate in found.of("kept")]
    assert corrected == pytest.approx([3 * 2 / 1024, 2 * 22 / 1024, 1.0])
    assert [rate.clustered_p_holm for rate in found.of("kept")] == pytest.approx(corrected)


def test_annotators_who_fail_catch_questions_are_left_out_and_counted() -> None:
    key = study(20, StudySettings(pairs=20, catch=4))
    answers = list(answers_of(key, lambda *_: True, sloppy=[3], seed=4))
    found = analyse(answers, key, SETTINGS)
    assert [(one.name, one.asked, one.kept) for one in found.annotators] == [
        ("annotator-1", 12, True), ("annotator-2", 12, True), ("annotator-3", 12, False)
    ]  # fmt: skip
    kept, everybody = (preference(found.of(who)) for who in ("kept", "all"))
    assert (kept.share, kept.chosen, kept.annotators) == (1.0, 40, 2)
    assert (known(everybody.share) < 1, everybody.chosen, everybody.annotators) == (True, 60, 3)
    assert all(one.kept for one in analyse(answers, key, AnalysisSettings(least=0)).annotators)


@pytest.mark.parametrize(("passed", "kept"), [(3, True), (2, False)])
def test_the_least_share_of_catch_questions(passed: int, kept: bool) -> None:
    key = study(1, StudySettings(pairs=1, sheets=1, per_pair=1, catch=4))
    refused: Choice = "refused"
    chosen: list[int | Choice] = [0, *[0] * passed, *[refused] * (4 - passed)]
    found = analyse(by_hand(key, [chosen]), key, AnalysisSettings(least=0.75))
    assert [(one.passed, one.asked, one.kept) for one in found.annotators] == [(passed, 4, kept)]


def test_a_share_that_equals_the_least_is_enough() -> None:
    """7 of 25 are 0.28, but 0.28 times 25 is rounded to more than 7."""
    key = study(1, StudySettings(pairs=1, sheets=1, per_pair=1, catch=1))
    pair, catch = key.pairs
    first, _ = (task for task in key.tasks if task.sheet)
    catches = [catch.model_copy(update={"id": f"catch-{i}"}) for i in range(25)]
    tasks = [first.model_copy(update={"id": one.id, "pair": one.id}) for one in (pair, *catches)]
    key = key.model_copy(update={"pairs": (pair, *catches), "tasks": tuple(tasks)})
    refused: Choice = "refused"
    chosen: list[int | Choice] = [0, *[0] * 7, *[refused] * 18]
    found = analyse(by_hand(key, [chosen]), key, AnalysisSettings(least=0.28))
    assert [one.kept for one in found.annotators] == [True]


def test_repeated_conflicting_empty_and_unknown_answers_are_counted() -> None:
    key = study(2, StudySettings(pairs=2, sheets=1, per_pair=1, catch=0))
    first, second = (task for task in key.tasks if task.sheet)
    name = NAMES[0]
    found = join(
        [
            AnnotatorAnswer("a", first.id, name, "left"), AnnotatorAnswer("a", first.id, name, "left"),
            AnnotatorAnswer("a", second.id, name, "left"), AnnotatorAnswer("a", second.id, name, "right"),
            AnnotatorAnswer("b", first.id, name, None), AnnotatorAnswer("b", "nothing", name, "left"),
            AnnotatorAnswer("b", first.id, "nothing", "left"), AnnotatorAnswer("b", first.id, name, "right"),
        ],
        key,
    )  # fmt: skip
    assert [one.annotator for one in found.pairs] == ["a", "b"]
    assert found.counts == {"repeated": 1, "conflicting": 1, "empty": 1, "unknown": 2}


def test_answers_to_nothing_of_the_study_are_refused() -> None:
    key = study(2)
    with pytest.raises(JudgementsError, match="no answer is about a pair"):
        analyse([AnnotatorAnswer("a", "nothing", NAMES[0], "left")], key, SETTINGS)


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_a_planted_preference_is_found_and_none_at_the_nominal_rate(share: float) -> None:
    def choose(rng: np.random.Generator, *_: object) -> bool:
        return bool(rng.random() < share)

    key = study(40, StudySettings(pairs=40, catch=0))
    studies = ((one for one in answers_of(key, choose, seed=i) if one.question == NAMES[0]) for i in range(TRIALS))
    rates = [preference(analyse(answers, key, SETTINGS).of("kept")) for answers in studies]
    assert np.mean([rate.wins / rate.chosen for rate in rates]) == pytest.approx(share, abs=0.02)
    for test in ("p_value", "clustered_p_value"):
        found = sum(getattr(rate, test) < 0.05 for rate in rates)
        assert found <= LARGEST if share == 0.5 else found >= 0.9 * TRIALS
    intervals = [known(rate.clustered_interval) for rate in rates]
    assert sum(interval.low <= share <= interval.high for interval in intervals) >= TRIALS - LARGEST


def test_an_annotator_who_always_takes_one_side_shows() -> None:
    key = study(60, StudySettings(pairs=60, sheets=1, per_pair=1, catch=0))
    found = analyse(
        (AnnotatorAnswer("a", task.id, NAMES[0], "left") for task in key.tasks if task.sheet), key, SETTINGS
    )
    rate = preference(found.of("kept"))
    assert rate.left == 1.0
    assert known(rate.left_p_value) < 1e-6
    assert abs(known(rate.share) - 0.5) < 0.25


def test_no_judgements_have_no_share() -> None:
    assert flip_p_value(np.array([], np.int64)) is None
    assert clustered_interval(np.array([3]), np.array([5])) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_the_flip_test_is_that_over_all_signs(differences: list[int]) -> None:
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = np.mean([abs(total) >= abs(sum(differences)) for total in sums])
    assert flip_p_value(np.array(differences)) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_repeated_judgements_of_a_prompt_do_not_narrow_the_interval(share: float) -> None:
    wins = (np.arange(40) < 40 * share).astype(np.int64)
    once, thrice = (known(clustered_interval(n * wins, np.full(40, n))) for n in (1, 3))
    assert once == wilson(share, 40)
    assert thrice.low < once.low < 1
    assert flip_p_value(3 * (2 * wins[:10] - 1)) == flip_p_value(2 * wins[:10] - 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=9))
def test_the_interval_by_prompt_is_of_the_effective_number(counted: list[tuple[int, int]]) -> None:
    table = np.array([(won, won + lost) for won, lost in counted if won + lost], np.int64).reshape(-1, 2)
    found = clustered_interval(table[:, 0], table[:, 1])
    if len(table) < 2:
        assert found is None
        return
    share, n = table[:, 0].sum() / table[:, 1].sum(), int(table[:, 1].sum())
    spread = len(table) * np.var(table[:, 0] - share * table[:, 1], ddof=1) / n**2
    effect = spread / (share * (1 - share) / n) if 0 < share < 1 else n / len(table)
    effect = 1.0 if n == len(table) else max(effect, 1.0)
    z = CRITICAL_Z if n == len(table) else stdtrit(len(table) - 1, 0.975)
    # the ends p of the interval: (share - p)^2 = z^2 p (1 - p) effect / n
    ends = np.roots([1 + z**2 * effect / n, -2 * share - z**2 * effect / n, share**2])
    assert [known(found).low, known(found).high] == pytest.approx(sorted(np.real(ends)), abs=1e-6)


KEY = study(2, StudySettings(pairs=2, catch=0, ties=True))
TASK = shown_tasks(KEY)[0][0]["id"]


def saved(**changed: object) -> dict[str, Any]:
    """A file with one answer, as the page saves it."""
    return {**saved_answers(KEY, [AnnotatorAnswer("sam", TASK, NAMES[0], "left")]), **changed}


def export(annotation: dict[str, Any], **data: object) -> list[dict[str, Any]]:
    """An exported task about a pair, with one annotation."""
    task = {"task": TASK, "study": KEY.study, "prompt": "x", "left": "y", "right": "z", **data}
    return exported(task, {"ground_truth": False, "lead_time": 9.1, "result_count": 3, **annotation})


def result(**chosen: str) -> list[dict[str, Any]]:
    return choices(**{name: [choice] for name, choice in chosen.items()})


def read(tmp_path: Path, content: object, key: Key = KEY) -> list[AnnotatorAnswer]:
    path = tmp_path / "answers.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return read_answers(answer_files([path]), key)


def test_a_file_of_the_page(tmp_path: Path) -> None:
    assert read(tmp_path, saved()) == [AnnotatorAnswer("sam", TASK, NAMES[0], "left")]


@pytest.mark.parametrize(
    ("annotation", "found"),
    [
        (
            {"result": result(preference="Speaker 1", humanness="Speaker 2", interestingness="No difference")},
            ["left", "right", "tie"],
        ),
        ({"result": result(preference="Rather not answer", humanness="right")}, ["refused", "right", None]),
        ({"result": result(other="Speaker 1")}, [None, None, None]),
        ({"result": [], "was_cancelled": True}, ["refused"] * 3),
    ],
)
def test_an_export_of_label_studio(tmp_path: Path, annotation: dict[str, Any], found: list[Choice | None]) -> None:
    expected = [AnnotatorAnswer("1", TASK, name, choice) for name, choice in zip(NAMES, found, strict=True)]
    assert read(tmp_path, export(annotation)) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "is not JSON"),
        ([], "has no answers"),
        (saved(study="other"), "has answers to another study: 'other'"),
        (saved(annotator="../x"), "is damaged: annotator"),
        (saved(annotator="x\u202e"), "is damaged: annotator"),
        (saved(answers=[{"task": TASK, "question": "preference", "choice": "both"}]), "damaged: answers.0.choice"),
        (export({}, study="other"), "has answers to another study"),
        (export({"result": result(preference="both")}), "task 1 has the choice 'both' for preference"),
        ([{"data": {"sentence": "x"}, "annotations": []}], "has no task: it was not made by holisticbias judge make"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises((JudgementsError, CorpusError), match=r"answers\.json") as found:
        read(tmp_path, content)
    assert message in str(found.value)


@pytest.mark.parametrize("ties", [True, False])
def test_the_labelling_interface_asks_every_question(ties: bool) -> None:
    config = ElementTree.fromstring(labelling_config(study(2, StudySettings(pairs=2, ties=ties))))  # noqa: S314 - the project's own
    asked = {one.get("name"): [choice.get("value") for choice in one] for one in config.iter("Choices")}
    words = [text for choice, text in CHOICES.items() if ties or choice != "tie"]
    assert asked == dict.fromkeys(NAMES, words)
    assert {one.get("value") for one in config.iter("Text")} == {"$prompt", "$left", "$right"}
