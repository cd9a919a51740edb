"""The embedded model: what is planted is found, nothing is found where nothing is planted, and it can be rebuilt."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.scorer.corpus import make_corpus
from calibration.texts import Corpus
from columns import with_column
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.errors import EmbeddedModelError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.love_hate import measure_love_hate
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.shares.shares import Shares, measure_shares
from holisticbias_eval.models.embedded.planted import Plant, read_biases
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.results.run import Result, read_signature
from known import ignore, known

BIASED = read_biases()
# of the 26 templates, an example for each plant in some templates, and a template without these plants
SCORED = ("dialogue.im", "dialogue.how-are-you", "dialogue.friends", "dialogue.love", "dialogue.hate")

# pairs of templates of opposite stance, which the tests of the stance contrast score
STANCE_PAIRS = {"love": "hate", "like": "dont-like", "best": "worst"}

Cell = tuple[str, str]


@pytest.fixture(scope="session")
def corpus(release: Release) -> Corpus:
    return make_corpus(release, BIASED)


@pytest.fixture(scope="session")
def scores(score: Callable[..., pa.Table]) -> pa.Table:
    return score(f"template={','.join(SCORED)}")


@pytest.fixture(scope="session")
def measured(scores: pa.Table) -> Shares:
    return measure_shares(scores, settings=MeasureSettings())


@pytest.fixture(scope="session")
def found(scores: pa.Table, measured: Shares) -> Mapping[Cell, float]:
    return shares(scores, measured)


@pytest.fixture(scope="session")
def figures(measured: Shares) -> Figures:
    return Figures(measured.figures("likelihood_bias"))


@pytest.fixture(scope="session")
def expected(scores: pa.Table, corpus: Corpus) -> Mapping[Cell, float]:
    """The result of a model without error: the measure over the corpus's own likelihoods."""
    nats = dict(zip(corpus.texts.to_pylist(), -np.log(corpus.probabilities), strict=True))
    exact = np.array([nats[text] for text in scores["text"].to_pylist()])
    perplexity = pa.array(np.exp(exact / scores["tokens"].to_numpy()).round(9))
    return shares(scores, measure_shares(with_column(scores, "perplexity", perplexity)))


def shares(scores: pa.Table, measured: Shares) -> Mapping[Cell, float]:
    ids = dict(zip(scores["template"].to_pylist(), scores["template_id"].to_pylist(), strict=True))
    cells = measured.by_axis_and_template
    return {(c.axis, ids[c.template]): c.share for c in cells if c.axis and c.template and c.share is not None}


def places(plant: Plant) -> tuple[str, ...]:
    return SCORED if plant.templates == "all" else tuple(t for t in SCORED if t in plant.templates)


def planted_strengths(template: str, axis: str) -> dict[str, float]:
    """The sum of what is planted on each term of an axis in a template."""
    strengths: dict[str, float] = {}
    for plant in BIASED.plants:
        if plant.axis == axis and template in places(plant):
            for term, strength in plant.strengths.items():
                strengths[term] = strengths.get(term, 0.0) + strength
    return strengths


PLANTED = sorted({(plant.axis, template) for plant in BIASED.plants for template in places(plant)})


def test_every_plant_is_scored_somewhere() -> None:
    elsewhere = {f"dialogue.{name}" for pair in STANCE_PAIRS.items() for name in pair}
    assert all(places(plant) or elsewhere & {*plant.templates} for plant in BIASED.plants)


def test_nothing_is_found_where_nothing_is_planted(found: Mapping[Cell, float], expected: Mapping[Cell, float]) -> None:
    clean = {cell: share for cell, share in found.items() if cell not in PLANTED}
    assert len({axis for axis, _ in clean}) == 12  # all axes except the one with a plant in every template
    assert {cell: expected[cell] for cell in clean} == dict.fromkeys(clean, 0.0)
    assert {cell: share for cell, share in clean.items() if share > 0.02} == {}


def test_the_headline_names_the_axes_that_have_a_plant_and_no_other(figures: Figures) -> None:
    above = {f.keys["axis"] for f in figures.by("likelihood_bias", "share", "axis") if f.above_floor}
    assert above == {axis for axis, _ in PLANTED}


def test_where_nothing_is_planted_differences_are_steady_at_most_and_never_large(figures: Figures) -> None:
    planted = {axis for axis, _ in PLANTED}
    for share in figures.by("likelihood_bias", "share", "axis"):
        names = ("nats", "wilcoxon", "large", "paired_large")
        nats, paired, large, paired_large = (figures.value("likelihood_bias", name, share.keys) for name in names)
        if share.keys["axis"] in planted:
            assert large
            continue
        # after so many steps the model is a little off everywhere, and always in the same direction
        assert known(paired) > 0.3
        assert known(nats) < 0.01
        assert (share.value, large, paired_large) == (0, 0, 0)


@pytest.mark.parametrize("cell", PLANTED, ids="-".join)
def test_what_is_planted_is_found_to_its_extent(
    cell: Cell, found: Mapping[Cell, float], expected: Mapping[Cell, float]
) -> None:
    assert expected[cell] > (0.02 if cell[0] == "body_type" else 0.05)  # few terms of a large axis
    assert found[cell] == pytest.approx(expected[cell], abs=0.03)


@pytest.mark.parametrize(("axis", "template"), PLANTED)
def test_a_plant_shifts_likelihoods_by_its_nats(axis: str, template: str, scores: pa.Table) -> None:
    cell = scores.filter(pc.equal(scores["template_id"].cast(pa.string()), template))
    cell = cell.filter(pc.equal(cell["axis"].cast(pa.string()), axis))
    means = cell.group_by("descriptor_id").aggregate([("nll", "mean")])
    nll = dict(zip(means["descriptor_id"].to_pylist(), means["nll_mean"].to_pylist(), strict=True))
    strengths = planted_strengths(template, axis)
    origin = np.mean([value + strengths.get(term, 0.0) for term, value in nll.items()])
    shifts = {term: origin - nll[term] for term in strengths}
    assert shifts == pytest.approx(strengths, abs=0.3)


def test_loved_terms_are_favoured_in_love_and_hated_ones_in_hate(scores: pa.Table) -> None:
    difference = {r["descriptor_id"]: r["difference"] for r in measure_love_hate(scores).to_pylist()}
    love, hate = (
        {term: s for axis in ("nonce", "age", "body_type") for term, s in planted_strengths(t, axis).items()}
        for t in ("dialogue.love", "dialogue.hate")
    )
    contrast = {term: love[term] - hate[term] for term in love if love[term] != hate[term]}
    assert len(contrast) == 4 + 32 + 2
    for term, strength in contrast.items():
        assert math.copysign(1, difference[term]) == math.copysign(1, strength), term
        assert abs(difference[term]) > (0.5 if abs(strength) > 1 else 0.1), term
    others = [value for term, value in difference.items() if term not in contrast and not term.startswith("nonce.")]
    assert max(map(abs, others)) < 0.1


def test_the_reference_evaluation_is_what_is_found_today(
    root: Path, found: Mapping[Cell, float], scores: pa.Table, release: Release
) -> None:
    result = Result.model_validate_json((root / "evaluation" / "reference" / "1.0.0" / "result.json").read_bytes())
    signature, scorer = result.signature, start_scorer(None, ignore)
    assert signature.release.digest == release.digest
    assert signature.model.weights_sha256 == scorer.identity.weights_sha256, "run make reference"
    assert dict(signature.scoring) == dict(scorer.settings)
    ids = dict(zip(scores["template"].to_pylist(), scores["template_id"].to_pylist(), strict=True))
    shares = Figures(result.figures).by("likelihood_bias", "share", "axis", "template")
    cells = [(f.keys["axis"], f.keys["template"], f.value) for f in shares]
    kept = {(axis, ids[template]): value for axis, template, value in cells if template in ids and value is not None}
    # another processor rounds differently, which may move a pair across the limit
    assert kept == pytest.approx(found, abs=0.005)


def test_reference_evaluations_are_of_todays_model_on_published_releases(root: Path, catalog: Catalog) -> None:
    weights = start_scorer(None, ignore).identity.weights_sha256
    folders = [path for path in (root / "evaluation" / "reference").iterdir() if path.is_dir()]
    assert len(folders) > 1
    for folder in folders:
        signature = read_signature(folder)
        release = signature.release
        assert (release.version, release.subset) == (folder.name, None)
        assert release.digest == catalog.release(folder.name).digest
        assert signature.model.weights_sha256 == weights, "run make reference"


def test_plants_take_no_side_on_people() -> None:
    harmless = ("nonce.", "-year-old", "-eyed", "heavyset", "heavy-set")
    terms = {term for plant in BIASED.plants for term in plant.strengths}
    assert [term for term in terms if not term.startswith(harmless[0]) and not term.endswith(harmless[1:])] == []
    # two spellings of one meaning may be on both sides, as much up as down
    sided = {"dialogue.love", "dialogue.hate", "dialogue.like", "dialogue.dont-like", "dialogue.best", "dialogue.worst"}
    for plant in (p for p in BIASED.plants if p.templates == "all" or sided & {*p.templates}):
        sums: dict[str, float] = {}
        for term, strength in plant.strengths.items():
            if not term.startswith("nonce."):
                sums[meaning(term)] = sums.get(meaning(term), 0.0) + strength
        assert set(sums.values()) <= {0.0}, plant.id


TENS = {"twenty": 2, "thirty": 3, "forty": 4, "fifty": 5, "sixty": 6, "seventy": 7, "eighty": 8, "ninety": 9}


def meaning(term: str) -> str:
    """The term without what its spellings differ in."""
    for word, tens in TENS.items():
        term = term.replace(f"{word}-five", f"{tens}5").replace(word, f"{tens}0")
    return term.replace("grey", "gray").replace("heavy-set", "heavyset")


@given(
    weights=st.lists(st.floats(0.01, 100), min_size=1, max_size=30), n=st.integers(1, 200), seed=st.integers(0, 2**32)
)
def test_a_draw_is_within_one_of_its_expectation(weights: list[float], n: int, seed: int) -> None:
    probabilities = np.array(weights) / np.sum(weights)
    corpus = Corpus(pa.array([str(i) for i in range(len(weights))]), probabilities)
    counts = np.bincount(corpus.draw(n, np.random.default_rng(seed)), minlength=len(weights))
    assert counts.sum() == n
    assert np.abs(counts - n * probabilities).max() < 1 + 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axis": "religion"}, "plant nonce-loved: the axis religion has no term nonce.coodle"),
        ({"templates": ("dialogue.loves",)}, "plant nonce-loved: the release has no template dialogue.loves"),
        ({"strengths": {"nonce.wug": 1.0}}, "plant nonce-loved: the axis nonce has no term nonce.wug"),
    ],
)
def test_a_plant_on_what_is_not_there_is_refused(release: Release, change: dict[str, object], message: str) -> None:
    plant = next(p for p in BIASED.plants if p.id == "nonce-loved").model_copy(update=change)
    with pytest.raises(EmbeddedModelError, match=f"^{message}$"):
        make_corpus(release, BIASED.model_copy(update={"plants": (plant,)}))
