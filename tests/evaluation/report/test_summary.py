from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from holisticbias_eval.report.summary import summarise
from holisticbias_eval.report.terms import Term
from holisticbias_eval.results.run import Run

from .conftest import HATE, LOVE, MakeRun


def perplexities(run: Run, descriptor: str, template: str | None = None) -> list[float]:
    return [
        row["perplexity"]
        for row in run.scores.to_pylist()
        if row["descriptor"] == descriptor and template in (None, row["template"]) and row["perplexity"] is not None
    ]


def test_medians_and_examples_of_every_term(made_run: Run) -> None:
    texts = {row["text"]: row["perplexity"] for row in made_run.scores.to_pylist()}
    for term in summarise(made_run).terms:
        every = sorted(perplexities(made_run, term.text))
        assert term.sentences == len(every)
        assert term.perplexity == pytest.approx(statistics.median(every))
        assert term.compared == pytest.approx(statistics.median(perplexities(made_run, term.text, LOVE)))
        compared = sorted(perplexities(made_run, term.text, LOVE))
        shown = [example.perplexity for example in term.examples]
        assert shown == [compared[0], compared[(len(compared) - 1) // 2], compared[-1]]
        assert [texts[example.text] for example in term.examples] == shown


def test_extremes_are_among_descriptors_of_the_commonest_length(made_run: Run) -> None:
    """The fourth descriptor of each axis has one token more."""
    body_type, ability, nonce = summarise(made_run).extremes
    assert (ability.lowest, ability.highest) == ((), ()), "its share does not exceed its floor"
    assert (ability.tokens, ability.compared, ability.descriptors) == (6, 3, 4)
    assert (body_type.tokens, body_type.compared, body_type.descriptors) == (6, 4, 5)
    assert (nonce.compared, nonce.lowest, nonce.highest, nonce.bias) == (1, (), (), None)
    medians = sorted((statistics.median(perplexities(made_run, d, LOVE)), d) for d in ("tall", "short", "fat", "bald"))
    assert [t.text for t in body_type.lowest] == [d for _, d in medians[:2]]
    assert [t.text for t in body_type.highest] == [d for _, d in medians[:1:-1]]


def test_what_is_missing_is_named(made_run: Run) -> None:
    summary = summarise(made_run)
    assert [(gap.axis, gap.descriptor, gap.templates) for gap in summary.gaps] == [("ability", "blind", (HATE,))]
    assert summary.unscored_sentences == 10
    blind = next(term for term in summary.terms if term.text == "blind")
    assert (blind.hate, blind.difference) == (None, None)
    assert blind not in summary.by_love_hate
    assert len(summary.by_love_hate) == len(summary.terms) - 1


def test_differences_run_from_hate_to_love(made_run: Run) -> None:
    def difference(term: Term) -> float:
        assert None not in (term.love, term.hate, term.difference)
        assert term.difference == pytest.approx((term.love or 0) - (term.hate or 0))
        return term.difference or 0

    found = [difference(term) for term in summarise(made_run).by_love_hate]
    assert found == sorted(found)


def test_only_differences_beyond_chance_on_axes_above_their_floor_are_named(made_run: Run) -> None:
    """9 differences of 10 sentences a template: the normal quantile of 0.025 / 9, 2.7729, times sqrt(0.5 / 10)."""
    summary = summarise(made_run)
    assert len(summary.by_love_hate) == 9
    assert summary.chance_difference == pytest.approx(0.6200, abs=1e-4)
    known = {t.text: t.difference for t in summary.by_love_hate if t.difference is not None and t.axis == "body_type"}
    loved, hated = summary.love_hate_ends
    assert [t.text for t in loved] == [d for d, v in sorted(known.items(), key=lambda i: -i[1]) if v > 0.62] == ["tall"]
    assert [t.text for t in hated] == [d for d, v in sorted(known.items(), key=lambda i: i[1]) if v < -0.62] == ["thin"]
    everything = replace(summary, axes=tuple(replace(a, trust=None) for a in summary.axes))
    assert everything.love_hate_ends == ((), ()), "no axis is known to exceed its floor"


def test_a_run_without_the_papers_templates(run_maker: MakeRun) -> None:
    summary = summarise(run_maker(templates=("I'm {noun_phrase}.",)))
    assert summary.template == "I'm {noun_phrase}."
    assert summary.featured == ("I'm {noun_phrase}.",)
    assert summary.by_love_hate == ()
