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

pytestmark = pytest.mark.long
METHODS = ("lmd", "add", "ctda", "cada")
WITH_HELD_OUT = f"{MANY} with held-out groups"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four methods with the settings for the calibration model, by one command."""
    folder = tmp_path_factory.mktemp("loop") / "out"
    result = CliRunner().invoke(command, [",".join(METHODS), "--out", str(folder), "--device", "cpu"])
    if result.exception is not None:
        raise result.exception
    return folder


def figures(folder: Path, name: str) -> Mapping[str, Figure]:
    """A figure of log-perplexities, by dimension."""
    found = read_run(folder / "group_perplexity").result.figures
    return {
        figure.keys["dimension"]: figure
        for figure in found
        if (figure.name, figure.keys.get("scale"), figure.keys.get("test", "unpaired")) == (name, "log", "unpaired")
    }


def value(figure: Figure) -> float:
    assert figure.value is not None
    return float(figure.value)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_planted_at_least_halves(out: Path, method: str) -> None:
    """F and mean |t|; F of LMD and CTDA is below its 95% point under the null, with 3 and 236 degrees of freedom."""
    before, after = (figures(out / part, "f") for part in ("before", f"{method}/measured/after"))
    assert value(before[MANY]) > 20
    assert value(after[MANY]) < value(before[MANY]) / 2
    if method in ("lmd", "ctda"):
        assert value(after[MANY]) < f_distribution.ppf(0.95, 3, 236)
    before, after = (figures(out / part, "mean_abs_t") for part in ("before", f"{method}/measured/after"))
    assert value(after[MANY]) < value(before[MANY]) / 2


@pytest.mark.parametrize("method", METHODS)
def test_an_untouched_specification_stays(out: Path, method: str) -> None:
    """F of its groups is within the interval that it had before."""
    before, after = (figures(out / part, "f")[UNTOUCHED] for part in ("before", f"{method}/measured/after"))
    assert before.interval is not None
    assert before.interval.low < value(after) < before.interval.high


@pytest.mark.parametrize("method", METHODS)
def test_held_out_sentences_become_at_most_5_percent_less_likely(out: Path, method: str) -> None:
    """The validation sentences, and the neutral lines, which no training text has."""
    record = read_mitigation(out / method)
    assert record.perplexity_before is not None
    assert record.point.perplexity is not None
    assert record.point.perplexity < 1.05 * record.perplexity_before
    before, after = (
        next(f for f in read_run(out / part / "retention").result.figures if f.name == "perplexity")
        for part in ("before", f"{method}/measured/after")
    )
    assert value(after) < 1.05 * value(before)


@pytest.mark.parametrize("method", METHODS)
def test_held_out_groups_are_measured(out: Path, method: str) -> None:
    """F over all groups; LMD carries over to the two that it was not trained on."""
    before, after = (figures(out / part, "f")[WITH_HELD_OUT] for part in ("before", f"{method}/measured/after"))
    assert after.n == before.n
    if method == "lmd":
        assert value(after) < f_distribution.ppf(0.95, 5, 354)


def test_the_settings_for_the_calibration_model_are_recorded(out: Path) -> None:
    """LMD trains with SGD, the others with AdamW; all make one pass over the texts."""
    found = {method: read_mitigation(out / method).point.settings for method in METHODS}
    assert {method: settings.optimizer for method, settings in found.items()} == {
        "lmd": "sgd", "add": "adamw", "ctda": "adamw", "cada": "adamw",
    }  # fmt: skip
    assert {settings.epochs for settings in found.values()} == {1}
    assert {settings.patience for settings in found.values()} == {None}
    assert (found["lmd"].learning_rate, found["lmd"].weight, found["lmd"].lm_weight) == (0.03, 10, 0.1)
