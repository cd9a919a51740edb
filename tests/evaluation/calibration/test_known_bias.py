"""Responses of the responder, judged and measured as those of any model: the result is the planted one."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from calibration.classifiers.lexicons import OFFENSIVENESS, REACTIVE, STYLES, TRANSFORMERS
from calibration.responder.repertoire import read_repertoire
from calibration.responder.truth import TrueBias, judged_mixture, planted_mixture, true_biases
from holisticbias.compile.variants import sample_sentences
from holisticbias.release.release import Release
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.judging import judge_table
from holisticbias_eval.readers.labels import StylesReader
from holisticbias_eval.tasks.audit import audit_table, audit_texts
from known import ignore, known

REPERTOIRE = read_repertoire()
PLANTED, EQUAL = "nonce", "cultural"  # an axis with plants, and one without
DRAWS = 8
SOME = ("dialogue.im", "dialogue.how-are-you", "dialogue.friends", "dialogue.love", "dialogue.what-do-you-think")
COLUMNS = ("axis", "descriptor_id", "descriptor", "template_id", "template", "noun", "text")
AXES = [PLANTED, EQUAL]
FAR = 1.7  # half widths of a 95% interval that 0.1% of samples exceed: some twenty figures are tried


@pytest.fixture(scope="module")
def prompts(release: Release) -> pa.Table:
    """Some sentences of each cell, in their stylistic variants: all templates with plants, some without."""
    sentences = release.sentences.filter(pc.is_in(release.sentences["axis"].cast(pa.string()), pa.array(AXES)))
    drawn = sample_sentences(sentences, sentences.num_rows, 11, stylistic_variants=True).to_pylist()
    rows, cells = [], Counter[tuple[str, str]]()
    for row in drawn:
        cell = row["descriptor_id"], row["template_id"]
        if (row["axis"] == PLANTED or row["template_id"] in SOME) and cells[cell] < DRAWS:
            cells[cell] += 1
            rows.append({name: row[name] for name in COLUMNS})
    return pa.Table.from_pylist(rows).rename_columns([*COLUMNS[:-1], "prompt"])


@pytest.fixture(scope="module")
def responses(prompts: pa.Table) -> pa.Table:
    generator = start_generator(RESPONDER, ignore, DECODINGS.read("unrestricted"), seed=1)
    texts = prompts["prompt"].to_pylist()
    made = respond_all(
        PromptRequests(texts, [""] * len(texts), np.arange(len(texts), dtype=np.int32)), generator, ignore
    )
    return prompts.append_column("response", pa.array(made.text)).append_column("finish", pa.array(made.finish))


def judged(responses: pa.Table, classifier: str) -> pa.Table:
    judge = start_classifier(classifier, ignore, "cpu")
    return judge_table(responses, judge, ignore, censored=True).table


def measured(answers: pa.Table, name: str = "generation_bias") -> Figures:
    settings = MeasureSettings(clusters=dict(REPERTOIRE.clusters)) if name == "generation_bias" else None
    return Figures(MEASURES[name].figures(answers, settings).figures)


@pytest.fixture(scope="module")
def figures(responses: pa.Table) -> Figures:
    return measured(judged(responses, STYLES))


@pytest.fixture(scope="module")
def truth(release: Release) -> Mapping[str | None, TrueBias]:
    terms, templates = release.tables["descriptors"], release.tables["templates"]["template_id"].to_pylist()
    pairs = list(zip(terms["axis"].to_pylist(), terms["descriptor_id"].to_pylist(), strict=True))
    return true_biases(REPERTOIRE, pairs, templates)


def get(figures: Figures, name: str, measure: str = "generation_bias", **keys: str) -> Figure:
    return known(figures.get(measure, name, keys))


def deviation(figure: Figure, expected: float) -> float:
    """The distance of a figure from its expectation, in half widths of its interval."""
    interval = known(figure.interval)
    return abs(known(figure.value) - expected) / ((interval.high - interval.low) / 2)


def test_the_measured_bias_is_the_planted_one(figures: Figures, truth: Mapping[str | None, TrueBias]) -> None:
    assert truth[PLANTED].full > 20
    assert truth[EQUAL].full == pytest.approx(0)
    for axis in AXES:
        assert deviation(get(figures, "full_gen_bias_corrected", axis=axis), truth[axis].full) < FAR
        for cluster in REPERTOIRE.clusters:
            partial = get(figures, "partial_gen_bias_corrected", axis=axis, cluster=cluster)
            summed = get(figures, "summed_cluster_gen_bias_corrected", axis=axis, cluster=cluster)
            assert deviation(partial, truth[axis].partial[cluster]) < FAR, (axis, cluster)
            assert deviation(summed, truth[axis].summed[cluster]) < FAR, (axis, cluster)


def test_only_the_planted_axis_differs(figures: Figures) -> None:
    raw = get(figures, "full_gen_bias", axis=EQUAL)
    assert known(raw.value) > 50  # without the correction, noise looks like bias
    assert known(raw.p_value) > 0.05
    assert known(get(figures, "full_gen_bias", axis=PLANTED).p_value) < 1e-6


def test_the_trained_classifier_gives_the_same_figures(responses: pa.Table, figures: Figures) -> None:
    found = measured(judged(responses, TRANSFORMERS))
    for name in ("full_gen_bias", "full_gen_bias_corrected"):
        assert get(found, name, axis=PLANTED).value == pytest.approx(get(figures, name, axis=PLANTED).value, rel=0.01)


def test_offensiveness_is_that_of_the_style_that_stands_for_it(responses: pa.Table) -> None:
    found = measured(judged(responses, OFFENSIVENESS), "offensiveness")
    templates = sorted({*responses["template_id"].to_pylist()})
    terms = [term for term in responses["descriptor_id"].unique().to_pylist() if term.startswith("nonce.")]
    mixture = judged_mixture(REPERTOIRE, planted_mixture(REPERTOIRE, terms, templates))
    grumpy = mixture[..., REPERTOIRE.labels.index("grumpy")]
    for term, expected in zip(terms, grumpy.mean(axis=0), strict=True):
        figure = get(found, "share_offensive", "offensiveness", axis=PLANTED, descriptor=term)
        assert figure.value == pytest.approx(expected, abs=0.075), term


def test_the_audit_finds_a_planted_reaction_and_censoring_removes_it(release: Release) -> None:
    terms = release.tables["descriptors"]
    chosen = terms["descriptor_id"].filter(pc.equal(terms["axis"], PLANTED)).to_pylist()
    judge = start_classifier(REACTIVE, ignore, "cpu")
    audit = audit_table(audit_texts(release, chosen, SOME, nouns=2), StylesReader(judge=judge))
    settings = MeasureSettings(clusters=dict(REPERTOIRE.clusters))
    found = Figures(MEASURES["generation_bias"].audit_figures(audit, settings))
    # one of eight terms is all grumpy instead of plain: a variance of 7/64 in each of two styles
    assert get(found, "audit_full_gen_bias_uncensored", axis=PLANTED).value == pytest.approx(2 * 7 / 64 * 1000)
    assert get(found, "audit_full_gen_bias", axis=PLANTED).value == pytest.approx(0, abs=1e-9)
