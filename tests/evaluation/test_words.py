"""Words, phrases, common runs and variety of texts, compared with slow and obvious computations."""

import itertools
import math
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.statistics.responses.cells import cell_means, permuted_p_values
from holisticbias_eval.statistics.tests import benjamini_hochberg, log_odds, share_p_values, stratified_p_values
from holisticbias_eval.statistics.words import (
    WordArrays,
    expected_distinct,
    frequent_ngrams,
    has_phrase,
    longest_common_runs,
    phrase_pattern,
    split_words,
    starts_with,
)
from known import known


def column(*texts: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(list(texts), pa.string())])


def spelled(words: WordArrays) -> list[list[str]]:
    texts = words.vocabulary.to_pylist()
    return [[texts[c] for c in words.codes[a:b]] for a, b in itertools.pairwise(words.starts)]


def random_texts(seed: int, texts: int = 60, longest: int = 12, letters: str = "abcd") -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(texts)]


@pytest.mark.parametrize("phrase", ["a", "a b", "d a b", "c c c"])
def test_phrases_agree_with_a_search_in_text(phrase: str) -> None:
    texts = random_texts(1, 300)
    words = split_words(column(*texts))[0]
    assert has_phrase(words, phrase).tolist() == [f" {phrase} " in f" {text} " for text in texts]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab '\u2019_.é", max_size=12), max_size=8), st.sampled_from(["a", "a b", "b'a", "a'b b"]))
@example(["a'b", "'a b'", "_a b_", "a é b", "a''b", "a 'b"], "a b")
def test_the_place_of_a_phrase_is_found_in_the_texts_that_have_it(texts: list[str], phrase: str) -> None:
    pattern = phrase_pattern(phrase)
    assert has_phrase(split_words(column(*texts))[0], phrase).tolist() == [bool(pattern.search(t)) for t in texts]


def test_beginnings_and_common_runs_agree_with_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holisticbias_eval.statistics.words._CELLS_AT_ONCE", 40)
    one, other = random_texts(2, 200, 6, "abc"), random_texts(3, 200, 15, "abc")
    first, second = split_words(column(*one), column(*other))
    assert longest_common_runs(first, second).tolist() == [
        max(
            (n for n in range(1, 7) for i in range(7) if len(s := a.split()[i : i + n]) == n
             and f" {' '.join(s)} " in f" {b} "), default=0,
        )
        for a, b in zip(one, other, strict=True)
    ]  # fmt: skip
    assert starts_with(second, first).tolist() == [
        bool(a) and f"{b} ".startswith(f"{a} ") for a, b in zip(one, other, strict=True)
    ]


def test_frequent_runs_agree_with_a_slow_count() -> None:
    texts = random_texts(4, 80, 9)
    grams = frequent_ngrams(split_words(column(*texts))[0], 3, 12)
    having = {
        " ".join(w[i : i + n]): {r for r, t in enumerate(texts) if f" {' '.join(w[i : i + n])} " in f" {t} "}
        for w in map(str.split, texts) for n in (1, 2, 3) for i in range(len(w) - n + 1)
    }  # fmt: skip
    expected = {text: rows for text, rows in having.items() if len(rows) >= 12}
    found: dict[str, set[int]] = {grams.text(g): set() for g in range(len(grams))}
    for row, gram in zip(grams.row.tolist(), grams.gram.tolist(), strict=True):
        assert row not in found[grams.text(gram)]
        found[grams.text(gram)].add(row)
    assert found == expected
    assert any(" " in text for text in found)


def test_no_text_has_a_frequent_run() -> None:
    assert len(frequent_ngrams(split_words(column("a", "", "b"))[0], 4, 2)) == 0
    assert len(frequent_ngrams(split_words(column())[0], 4, 2)) == 0


def test_log_odds_by_hand() -> None:
    # 8 of 20 texts of the group and 12 of 80 others; a prior of 10 texts adds 2 of 10 to both sides
    ratio, error = log_odds(np.array([8]), np.array([20]), np.array([20]), 100, 10.0)
    assert ratio == pytest.approx(math.log(10 / 20) - math.log(14 / 76))
    assert error == pytest.approx(math.sqrt(1 / 10 + 1 / 14))


def test_p_values_of_shares_are_those_of_a_binomial_distribution() -> None:
    count, total = np.array([0, 1, 3, 6]), np.array([5, 5, 6, 6])
    expected = [stats.binom.sf(c - 1, t, 0.1) for c, t in zip(count, total, strict=True)]
    assert share_p_values(count, total, np.full(4, 0.1)) == pytest.approx(expected)


def test_expected_distinct_is_the_mean_over_all_samples() -> None:
    items = {0: [0, 0, 0, 1, 2], 1: [7, 7, 8], 2: [5, 6]}
    group = np.array([g for g, own in items.items() for _ in own])
    found = expected_distinct(group, np.array([i for own in items.values() for i in own]), 4, 3)
    samples = [[len(set(sample)) for sample in itertools.combinations(items[group], 3)] for group in (0, 1)]
    assert found[:2] == pytest.approx([np.mean(sizes) for sizes in samples])
    assert np.isnan(found[2:]).all(), "fewer items than the sample, or none"


def test_shares_are_tested_within_their_strata() -> None:
    # all of stratum 1 have it, none of stratum 0: the group that is in stratum 1 alone is as expected
    stratum = np.repeat([0, 1], 50)
    group = np.concatenate([np.zeros(50, np.int64), np.zeros(30, np.int64), np.ones(20, np.int64)])
    assert stratified_p_values(stratum, group, stratum, 3)[:2] == pytest.approx([1, 1])
    assert np.isnan(stratified_p_values(stratum, group, stratum, 3)[2])
    values = np.zeros(100, np.int64)
    values[80:90] = 1
    found = stratified_p_values(values, group, np.zeros(100, np.int64), 2)
    assert found == pytest.approx([2 * stats.binom.cdf(0, 80, 0.1), 2 * stats.binom.sf(9, 20, 0.1)])


def test_permuted_p_values_have_the_mean_and_variance_of_all_permutations() -> None:
    values, group, stratum = np.array([5.0, 2, 3, 1, 6, 4]), np.array([0, 1, 1, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
    sums = [
        sum(p[i] for p, g in ((a, group[:3]), (b, group[3:])) for i in range(3) if g[i] == 0)
        for a in itertools.permutations(values[:3]) for b in itertools.permutations(values[3:])
    ]  # fmt: skip
    z = (values[group == 0].sum() - np.mean(sums)) / np.std(sums)
    for same_ranks in (values, np.exp(values**2)):
        assert permuted_p_values(same_ranks, group, stratum, 2)[0] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert np.isnan(permuted_p_values(np.ones(6), group, stratum, 2)).all()


def test_permuted_p_values_are_not_below_what_the_permutations_can_give() -> None:
    """Of 20 choices of 3 of 6 rows, or of 6 * 6 choices of 2 of 4 in two strata, 2 are as far out as these."""
    six, eight = np.arange(6.0), np.array([0.0, 1, 2, 3] * 2)
    assert permuted_p_values(six, np.repeat([0, 1], 3), np.zeros(6, np.int64), 2) == pytest.approx([0.1, 0.1])
    group, stratum = np.array([0, 0, 1, 1] * 2), np.repeat([0, 1], 4)
    assert permuted_p_values(eight, group, stratum, 2) == pytest.approx([2 / 36, 2 / 36])


def slow_words(text: str) -> list[str]:
    """Runs of letters, marks, digits and apostrophes, without apostrophes at their edges."""
    for apostrophe in "\u2019\u2018\u02bc`\u00b4":
        text = text.replace(apostrophe, "'")
    text = unicodedata.normalize("NFKC", text).lower()
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c == "'" else " " for c in text)
    return [word for word in (part.strip("'") for part in kept.split(" ")) if word]


OLD = st.characters(max_codepoint=0x1FFF)  # tables of later characters differ between versions of Unicode


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.text(OLD, max_size=20), st.text(" '\u2019a\u0301bI.-", max_size=20)), max_size=8))
@example(["\u0301a", "' a '", "ǅ ﬁ ²", "\U0001d54f\u00bd", "日本 語"])
def test_words_agree_with_a_slow_split(texts: list[str]) -> None:
    texts = [text for text in texts if text.encode("utf-8", "ignore").decode() == text]
    assert spelled(split_words(column(*texts))[0]) == [slow_words(text) for text in texts]


def test_corrected_p_values_of_some_tests_of_many() -> None:
    p = np.array([0.001, 0.5, 0.01, 0.9, 0.9])
    assert benjamini_hochberg(p[[0, 2]], 5) == pytest.approx(benjamini_hochberg(p)[[0, 2]])


@pytest.mark.parametrize("by_rows", [False, True])
def test_means_of_cells_have_intervals_over_other_responses_in_the_cells(by_rows: bool) -> None:
    rng = np.random.default_rng(0)
    cell = rng.permutation(np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 1, 1]))
    values, template, group = rng.gamma(2, 5, len(cell)), cell % 2, np.array([0, 0, 0, 0, 1, 1, 2, 3])
    found = cell_means(values, cell, template)
    weight = found.count if by_rows else np.ones(8)
    of_cell = [values[cell == c] for c in range(8)]
    pooled = [
        sum(((v - v.mean()) ** 2).sum() for v in of_cell[t::2]) / sum(len(v) - 1 for v in of_cell[t::2]) for t in (0, 1)
    ]
    for g, (mean, (low, high), n) in enumerate(found.over(group, 4, weight if by_rows else None)):
        own = np.flatnonzero(group == g)
        variances = [(of_cell[c].var(ddof=1) if found.count[c] > 1 else pooled[c % 2]) / found.count[c] for c in own]
        parts = np.array(variances) * weight[own] ** 2
        freedom = parts.sum() ** 2 / sum(p**2 / max(found.count[c] - 1, 1) for p, c in zip(parts, own, strict=True))
        half = stats.t.ppf(0.975, freedom) * math.sqrt(parts.sum()) / weight[own].sum()
        expected = sum(weight[c] * of_cell[c].mean() for c in own) / weight[own].sum()
        assert mean == pytest.approx(expected)
        assert n == len(own)
        assert np.isnan([low, high]).all() if g > 1 else (low, high) == pytest.approx((mean - half, mean + half))


def test_means_of_few_probabilities_have_intervals_at_the_dispersion_of_their_template() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        count, group = rng.integers(2, 6, 8), np.array([0, 1, 2, 2, 2, 3, 3, 3])
        cell = np.repeat(np.arange(8), count)
        values = np.where(rng.random(len(cell)) < 0.3, 0.9, 0.02) + rng.uniform(0, 0.05, len(cell))
        template, of_cell = cell % 2, [values[cell == c] for c in range(8)]
        largest = [v.mean() * (1 - v.mean()) + v.var(ddof=1) / len(v) for v in of_cell]
        variances, freedom = [v.var(ddof=1) for v in of_cell], count - 1.0
        ends = cell_means(values, cell, template).over(group, 4)
        for g, (mean, (low, high), _) in enumerate(
            cell_means(values, cell, template, probabilities=True).over(group, 4)
        ):
            own = np.flatnonzero(group == g).tolist()
            variance = 0.0
            for c in own:
                alike = range(c % 2, 8, 2)
                dispersion = sum(freedom[i] * variances[i] for i in alike) / sum(freedom[i] * largest[i] for i in alike)
                variance += dispersion * largest[c] / count[c] / len(own) ** 2
            # the shares p with (mean - p)^2 = z^2 p (1 - p) / rows
            z = stats.norm.ppf(0.975) ** 2 / (mean * (1 - mean) / variance)
            score = sorted(np.roots([1 + z, -2 * mean - z, mean**2]))
            assert low == pytest.approx(min(ends[g][1][0], score[0]))
            assert high == pytest.approx(max(ends[g][1][1], score[1]))


def test_few_probabilities_of_which_few_are_large_have_no_narrow_interval() -> None:
    """Ten cells of five probabilities with a mean of 0.11; Student's t alone covers it in two fifths of the cells."""
    rng, covers, cell = np.random.default_rng(0), 0, np.repeat(np.arange(10), 5)
    for _ in range(100):
        values = np.where(rng.random(50) < 0.1, 0.9, 0.02) + rng.uniform(0, 0.01, 50)
        found = cell_means(values, cell, np.zeros(50, np.int64), probabilities=True)
        covers += sum(low <= 0.113 <= high for _, (low, high), _ in found.over(np.arange(10), 10))
    assert covers > 930


@pytest.mark.parametrize(("count", "rows"), [(0, 5), (5, 5), (3, 17), (120, 400)])
def test_wilson_agrees_with_scipy(count: int, rows: int) -> None:
    found, expected = wilson(count / rows, rows), stats.binomtest(count, rows).proportion_ci(method="wilson")
    assert (known(found).low, known(found).high) == pytest.approx((expected.low, expected.high))
    assert wilson(0.0, 0) is None
