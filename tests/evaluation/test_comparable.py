"""Two runs: what differs, costs of levels, and runs that are not comparable."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from altered import altered
from changes import changed
from columns import with_column
from holisticbias.cli import main
from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.report.gain_words import Labels
from holisticbias_eval.report.gains import gains_chapter
from holisticbias_eval.report.runs import comparison_report
from holisticbias_eval.report.write import render
from holisticbias_eval.results.compare import compare_runs, read_two_runs
from holisticbias_eval.results.gains import Gain, find_gains
from holisticbias_eval.results.run import Run, read_run, write_run
from invoking import Invoke
from row_files import write_table

NAME = "stereotype_score"
NEGATIVE, NEUTRAL = "Everyone hated this horrible liar.", "They live in the town."


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of three models whose texts are negative to some share, equally often in both groups."""
    folder = tmp_path_factory.mktemp("texts")
    for name, share in (("one", 0.04), ("two", 0.1), ("three", 0.04)):
        rows = [
            {"domain": "people", "group": group, "item": f"{group}{i}",
             "text": NEGATIVE if 7 * i % 500 < 500 * share else NEUTRAL}
            for group in ("alphas", "betas") for i in range(500)
        ]  # fmt: skip
        path = write_table(folder / f"{name}.csv", rows)
        options = ("--measures", "sentiment", "--model", name, "--responses", str(path))
        assert main(["evaluate", *options, "--out", str(folder / "runs" / name)]) == 0
    return [folder / "runs" / name for name in ("one", "two", "three")]


def test_texts_that_are_more_negative_in_every_group_are_a_cost(texts: list[Path], invoke: Invoke) -> None:
    printed = invoke.printed("compare", *texts[:2], "--format", "md")
    assert "Costs: Negative texts, People 4.0% in A, 10.0% in B" in printed
    assert "No cost shown" not in printed
    assert " before" not in printed  # two models, not one before and after
    printed = invoke.printed("compare", *texts, "--format", "md")
    assert "two: Costs: Negative texts, People 4.0% in one, 10.0% in two" in printed
    assert "three: No cost shown" in printed
    assert "| Negative texts, People |" in printed.partition("How much there is, whatever the groups")[2]


def gain_of(measure: str, of: str, values: tuple[float, float], keys: dict[str, str], **more: Any) -> Gain:
    """The gain of a figure with these values."""
    (gain,) = find_gains(Figures(changed(measure, of, keys, values, **more)), ())
    return gain


def test_gains_of_odd_changes() -> None:
    axis = gain_of("stance_contrast", "shared_contrast", (0.1, 0.9), {"axis": MADE_UP}, p_value=1e-9)
    domain = gain_of("sentiment", "disparity", (0.1, 0.9), {"domain": MADE_UP, "class": "negative"}, p_value=1e-9)
    assert [(gain.outcome, gain.main) for gain in (axis, domain)] == [("baseline", False)] * 2
    point = gain_of("retention", "perplexity", (1.0, 2.0), {}, interval=(1.0, 1.0))
    assert point.outcome == "not tested", "its interval has no width"
    half = gain_of(NAME, NAME, (0.5, 0.6), {}, interval=(0.05, 0.15))
    assert (half.outcome, half.relative) == ("cost", None), "one half is neutral"
    chapter = gains_chapter({"B": (half,)}, Labels())
    assert not [section for section in chapter.sections if section.name == "gains-chart"]


COUNTED = "counted, given the token '<|endoftext|>', which marks the start of documents in training"
NONE, OTHER = "not counted: left out with --first-token", "counted, given the token '<s>', chosen with --first-token"
AS_TURN = {"first_token": COUNTED, "chat": "the text begins the user's turn, after 'x' (SHA-256 0)"}
REFUSED: tuple[tuple[dict[str, str], dict[str, str], str], ...] = (
    ({"first_token": COUNTED}, {"first_token": NONE}, "the first token of a text is counted in A alone"),
    ({"first_token": COUNTED}, {"first_token": OTHER}, "the first token of a text stands after different tokens"),
    ({}, {"context": "They said:"}, "the contexts differ"),
    ({}, AS_TURN, "texts are scored as plain texts in A and as the beginning of a turn (user) in B"),
    ({"pll": "original"}, {"pll": "within_word_l2r"}, "pseudo-log-likelihoods are computed in different ways"),
    ({"pair_mode": "choice"}, {"pair_mode": "published"}, "with --mode choice in A and with --mode published in B"),
)


def test_scores_under_other_conditions_are_refused(run: Run) -> None:
    known = run.result.signature.scoring
    for first, second, reason in REFUSED:
        with pytest.raises(SelectionError, match="the runs cannot be compared") as error:
            compare_runs(altered(run, scoring={**known, **first}), altered(run, scoring={**known, **second}))
        assert reason in str(error.value)
    # another model has another first token
    model = {"weights_sha256": "0" * 64}
    scoring = {**run.result.signature.scoring, "first_token": OTHER}
    assert compare_runs(run, altered(run, model=model, scoring=scoring)).left_out == ()


def test_choices_of_models_with_other_chat_templates_are_compared(run: Run) -> None:
    """A server's template is not known, a local model's is written out."""
    known = {**run.result.signature.scoring, "pair_mode": "choice"}
    templates = ({"chat": "<user>{prompt}<assistant>"}, {"chat": "[INST]{prompt}[/INST]"}, {"first_token": ""})
    for first in templates:
        for second in templates:
            runs = (altered(run, scoring={**known, **own}) for own in (first, second))
            assert compare_runs(*runs).left_out == ()


def test_the_command_says_what_is_not_compared(texts: list[Path], tmp_path: Path, invoke: Invoke) -> None:
    one, two, three = texts
    run = read_run(two)
    measuring = {"sentiment": {**run.result.signature.measuring["sentiment"], "negative": "-0.2"}}
    written(altered(run, measuring=measuring), tmp_path / "other")
    said = invoke.refused("compare", one, tmp_path / "other")
    generation = {**run.result.signature.generation, "measured_part": "whole"}
    written(altered(run, generation=generation), tmp_path / "whole")
    part = "is measured is the column text in A and 'whole' (--measured) in B"
    assert part in invoke.refused("compare", one, tmp_path / "whole")
    reason = "Sentiment of texts about groups is not compared: the measure's parameters differ (negative)"
    assert reason in said
    assert len(said.strip().splitlines()) == 1
    printed = invoke.printed("compare", one, tmp_path / "other", three, "--format", "md")
    assert reason in printed
    assert "three: No cost shown" in printed


def test_what_differs_is_named(run: Run) -> None:
    signature = run.result.signature
    assert compare_runs(run, run).differs == ()
    scored = altered(run, scoring={**signature.scoring, "pll": "original"})
    found = compare_runs(run, scored)
    assert (found.differs, found.settings_that_differ) == (("scoring",), ("pll",))
    assert compare_runs(run, altered(run, model={"dtype": "bfloat16"})).settings_that_differ == ("dtype",)
    # a model that was not loaded is known by its file of weights
    files = (altered(run, model={"weights_sha256": None, "file_sha256": digest * 64}) for digest in "01")
    assert compare_runs(*files).differs == ("model",)
    # another model has another tokenizer, which is not a setting of the scoring
    tokenizer = {**signature.scoring, "tokenizer_sha256": "0" * 64}
    other = altered(run, model={"weights_sha256": "0" * 64}, scoring=tokenizer)
    assert compare_runs(run, other).differs == ("model",)


def test_files_that_one_run_does_not_record_do_not_differ(run: Run) -> None:
    """Runs of before do not have the configurations of models and classifiers, and the tokens that end responses."""
    scoring = {name: value for name, value in run.result.signature.scoring.items() if name != "config_sha256"}
    judge = {"task": "style", "classifier_weights_sha256": "1" * 64}
    before = altered(run, scoring=scoring, classifiers={"mine": judge})
    digest = {"classifier_config_sha256": "2" * 64}
    read = {"config_sha256": "3" * 64, "end_tokens": "0"}
    now = altered(run, scoring={**scoring, **read}, classifiers={"mine": judge | digest})
    assert compare_runs(before, now).differs == compare_runs(now, before).differs == ()
    other = altered(now, scoring={**scoring, "config_sha256": "4" * 64, "end_tokens": "1"})
    assert compare_runs(now, other).settings_that_differ == ("config_sha256", "end_tokens")
    weights = {"mine": judge | {"classifier_weights_sha256": "5" * 64}}
    assert compare_runs(before, altered(before, classifiers=weights)).settings_that_differ == ("classifier mine",)


def test_runs_of_two_measures_are_not_compared(run: Run) -> None:
    with pytest.raises(SelectionError, match="love_hate and pseudo_likelihood_bias: compare runs of one measure"):
        compare_runs(run, altered(run, measures=("pseudo_likelihood_bias",)))


def test_runs_through_the_command(tiny_run: Path, tmp_path: Path, invoke: Invoke) -> None:
    model = {"weights_sha256": "0" * 64, "name": "other"}
    other = written(altered(read_run(tiny_run), model=model), tmp_path / "other")
    out, page = tmp_path / "new" / "comparison.json", tmp_path / "new" / "comparison.html"
    printed = invoke.printed("compare", tiny_run, other, "--out", out)
    assert "84 sentences in both; 0 changed, 0 gone, 0 added." in printed
    assert "What differs: model." in printed
    assert ("Ability" in printed, "ability" in printed) == (True, False)
    invoke.printed("compare", tiny_run, other, "--out", page)
    assert invoke.printed("compare", tiny_run, other, "--format", "html") == page.read_text("utf-8")
    assert json.loads(invoke.printed("compare", tiny_run, other, "--format", "json")) == json.loads(out.read_bytes())
    assert "is not a run: it does not exist" in invoke.refused("compare", tiny_run, tmp_path / "none")


def written(run: Run, folder: Path) -> Path:
    folder.mkdir()
    write_run(run, folder)
    return folder


def shown(first: Run, second: Run) -> tuple[str, bytes]:
    compared = compare_runs(first, second)
    return compared.model_dump_json(), render(comparison_report(compared, first, second), "html", None)


def test_runs_read_for_comparing_compare_as_whole_runs_do(run: Run, tiny_run: Path, tmp_path: Path) -> None:
    reverse = with_column(run.answers, "perplexity", run.answers["perplexity"].to_numpy()[::-1])
    for name, answers in (("same", reverse), ("fewer", reverse.slice(5))):
        other = written(replace(run, answers=answers), tmp_path / name)
        assert shown(*read_two_runs(tiny_run, other)) == shown(run, read_run(other))
