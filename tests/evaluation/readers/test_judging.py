"""The classifiers that measures of responses and readers of texts start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.progress import Display
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.judging import JudgingOptions, describe_judges, start_judges, start_text_judges

DISPLAY = Display(Console(stderr=True))
STYLES, OFFENSIVE = "calibration-styles", "calibration-offensiveness"
OWN = {"go-emotions": STYLES, "toxicity": OFFENSIVE}
LABELS, BOTH = {"labels": "generation_bias"}, {"labels": "generation_bias", "offensiveness": "offensiveness"}


@pytest.mark.parametrize(
    ("needed", "named", "styles", "offensive"),
    [
        (LABELS, (), STYLES, None),
        (BOTH, (), STYLES, OFFENSIVE),
        ({"responses": "response_wording"}, (), None, None),
        ({"offensiveness": "offensiveness"}, (OFFENSIVE,), None, OFFENSIVE),
        (BOTH, (OFFENSIVE, STYLES), STYLES, OFFENSIVE),
        (LABELS, (OFFENSIVE,), OFFENSIVE, None),  # any classifier has styles
    ],
)
def test_classifiers_of_responses(
    needed: Mapping[str, str], named: tuple[str, ...], styles: str | None, offensive: str | None, tmp_path: Path
) -> None:
    judges = start_judges(needed, OWN, JudgingOptions(named, store=tmp_path), DISPLAY)
    cards = {kind: judge.card.id for kind, judge in judges.items()}
    assert (cards.get("labels"), cards.get("offensiveness")) == (styles, offensive)
    assert list(describe_judges(judges.values())) == list(cards.values())
    assert all(judge.store is not None for judge in judges.values())


@pytest.mark.parametrize(
    ("needed", "named", "message"),
    [
        (LABELS, (OFFENSIVE, STYLES), f"--classifier {OFFENSIVE}: no measure of this run uses it"),
        (BOTH, (STYLES,), "offensiveness needs a classifier like toxicity in --classifier too"),
        (BOTH, (OFFENSIVE,), "generation_bias needs a classifier like go-emotions in --classifier too"),
    ],
)
def test_classifiers_that_do_not_fit(needed: Mapping[str, str], named: tuple[str, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        start_judges(needed, OWN, JudgingOptions(named), DISPLAY)
    assert str(caught.value) == message


@pytest.fixture
def of_task(card: Callable[..., Path], tmp_path: Path) -> Callable[[str], str]:
    """The card of a lexicon that both readers of texts can read, for a task."""
    labels = ["positive", "negative"]
    (tmp_path / "phrases.yaml").write_text(yaml.safe_dump({"labels": labels, "phrases": {"positive": ["a"]}}), "utf-8")

    def write(task: str) -> str:
        made = card(
            engine="lexicon", activation="none", model="phrases.yaml", labels=labels, offensive="negative", task=task
        )
        return str(made.rename(made.with_name(f"{task}.yaml")))

    return write


def test_a_classifier_of_texts_is_for_the_reader_of_its_task(of_task: Callable[[str], str]) -> None:
    readers = [READERS["toxicity"], READERS["regard"], READERS["sentiment"]]
    files = of_task("regard"), of_task("toxicity")
    judges = start_text_judges(readers, JudgingOptions(files), DISPLAY)
    assert {name: judge.card.task for name, judge in judges.items()} == {"regard": "regard", "toxicity": "toxicity"}
    assert start_text_judges([READERS["sentiment"]], JudgingOptions(), DISPLAY) == {}
    for named, message in (
        ((files[1], files[1]), "are both for toxicity: name one"),
        ((STYLES,), "names no offensive label"),
    ):
        with pytest.raises(EvaluationError, match=message):
            start_text_judges(readers[:1], JudgingOptions(named), DISPLAY)
    with pytest.raises(EvaluationError, match="no measure of this run uses it"):
        start_text_judges([READERS["sentiment"]], JudgingOptions((STYLES,)), DISPLAY)
