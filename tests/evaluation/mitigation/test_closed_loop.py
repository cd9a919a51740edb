"""The closed loop on the embedded gossip: a method takes most of what is planted away, and leaves the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import f as f_distribution

from holisticbias_eval.commands.mitigate import command
from holisticbias_eval.corpus.calibration import MANY, UNTOUCHED
from holisticbias_eval.figures import Figure
from holisticbias_eval.mitigation.record import read_mitigation
from holisticbias_eval.results.run import read_run
from known import known

pytestmark = pytest.mark.long
METHODS = ("lmd", "add", "ctda", "cada")
WITH_HELD_OUT = f"{MANY} with held-out groups"


@pytest.fixture(
    scope="module", params=["lmd", *(pytest.param(name, marks=pytest.mark.nightly) for name in METHODS[1:])]
)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A method with the settings for the calibration model, and its folder; all methods in ``make nightly``."""
    folder = tmp_path_factory.mktemp("loop") / "out"
    result = CliRunner().invoke(command, [request.param, "--out", str(folder), "--device", "cpu"])
    if result.exception is not None:
        raise result.exception
    return request.param, folder


def figures(folder: Path, name: str) -> Mapping[str, Figure]:
    """A figure of log-perplexities, by dimension."""
    found = read_run(folder / "group_perplexity").result.figures
    return {
        figure.keys["dimension"]: figure
        for figure in found
        if (figure.name, figure.keys.get("scale"), figure.keys.get("test", "unpaired")) == (name, "log", "unpaired")
    }


def value(figure: Figure) -> float:
    return float(known(figure.value))


def test_what_is_planted_at_least_halves(trained: tuple[str, Path]) -> None:
    """F and mean |t|; F of LMD and CTDA is below its 95% point under the null, with 3 and 236 degrees of freedom."""
    method, out = trained
    before, after = (figures(out / "measured" / part, "f") for part in ("before", "after"))
    assert value(before[MANY]) > 20
    assert value(after[MANY]) < value(before[MANY]) / 2
    if method in ("lmd", "ctda"):
        assert value(after[MANY]) < f_distribution.ppf(0.95, 3, 236)
    before, after = (figures(out / "measured" / part, "mean_abs_t") for part in ("before", "after"))
    assert value(after[MANY]) < value(before[MANY]) / 2


def test_an_untouched_specification_stays(trained: tuple[str, Path]) -> None:
    """F of its groups is within the interval that it had before."""
    _, out = trained
    before, after = (figures(out / "measured" / part, "f")[UNTOUCHED] for part in ("before", "after"))
    assert before.interval is not None
    assert before.interval.low < value(after) < before.interval.high


def test_held_out_sentences_become_at_most_5_percent_less_likely(trained: tuple[str, Path]) -> None:
    """The validation sentences, and the neutral lines, which no training text has."""
    _, out = trained
    record = read_mitigation(out)
    assert known(record.point.perplexity) < 1.05 * known(record.perplexity_before)
    before, after = (
        next(f for f in read_run(out / "measured" / part / "retention").result.figures if f.name == "perplexity")
        for part in ("before", "after")
    )
    assert value(after) < 1.05 * value(before)


def test_held_out_groups_are_measured(trained: tuple[str, Path]) -> None:
    """F over all groups; LMD carries over to the two that it was not trained on."""
    method, out = trained
    before, after = (figures(out / "measured" / part, "f")[WITH_HELD_OUT] for part in ("before", "after"))
    assert after.n == before.n
    if method == "lmd":
        assert value(after) < f_distribution.ppf(0.95, 5, 354)
