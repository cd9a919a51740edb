"""Medians and love-hate differences against loops; how often terms occur in a corpus."""

import itertools
import re
import statistics
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from holisticbias_eval.measures.love_hate import measure_love_hate
from holisticbias_eval.prompts.selection import HATE, LOVE
from holisticbias_eval.statistics.medians import correlate_frequency, count_terms, group_medians
from invoking import Invoke

Row = tuple[str, str, str, float | None, int]


def table(rows: list[Row]) -> pa.Table:
    axis, descriptor, template, perplexity, tokens = zip(*rows, strict=True)
    ids = [f"{a}.{d}" for a, d in zip(axis, descriptor, strict=True)]
    texts = {"axis": axis, "descriptor_id": ids, "descriptor": descriptor, "template": template}
    numbers = {"perplexity": pa.array(perplexity, pa.float64()), "tokens": pa.array(tokens, pa.int32())}
    return pa.table({**texts, **numbers})


def random_rows(seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    cells = itertools.product((("age", "old"), ("age", "young"), ("nonce", "old")), (LOVE, HATE, "other"))
    rows: list[Row] = []
    for (axis, descriptor), template in cells:
        for _ in range(int(rng.integers(1, 8))):
            value = None if rng.random() < 0.2 else float(rng.integers(1, 20))
            rows.append((axis, descriptor, template, value, int(rng.integers(1, 9))))
    return [rows[i] for i in rng.permutation(len(rows))]


@pytest.mark.parametrize("seed", range(5))
def test_love_hate_equals_a_loop(seed: int) -> None:
    rows = [*random_rows(seed), ("nonce", "doff", "other", 1.0, 5)]
    for row in measure_love_hate(table(rows)).to_pylist():
        shares = []
        for template in (LOVE, HATE):
            of_all = [r[3] for r in rows if r[2] == template and r[3] is not None]
            own = [r[3] for r in rows if r[:3] == (row["axis"], row["descriptor"], template) and r[3] is not None]
            shares.append(sum(v < statistics.median(of_all) for v in own) / len(own) if own else None)
        assert [row["love_share"], row["hate_share"]] == shares
        love, hate = shares
        assert row["difference"] == (None if love is None or hate is None else love - hate)


@pytest.mark.parametrize("seed", range(5))
def test_medians_equal_a_loop(seed: int) -> None:
    rows = random_rows(seed)
    found = group_medians(table(rows)).to_pylist()
    cells = {(r[0], r[1], r[2]): [x for x in rows if x[:3] == r[:3]] for r in rows}
    assert [(f["axis"], f["descriptor"], f["template"]) for f in found] == list(cells)
    for row, cell in zip(found, cells.values(), strict=True):
        known = [r[3] for r in cell if r[3] is not None]
        assert row["median"] == (statistics.median(known) if known else None)
        assert row["median_tokens"] == statistics.median(r[4] for r in cell)
        assert (row["sentences"], row["missing"]) == (len(known), len(cell) - len(known))


def test_terms_are_counted_as_whole_words_and_the_longer_first() -> None:
    lines = ["The deaf, the DEAF and the deafening.", "a hard-of-hearing person who is hard", "nothing (deaf-blind)"]
    counts = count_terms(lines, ["deaf", "Deaf", "hard", "hard-of-hearing", "deaf-blind", "Deaf poet"])
    assert counts == {"deaf": 2, "Deaf": 2, "hard": 1, "hard-of-hearing": 1, "deaf-blind": 1, "Deaf poet": 0}


def test_correlation_worked_by_hand() -> None:
    rows = [("a", "w", 1.0), ("a", "x", 2.0), ("a", "y", 3.0), ("a", "z", 9.0), ("a", "w", 3.0), ("few", "w", 1.0)]
    axis, descriptor, perplexity = zip(*rows, strict=True)
    templates = ["s", "s", "s", "s", "t", "s"]
    columns = {"axis": axis, "template": templates, "descriptor": descriptor, "descriptor_id": descriptor}
    scores = pa.table({**columns, "perplexity": perplexity})
    full, few = correlate_frequency("m", scores, {"w": 50, "x": 20, "y": 20})
    # w has the medians 1 and 3, so 2, like x
    expected = spearmanr([50, 20, 20, 0], [2, 2, 3, 9]).statistic
    assert (full.measure, full.name, full.keys, full.n) == ("m", "frequency_correlation", {"axis": "a"}, 4)
    assert full.value == pytest.approx(expected)
    assert full.p_value == pytest.approx(1 / 3)  # 8 of the 24 orders
    assert (few.n, few.value, few.p_value) == (1, None, None)


def test_corpus_through_the_command(tmp_path: Path, invoke: Invoke) -> None:
    scores, corpus = tmp_path / "scores.csv", tmp_path / "corpus.txt"
    lines = [f"a,t,{d},n{n},{i + 2 + n / 10}" for i, d in enumerate(("old", "young", "aged")) for n in range(4)]
    scores.write_text("\n".join(["axis,template,descriptor,noun,perplexity", *lines]) + "\n", "utf-8")
    corpus.write_text("old old old young\n", "utf-8")
    arguments = ("measure", "likelihood_bias", scores, "--no-trust", "--corpus", corpus)
    (axis,) = invoke.figures(*arguments).by("likelihood_bias", "frequency_correlation", "axis")
    assert (axis.keys, axis.n) == ({"axis": "a"}, 3)
    assert axis.value == pytest.approx(-1)
    assert re.search(r"^ *A +-1\.00 +[\d<. ]+ +3 *$", invoke.printed(*arguments), re.MULTILINE)
