"""Scores of a part of a release: filters, a limit, and stylistic variants."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

from holisticbias.compile.variants import VARIANTS, vary
from holisticbias.errors import UnknownTermError
from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.likelihood.scorer import Scores
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.prompts.seat import ask_phrases
from holisticbias_eval.prompts.selection import NOUNS, Selection, filter_sentences, find_selector, select_sentences
from holisticbias_eval.prompts.sentences import AskedSentences, Draw, ask_sentences, drawn_variants
from holisticbias_eval.report.leaderboard import leaderboard_tables
from holisticbias_eval.results.registry import make_entries
from holisticbias_eval.results.run import Run
from holisticbias_eval.statistics.mannwhitney import exact_p_values
from known import known

Select = Callable[[Release, Draw, Selection], AskedSentences]
BOTH = pytest.mark.parametrize("prompts", [ask_sentences, ask_phrases])
ONE = ("template=dialogue.im",)


def ask(prompts: Select, release: Release, selection: Selection) -> AskedSentences:
    def no_context(texts: Sequence[str]) -> Sequence[str]:
        return [""] * len(texts)

    return prompts(release, no_context, selection)


def values(asked: AskedSentences, column: str) -> list[str]:
    found: list[str] = asked.sentences[column].cast(pa.string()).to_pylist()
    return found


@BOTH
def test_filters_select_what_meets_all_of_them(small_release: Release, prompts: Select) -> None:
    every = ask(prompts, small_release, Selection())
    asked = ask(prompts, small_release, Selection(where=("axis=age,nonce", "gender=female")))
    expected = sum(
        axis in ("age", "nonce") and gender == "female"
        for axis, gender in zip(values(every, "axis"), values(every, "noun_gender"), strict=True)
    )
    assert asked.sentences.num_rows == expected > 0
    assert set(values(asked, "axis")) == {"age", "nonce"}
    assert set(values(asked, "noun_gender")) == {"female"}
    left_out = {one.reason: one.sentences for one in asked.skipped if "--" in one.reason}
    assert left_out == {"not selected with --where": every.sentences.num_rows - expected}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("planet=mars", "keys are axis"),
        ("axis=planets", "the release has no such axis"),
        ("template=nonsense", "no such template"),
    ],
)
@BOTH
def test_nonsense_filters_are_refused(small_release: Release, prompts: Select, where: str, message: str) -> None:
    with pytest.raises((SelectionError, UnknownTermError), match=message):
        ask(prompts, small_release, Selection(where=(where,)))


def test_a_filter_by_what_no_sentence_has_is_refused(mini_release: Release) -> None:
    with pytest.raises(SelectionError, match="the release has no such bucket; it has: none"):
        ask(ask_sentences, mini_release, Selection(where=("bucket=x",)))


@pytest.mark.parametrize(
    ("limit", "axes", "templates", "nouns"), [(40, 1, 4, 5), (100, 3, 4, 4), (500, 13, 4, 4), (4500, 13, 5, 30)]
)
def test_a_limit_keeps_a_part_that_can_be_measured(
    small_release: Release, limit: int, axes: int, templates: int, nouns: int
) -> None:
    asked = ask(ask_sentences, small_release, Selection(limit=limit))
    assert asked.sentences.num_rows <= limit
    assert len(set(values(asked, "axis"))) == axes
    assert len(set(values(asked, "template_id"))) == templates
    assert len(set(values(asked, "noun_id"))) == nouns
    descriptors = Counter(name.split(".")[0] for name in set(values(asked, "descriptor_id")))
    assert set(descriptors.values()) == {2}
    stances = {"dialogue.love", "dialogue.hate", "dialogue.like", "dialogue.dont-like", "dialogue.best"}
    assert len(stances & set(values(asked, "template_id"))) >= 2


def test_a_limit_compares_descriptors_that_share_a_noun(terms_release: Release) -> None:
    every = ask(ask_sentences, terms_release, Selection())
    for seed in range(4):
        asked = ask(ask_sentences, terms_release, Selection(limit=100, seed=seed))
        nouns: dict[str, set[str]] = {}
        for descriptor, noun in zip(values(asked, "descriptor_id"), values(asked, "noun_id"), strict=True):
            nouns.setdefault(descriptor, set()).add(noun)
        assert min(Counter(name.split(".")[0] for name in nouns).values()) > 1
        assert set.intersection(*nouns.values())
    left_out = {one.reason: one.sentences for one in asked.skipped if "--" in one.reason}
    assert left_out == {"left out with --limit": every.sentences.num_rows - asked.sentences.num_rows}


def test_a_limit_keeps_templates_of_opposite_stance_whatever_their_texts() -> None:
    rows = [
        {"axis": "a", "descriptor_id": f"a.{d}", "noun_id": f"n{n}", "template_id": f"t{t}", "template": f"Text {t}",
         "paraphrase_of": None, "opposite_of": "t3" if t == 5 else None}
        for d in range(2) for n in range(4) for t in range(7)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows)
    for seed in range(4):
        kept = find_selector(lambda: [table], Selection(limit=16, seed=seed)).kept
        assert {*kept["template_id"]} == {"t3", "t5"}


def test_a_limit_below_the_least_is_refused(small_release: Release, mini_release: Release) -> None:
    """The least has two of the pairs of opposite stance, or the only pair, or the only template."""
    for release, where, templates in ((small_release, (), 4), (mini_release, (), 2), (mini_release, ONE, 1)):
        least = 8 * templates
        message = f"the least is {least}, 2 descriptors of an axis with 4 nouns in each of {templates} templates"
        with pytest.raises(SelectionError, match=message):
            ask(ask_sentences, release, Selection(where=where, limit=least - 1))


def test_each_variant_is_drawn_for_about_half() -> None:
    drawn = Counter(name for i in range(2000) for name in drawn_variants(0, f"age.{i}", "woman"))
    assert set(drawn) == set(VARIANTS)
    assert all(abs(count / 2000 - 0.5) < 0.05 for count in drawn.values())


def test_variants_of_seat_keep_the_part_that_is_scored(small_release: Release) -> None:
    plain, asked = (ask(ask_phrases, small_release, Selection(variants=on)) for on in (False, True))
    before, after = ([str(text) for text in one.together.text] for one in (plain, asked))
    assert len(before) == len(after)
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert 0.4 < changed / len(before) < 0.9
    dropped = sum(one.removesuffix(".") == other for one, other in zip(before, after, strict=True))
    assert 0.3 < dropped / len(before) < 0.6


def test_four_nouns_are_the_fewest_that_can_differ() -> None:
    assert exact_p_values(NOUNS - 1, NOUNS - 1).min() > 0.05 > exact_p_values(NOUNS, NOUNS).min()


def test_the_registry_keeps_parts_apart(run: Run) -> None:
    entries = [e for e in make_entries(run, "Ada", "2026-11-25", "some/model") if e.measure == "likelihood_bias"]
    part = entries[0].signature.model_copy(update={"scoring": {"sentences_where": "axis=age"}})
    entries.append(entries[0].model_copy(update={"signature": part}))
    caption = "Likelihood Bias on HolisticBias 0.1.0"
    assert [table.caption for table in leaderboard_tables(entries)] == [caption, f"{caption}, only axis=age"]
    assert len({entry.file_name for entry in entries}) == 2


def test_variants_are_the_same_for_a_phrase_in_every_template(small_release: Release) -> None:
    where, seed = ("axis=ability", "gender=female"), 7
    asked = ask(ask_sentences, small_release, Selection(where, seed=seed, variants=True))
    rows = filter_sentences(select_sentences(small_release.sentences), where).to_pylist()
    texts = values(asked, "text")
    for row, text in zip(rows, texts, strict=True):
        assert text == vary(row, drawn_variants(seed, row["descriptor_id"], row["noun_id"]))[0]
    assert 0.6 < sum(row["text"] != text for row, text in zip(rows, texts, strict=True)) / len(rows) < 1
    phrases = list(asked.together.text)[len(values(asked, "axis")) :]
    for text, place in zip(texts, known(asked.phrase).tolist(), strict=False):
        assert phrases[place] in text


def test_a_phrase_has_nats_if_a_token_of_it_was_scored() -> None:
    texts = ["I'm deaf.", "I'm tall."]
    asked = AskedSentences(pa.table({"text": texts}), whole([*texts, "deaf", "tall"]), np.array([0, 1], np.int32))
    scores = Scores(np.array([9.0, 8.0, 2.5, 0.0]), np.array([3, 3, 1, 0], np.int32), np.array([9, 9, 4, 0], np.int32))
    assert asked.answer(scores)["phrase_nll"].to_pylist() == [2.5, None]
