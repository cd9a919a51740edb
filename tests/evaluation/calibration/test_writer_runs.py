"""The whole ways of the embedded writer: texts about groups, and sentences, pairs and the stereotype score."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from calibration.writer.description import read_description
from calibration.writer.truth import human_shares, true_log_odds, true_score, true_shares
from holisticbias_eval.figures import Figures
from holisticbias_eval.models.embedded import WRITER
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.results.run import Result, read_run
from invoking import Invoke
from known import known

DESCRIPTION = read_description()
GROUPS = DESCRIPTION.prompts.groups
MEASURES = {"sentiment": {}, "gender_polarity": {"method": "words"}}
RARE = 1e-5  # the probability of a share as far from the truth as the bounds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def texts(invoke: Invoke, folder: Path) -> Result:
    """The run without a model, made once."""
    out = folder / "texts"
    if not out.exists():
        invoke.printed("evaluate", "--measures", "sentiment,gender_polarity", "--no-store", "--out", out)
    return read_run(out).result


def test_the_writer_continues_its_own_prompts_by_default(texts: Result) -> None:
    assert (texts.signature.model.name, texts.signature.release.prompts) == ("embedded-writer", "calibration")
    assert texts.signature.sentences_scored == 7 * 144


def test_the_planted_shares_are_found(texts: Result) -> None:
    """Each share is as near its true value as drawn texts are, and so are the intervals' ends, but for a few."""
    figures, covered = Figures(texts.figures), []
    for group in GROUPS:
        for measure, shares in true_shares(DESCRIPTION.prompts, group).items():
            human = human_shares(DESCRIPTION.prompts)[measure]
            for name, share in shares.items():
                keys = {"domain": group.domain, "group": group.group, "class": name, **MEASURES[measure]}
                found, people = (known(figures.get(measure, what, keys)) for what in ("share", "human_share"))
                assert people.value == pytest.approx(human[name])
                assert found.n == 144
                low, high = binom.ppf([RARE, 1 - RARE], 144, share)
                assert low <= round(known(found.value) * 144) <= high
                covered.append(known(found.interval).low <= share <= known(found.interval).high)
    assert np.mean(covered) >= 0.9


def test_groups_with_other_shares_differ_and_no_others(texts: Result) -> None:
    figures = Figures(texts.figures)
    truth = {group.group: true_shares(DESCRIPTION.prompts, group) for group in GROUPS}
    for one, other in combinations(GROUPS, 2):
        if one.domain != other.domain:
            continue
        for measure, tested in (("sentiment", "negative"), ("gender_polarity", "male")):
            keys = {"domain": one.domain, "class": tested, **MEASURES[measure]}
            pair = {"first": one.group, "second": other.group}
            found = known(figures.get(measure, "adjusted_p", {**keys, **pair}))
            planted = truth[one.group][measure][tested] != truth[other.group][measure][tested]
            assert (found.value is not None and found.value < 0.05) is planted, (one.group, other.group, measure)


@pytest.mark.parametrize("name", ["calibration", pytest.param("calibration-control", marks=pytest.mark.nightly)])
def test_the_whole_way_of_a_specification_finds_its_score(invoke: Invoke, tmp_path: Path, name: str) -> None:
    """All sentences of every attribute are written, and every pair is decided as planted: the score is the true one."""
    sentences, pairs, run = (tmp_path / part for part in ("sentences", "pairs", "run"))
    for command in (
        ("stereotypes", "sentences", "--specification", name, "--per-attribute", 20, "--no-store", "--out", sentences),
        ("stereotypes", "pairs", "--sentences", sentences, "--out", pairs),
        ("evaluate", "--pairs", pairs, "--no-store", "--out", run),
    ):
        assert invoke(*command)[0] == 0
    (specification,) = [s for s in shipped_specifications(WRITER) if s.id == f"writer.{name}"]
    odds = true_log_odds(specification, DESCRIPTION.sentences)
    made = read_run(run)
    by_attribute: dict[tuple[str, str], list[bool]] = {}
    for row in made.answers.to_pylist():
        wins = row["score_stereotype"] > row["score_antistereotype"]
        assert wins == (odds[row[row["stereotyped"]]] > 0)
        by_attribute.setdefault((row["source"], row["attribute"]), []).append(wins)
    keys = {"specification": specification.id}
    score = known(Figures(made.result.figures).get("stereotype_score", "stereotype_score", keys))
    expected = true_score(specification, DESCRIPTION.sentences)
    assert {attribute: (len(wins), float(np.mean(wins))) for attribute, wins in by_attribute.items()} == {
        (source, attribute): (number, expected)
        for source, number in (("generated", 20), ("template", 4 * 3))
        for attributes in specification.attributes
        for attribute in attributes.terms
    }
    assert score.value == pytest.approx(expected)
    assert known(score.interval).low < expected < known(score.interval).high
    assert (known(score.p_value) < 0.05) is (expected != 0.5)
    assert made.result.signature.model.name == "embedded-writer"
