"""Style equality on the embedded responder, whose mixture of styles is read from its probabilities."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from calibration.responder.chat import encode
from calibration.responder.deviation import opening_probabilities
from calibration.responder.lessons import AnswerLessons, make_lessons
from calibration.responder.repertoire import read_repertoire
from calibration.responder.said import cells, draw_said
from calibration.responder.truth import TrueBias, bias_of, judged_mixture
from holisticbias.release.release import Release
from holisticbias_eval.commands.mitigate import command
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.evaluating import evaluations
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.record import read_mitigation
from holisticbias_eval.mitigation.responses import CALIBRATION, ResponseLessons
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.mitigation.training import Lesson, train
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.tasks.task import Given
from known import known
from quiet import QUIET

pytestmark = pytest.mark.long
PLANTED, UNPLANTED = "nonce", "sexual_orientation"
SETTINGS = TrainingSettings(**{**CALIBRATION, "steps": 100})


def respond(out: Path, per_cell: int, *where: str) -> Path:
    """A run of generation_bias: responses to the planted axis."""
    values = {"per_cell": per_cell, "where": (f"axis={PLANTED}", *where), "decoding": "unrestricted"}
    list(evaluations(RESPONDER, "1.0.0", ["generation_bias"], values, out=out, display=QUIET))
    return out


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return respond(tmp_path_factory.mktemp("responses") / "run", 2, "template=dialogue.im,dialogue.love")


@pytest.fixture(scope="module")
def heard(release: Release) -> dict[str, AnswerLessons]:
    """Other prompts of both axes, with the first tokens of all answers."""
    repertoire = read_repertoire()
    tokenizer = load_kind(RESPONDER, "causal", "cpu").tokenizer
    return {
        axis: make_lessons(draw_said(release, 4000, 99, [axis]), repertoire, tokenizer) for axis in (PLANTED, UNPLANTED)
    }


def lesson_of(name: str, release: str | None = None, **values: Any) -> Lesson:
    """The texts that a method trains on."""
    given = Given(RESPONDER, release, values, (), QUIET)
    return ResponseLessons(given, load_kind(RESPONDER, "causal", "cpu")).lesson(METHODS[name])


def bias(model: Any, lessons: AnswerLessons, control: str) -> TrueBias:
    """The Gen Bias of a model's probabilities after prompts with a control."""
    repertoire = lessons.answers.repertoire
    prompts = encode(lessons.answers.tokenizer, [f"{text}{control}" for text in lessons.said.text])
    found = opening_probabilities(model, replace(lessons, prompts=prompts), lambda _: None)
    styles = np.where(lessons.probabilities > 0, found, 0) @ (lessons.answers.spread > 0).T
    judged = judged_mixture(repertoire, styles)
    descriptors, templates, term, template = cells(lessons.said)
    sums = np.zeros((len(templates), len(descriptors), judged.shape[1]))
    count = np.zeros((len(templates), len(descriptors), 1))
    np.add.at(sums, (template, term), judged)
    np.add.at(count, (template, term), 1)
    whole = (count > 0).all(axis=(1, 2))
    assert whole.any()
    return bias_of(sums[whole] / count[whole], repertoire.labels, repertoire.clusters)


def tuned(name: str, responses: Path, folder: Path) -> Any:
    """The responder after training with a method; the perplexity of validation texts may not rise by 5%."""
    lesson = lesson_of(name, responses=responses, quantile=0.7)
    loaded = load_kind(RESPONDER, "causal", "cpu")
    made = train(loaded, lesson, SETTINGS, folder, QUIET)
    assert known(made.point.perplexity) < 1.05 * made.point.validations[0].perplexity
    return made.model


@pytest.mark.nightly
def test_what_was_planted_falls_by_more_than_half(heard: dict[str, AnswerLessons], tmp_path: Path) -> None:
    """With no_bias in the context; the axis without plants stays as it is, and self-chat changes nothing."""
    responses = respond(tmp_path / "run", 12)
    before = load_kind(RESPONDER, "causal", "cpu").model
    planted = bias(before, heard[PLANTED], "")
    assert planted.full > 20
    after = tuned("style_equality", responses, tmp_path / "tagged")
    found = bias(after, heard[PLANTED], " no_bias")
    assert found.full < planted.full / 2
    assert found.by_style["curious"] < planted.by_style["curious"] / 2
    assert abs(bias(after, heard[UNPLANTED], " no_bias").full - bias(before, heard[UNPLANTED], "").full) < 0.5
    untagged = tuned("self_chat", responses, tmp_path / "self")
    assert bias(untagged, heard[PLANTED], "").full > 0.8 * planted.full


def test_responses_of_a_run_and_made_now_are_the_same(responses: Path) -> None:
    """The same prompts and seed give the same texts."""
    where = (f"axis={PLANTED}", "template=dialogue.im")
    options: dict[str, Any] = {"per_cell": 2, "where": where, "decoding": "unrestricted"}
    made = lesson_of("self_chat", "1.0.0", **options)
    given = lesson_of("self_chat", responses=responses)
    now, before = (
        {row["response_id"]: row["text"] for part in (one.texts, one.validation) for row in part.to_pylist()}
        for one in (made, given)
    )
    assert now
    assert now.items() <= before.items()


def test_lesson_of_a_run(responses: Path) -> None:
    """A fifth of the responses is tagged, prompts of validation are not trained on, and the counts add up."""
    lesson = lesson_of("style_equality", responses=responses)
    tags = [*lesson.texts["tag"].to_pylist(), *lesson.validation["tag"].to_pylist()]
    assert 0.1 < tags.count("bias") / len(tags) <= 0.2
    assert lesson.counts["biased"] == tags.count("bias")
    assert lesson.counts["responses"] == len(tags) + lesson.counts["not_judged"]
    asked = [
        {context.replace(" no_bias", "").replace(" bias", "") for context in part["context"].to_pylist()}
        for part in (lesson.texts, lesson.validation)
    ]
    assert not asked[0] & asked[1]
    assert lesson.given["threshold_from"] == "the quantile 0.8 of the bias values"


def test_runs_without_a_lesson(responses: Path, tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(MitigationError, match="other text around the prompt"):  # not the model's contexts
        lesson_of("self_chat", responses=responses, continuation="{prompt}")
    with pytest.raises(MitigationError, match="tags every response no_bias"):
        lesson_of("style_equality", responses=responses, threshold=9.0)
    with pytest.raises(MitigationError, match="is not a run of generation_bias: make one with holisticbias evaluate"):
        lesson_of("self_chat", responses=tiny_run)
    given = {"responses": responses / "responses.parquet", "classifier": ("calibration-styles",)}
    list(evaluations(None, None, ["generation_bias"], given, out=tmp_path / "given", display=QUIET))
    with pytest.raises(MitigationError, match="given has responses that were given in a file, without the text around"):
        lesson_of("self_chat", responses=tmp_path / "given")


def test_a_model_that_was_trained_on_its_responses(responses: Path, tmp_path: Path) -> None:
    """Its record names the control, and its texts are kept with their tags."""
    quick = ("--steps", "2", "--batch", "4", "--evaluations", "1", "--device", "cpu", "--no-measure")
    out = tmp_path / "out"
    arguments = ["style_equality", *quick, "--responses", str(responses), "--out", str(out)]
    assert CliRunner().invoke(command, arguments, catch_exceptions=False).exit_code == 0
    record, kept = read_mitigation(out), pq.read_table(out / "training.parquet").to_pylist()
    assert (record.control, record.specification, record.point.steps) == ("no_bias", None, 2)
    assert {row["tag"] for row in kept if row["part"] == "train"} == {"bias", "no_bias"}
    assert sum(row["part"] == "validation" for row in kept) == record.trained_on.validation_texts
    given = ["response_id", "axis", "descriptor", "template", "finish"]
    assert list(kept[0]) == [*given, "context", "text", "tag", "bias_value", "part"]
