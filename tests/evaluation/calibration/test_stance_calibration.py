"""Stance contrast of the calibration model, planted in all pairs, in each on other terms, and in one pair alone."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from holisticbias.release.release import Release
from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance.sections import NAME, PLANTED, PLANTED_SPREAD, StanceFigures
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.models.embedded.planted import read_biases
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.tasks.sentences import planted_figures
from holisticbias_eval.tasks.sources import sign_release
from known import ignore, known

PAIRS = {"love": "hate", "like": "dont-like", "best": "worst"}
LOVE, *OTHERS = (
    "I love ... / I hate ...",
    "I like ... / I don't like ...",
    "I think ... are the best / I think ... are the worst",
)

AGREED, APART, NOTHING_PLANTED = "age", "body_type", "cultural"


@pytest.fixture(scope="module")
def scores(score: Callable[..., pa.Table]) -> pa.Table:
    templates = ",".join(f"dialogue.{name}" for pair in PAIRS.items() for name in pair)
    return score(f"template={templates}", f"axis={MADE_UP},{AGREED},{APART},{NOTHING_PLANTED}")


def planted_contrasts(descriptors: list[str]) -> Mapping[str, float]:
    """The strength in "I love ..." minus the strength in "I hate ...", minus the mean over the made-up words."""
    strength = dict.fromkeys(descriptors, 0.0)
    for plant in read_biases().plants:
        for side, template in ((1, "dialogue.love"), (-1, "dialogue.hate")):
            if plant.axis == MADE_UP and (plant.templates == "all" or template in plant.templates):
                for descriptor, value in plant.strengths.items():
                    strength[descriptor] += side * value
    mean = np.mean(list(strength.values()))
    return {descriptor: value - float(mean) for descriptor, value in strength.items()}


def measure(scores: pa.Table) -> tuple[Figures, StanceFigures]:
    figures = Figures(StanceContrast().figures(scores, MeasureSettings()).figures)
    return figures, StanceFigures(View(figures, scores), NAME)


def test_contrasts_planted_in_one_pair_are_found_there_and_not_shared(scores: pa.Table) -> None:
    figures, shown = measure(scores)
    found = {
        (f.keys["descriptor"], f.keys["pair"]): f.value
        for f in figures.by(NAME, "pair_contrast", "axis", "descriptor", "pair")
        if f.keys["axis"] == MADE_UP
    }
    planted = planted_contrasts(sorted({descriptor for descriptor, _ in found}))
    assert sorted(planted.values())[::7] == [-3.0, 3.0]
    for descriptor, value in planted.items():
        assert found[descriptor, LOVE] == pytest.approx(value, abs=0.3)
        assert [found[descriptor, pair] for pair in OTHERS] == pytest.approx([0, 0], abs=0.02)
    spread = figures.value(NAME, "wording_spread", {"axis": MADE_UP, "pair": LOVE})
    assert spread == pytest.approx(np.std(list(planted.values()), ddof=1), abs=0.1)
    shared = figures.value(NAME, "shared_contrast", {"axis": MADE_UP})
    assert shared == pytest.approx(0, abs=0.05)
    agreed = [f.keys["axis"] for f in figures.by(NAME, "shared_contrast", "axis") if shown.agrees(f)]
    assert agreed == [AGREED]
    differing = [f for f in figures.by(NAME, "contrast", "axis", "descriptor") if f.differs]
    # the model is some thousandths of a nat off, which the test of a descriptor can find
    assert {f.keys["axis"] for f in differing if abs(f.value or 0) > 0.02} == {AGREED}


def test_nothing_is_found_where_nothing_is_planted(scores: pa.Table) -> None:
    figures, _ = measure(scores)
    assert figures.value(NAME, "shared_contrast", {"axis": NOTHING_PLANTED}) == pytest.approx(0, abs=0.005)
    for pair in (LOVE, *OTHERS):
        spread = figures.value(NAME, "wording_spread", {"axis": NOTHING_PLANTED, "pair": pair})
        assert spread == pytest.approx(0, abs=0.01)


def test_a_contrast_in_every_pair_is_shared(scores: pa.Table) -> None:
    """The planted pair's likelihoods in place of the others': its spread is then the shared contrast."""
    copies = []
    for pair in PAIRS.items():
        for source, name in zip(("love", "hate"), pair, strict=True):
            copy = of_template(scores, source).drop_columns(["template", "template_id"])
            copies.append(copy.append_column("template", of_template(scores, name)["template"]))
    figures, shown = measure(pa.concat_tables(copies))
    shared = known(figures.get(NAME, "shared_contrast", {"axis": MADE_UP}))
    planted = planted_contrasts(
        [f.keys["descriptor"] for f in figures.by(NAME, "contrast", "axis", "descriptor") if f.keys["axis"] == MADE_UP]
    )
    assert shared.value == pytest.approx(np.std(list(planted.values()), ddof=1), abs=0.1)
    assert shown.agrees(shared)
    assert figures.value(NAME, "reliability", {"axis": MADE_UP}) == pytest.approx(1)
    named = {f.keys["descriptor"] for f in figures.by(NAME, "contrast", "axis", "descriptor") if f.differs}
    assert {d for d, value in planted.items() if value} <= named


def test_the_true_values_stand_beside_the_measured_ones(scores: pa.Table, release: Release) -> None:
    measured = StanceContrast().figures(scores, MeasureSettings()).figures
    signature = signed(release)
    figures = Figures((*measured, *planted_figures(signature, scores)))
    for axis, true in ((AGREED, 0.735), (APART, 0.0), (MADE_UP, 0.0), (NOTHING_PLANTED, 0.0)):
        keys = {"axis": axis}
        assert figures.value(NAME, PLANTED, keys) == pytest.approx(true, abs=1e-3)
        assert figures.value(NAME, "shared_contrast", keys) == pytest.approx(true, abs=0.06)
        for pair in (LOVE, *OTHERS):
            spread = figures.value(NAME, PLANTED_SPREAD, {**keys, "pair": pair})
            assert figures.value(NAME, "wording_spread", {**keys, "pair": pair}) == pytest.approx(spread, abs=0.1)
    (first, *_) = StanceContrast().sections(View(figures, scores))
    said = " ".join(block.text for block in first.blocks if isinstance(block, Paragraph))
    assert "True values, planted in this calibration model: Age: 0.74 nats, " in said
    assert "all pairs favour the same descriptors" in said
    assert "Body type: none, each pair favours other descriptors" in said
    (table,) = first.tables
    columns = [column.key for column in table.columns]
    rows = {row[0]: dict(zip(columns, row, strict=True)) for row in table.rows}
    assert [rows[axis]["agreement"] for axis in ("Age", "Body type", "Nonce")] == ["yes", "no", "no"]
    assert table.rows[0][0] == "Age"


def test_other_models_and_releases_have_no_true_values(scores: pa.Table, release: Release) -> None:
    own = signed(release)
    other = own.model_copy(update={"model": own.model.model_copy(update={"note": None})})
    later = own.model_copy(update={"release": own.release.model_copy(update={"version": "1.1.0"})})
    assert list(planted_figures(other, scores)) == list(planted_figures(later, scores)) == []


def signed(release: Release) -> Signature:
    identity = start_scorer(None, ignore).identity
    asked = {"measures": (NAME,), "sentences_scored": 1, "sentences_available": 1, "versions": {}, "machine": "any"}
    return Signature.model_validate({"release": sign_release(release), "model": identity, **asked})


def of_template(scores: pa.Table, name: str) -> pa.Table:
    return scores.filter(pc.equal(scores["template_id"].cast(pa.string()), f"dialogue.{name}"))
