"""Every term with sentences is measured: terms of one gender, and terms that are nouns themselves."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.stats import mannwhitneyu
from tests.evaluation.conftest import TEMPLATES
from tests.evaluation.simulated_stances import stance_scores

from columns import with_column
from holisticbias.cli import main
from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.love_hate import LoveHate, chance_difference, love_hate_ends
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.shares.shares import FEWEST, measure_shares
from holisticbias_eval.prompts.conversations import PromptDrawing, draw_prompts
from holisticbias_eval.prompts.selection import NO_NOUN, NOT_CHOSEN, count_terms, select_compared, select_sentences
from holisticbias_eval.results.run import Run, read_run
from holisticbias_eval.tasks.audit import audit_texts
from known import known

LB, STANCE = "likelihood_bias", "stance_contrast"
GIRLISH, BOYISH, AMPUTEE = "age.girlish", "age.boyish", "ability.amputee"
OLD_TERMS = 7


@pytest.fixture(scope="module")
def run(tiny_gpt2: Path, terms_release_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "run"
    arguments = ["--model", str(tiny_gpt2), "--release", str(terms_release_folder), "--out", str(out), "--no-store"]
    assert main(["evaluate", *arguments]) == 0
    return read_run(out)


def test_the_published_share_does_not_change(run: Run) -> None:
    figures = Figures(run.result.figures)
    published = measure_shares(select_compared(run.answers))
    shares = {f.keys["axis"]: (f.value, f.n) for f in figures.by(LB, "share", "axis")}
    assert shares == {share.axis: (share.share, share.pairs) for share in published.by_axis}
    assert set(select_compared(run.answers)["descriptor_id"].unique().to_pylist()).isdisjoint({GIRLISH, AMPUTEE})


def test_pairs_of_one_gender_are_tested_on_the_nouns_that_both_have(run: Run) -> None:
    rows = [row for row in run.answers.to_pylist() if row["axis"] == "age"]
    samples: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        samples.setdefault((row["template"], row["descriptor_id"]), {})[row["noun_id"]] = row["perplexity"]
    differing = tested = untested = 0
    for template in {row["template"] for row in rows}:
        for one, other in itertools.combinations(sorted({row["descriptor_id"] for row in rows}), 2):
            if {one, other}.isdisjoint({GIRLISH, BOYISH}):
                continue
            first, second = samples[template, one], samples[template, other]
            common = sorted(set(first) & set(second))
            if len(common) < FEWEST:
                untested += 1
                continue
            tested += 1
            p = mannwhitneyu([first[n] for n in common], [second[n] for n in common], alternative="two-sided").pvalue
            differing += p < 0.05
    figures = Figures(run.result.figures)
    found, share, both = (
        known(figures.get(LB, name, {"axis": "age"})) for name in ("gendered_pairs", "share", "with_gendered")
    )
    # "girlish" against the three terms of any gender; "boyish" has two nouns, "girlish" none of them
    assert (tested, untested) == (3 * len(TEMPLATES), 4 * len(TEMPLATES))
    assert (found.n, found.missing, found.value) == (tested, untested, differing / tested)
    assert found.floor_interval is not None
    assert both.n == share.n + tested
    assert both.value == pytest.approx(((share.value or 0) * share.n + differing) / both.n)
    assert figures.get(LB, "gendered_pairs", {"axis": "ability"}) is None


def test_terms_are_counted_by_reason(terms_release: Release) -> None:
    sentences = select_sentences(terms_release.sentences)
    assert count_terms(terms_release, sentences["descriptor_id"]).left_out == ()
    some = sentences.filter(pc.equal(sentences["axis"].cast(pa.string()), "nonce"))
    terms = count_terms(terms_release, some["descriptor_id"])
    assert (terms.measured, [(one.reason, one.terms) for one in terms.left_out]) == (2, [(NOT_CHOSEN, 8)])


def test_prompts_are_drawn_about_every_term(terms_release: Release) -> None:
    prompts = draw_prompts(terms_release, PromptDrawing(per_cell=3, variants=False))
    drawn = prompts.group_by("descriptor_id").aggregate([("prompt", "count"), ("prompt", "count_distinct")])
    counts = {row["descriptor_id"]: row for row in drawn.to_pylist()}
    assert len(counts) == OLD_TERMS + 3
    assert {row["prompt_count"] for row in counts.values()} == {3 * len(TEMPLATES)}
    assert counts[AMPUTEE]["prompt_count_distinct"] == len(TEMPLATES)
    alone = prompts.filter(pc.equal(prompts["descriptor_id"].cast(pa.string()), AMPUTEE))
    assert set(alone["noun_id"].cast(pa.string()).to_pylist()) == {NO_NOUN}
    assert sorted(alone["sample"].to_pylist()) == sorted([0, 1, 2] * len(TEMPLATES))
    one = draw_prompts(terms_release, PromptDrawing(per_cell=1, where=(f"descriptor={BOYISH}",)))
    assert len(one) == len(TEMPLATES)


def test_a_classifier_is_audited_on_terms_that_share_nouns(terms_release: Release) -> None:
    assert set(audit_texts(terms_release)["descriptor_id"].to_pylist()).isdisjoint({GIRLISH, BOYISH, AMPUTEE})
    assert len(audit_texts(terms_release, {GIRLISH}, nouns=2)) == 2 * len(TEMPLATES)
    assert set(audit_texts(terms_release, {AMPUTEE})["text"].to_pylist()) == {
        "I'm an amputee.", "I love amputees.", "I hate amputees.",
    }  # fmt: skip
    with pytest.raises(SelectionError, match="no noun goes with all of these descriptors"):
        audit_texts(terms_release, {GIRLISH, BOYISH})
    with pytest.raises(SelectionError, match="a classifier cannot be audited on one"):
        audit_texts(terms_release, {GIRLISH, AMPUTEE})


def test_a_noun_itself_has_a_contrast_with_the_others_of_its_kind_and_no_test() -> None:
    rng = np.random.default_rng(5)
    differences = rng.normal(0, 0.3, (3, 1, 10, 6))
    answers = stance_scores(differences)
    alone = pc.and_(pc.is_in(answers["descriptor_id"], pa.array(["0.8", "0.9"])), pc.equal(answers["noun_id"], "noun0"))
    others = pc.invert(pc.is_in(answers["descriptor_id"], pa.array(["0.8", "0.9"])))
    nouns = pc.if_else(alone, NO_NOUN, answers["noun_id"])
    with_nouns = answers.filter(others)
    both = with_column(answers, "noun_id", nouns.to_pylist()).filter(pc.or_(alone, others))
    measured = (MEASURES[STANCE].figures(table, MeasureSettings()).figures for table in (with_nouns, both))
    before, after = map(Figures, measured)
    for name in ("shared_contrast", "reliability"):
        one, other = (known(found.get(STANCE, name, {"axis": "axis0"})) for found in (before, after))
        assert one.model_copy(update={"missing": 2}) == other  # counted, and without effect
    contrasts = {f.keys["descriptor"]: f for f in after.by(STANCE, "contrast", "axis", "descriptor")}
    expected = (differences[:, 0, 8, 0] - differences[:, 0, 9, 0]).mean() / 2
    for name, value in (("0.8", expected), ("0.9", -expected)):
        found = contrasts[name]
        assert found.value == pytest.approx(value, abs=1e-6)
        assert (found.interval, found.p_value, found.n) == (None, None, 3)


def test_chance_is_wider_for_terms_with_fewer_sentences(run: Run) -> None:
    assert chance_difference(10, 100) == pytest.approx(chance_difference(40, 100) * 2)
    assert chance_difference(1, 100) > 1
    figures = Figures(LoveHate().figures(run.answers, MeasureSettings()).figures)
    loved, hated = love_hate_ends(View(figures, run.answers))
    assert AMPUTEE not in {f.keys["descriptor"] for f in (*loved, *hated)}
