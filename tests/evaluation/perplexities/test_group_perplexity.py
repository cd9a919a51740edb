"""``measure group_perplexity``: figures by hand, pairing, missing values, warnings, and whole sentences."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import f_oneway, ttest_ind, ttest_rel

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.sections.tables import Paragraph
from invoking import Invoke
from known import known
from row_files import write_table

Row = dict[str, Any]
NAME = "group_perplexity"
HAND = {"blicket": (1.0, 2.0, 3.0), "stad": (2.0, 4.0, 6.0)}
RAW, LOG = {"dimension": "one", "scale": "perplexity"}, {"dimension": "one", "scale": "log"}
BOTH = {"first": "blicket", "second": "stad"}


def rows_of(groups: dict[str, Any], dimension: str = "one") -> list[Row]:
    return [
        {"dimension": dimension, "group": group, "sentence": f"s{i}", "perplexity": value}
        for group, values in groups.items()
        for i, value in enumerate(values)
    ]


def random_groups() -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    shared = rng.lognormal(4, 0.6, 30)
    effects = {"blicket": 1.0, "stad": 1.3, "mell": 1.0, "fitch": 0.9}
    return {g: (shared * e * rng.lognormal(0, 0.15, 30)).tolist() for g, e in effects.items()}


Found = tuple[Figures, Sequence[str]]


def measured(rows: list[Row], settings: MeasureSettings | None = None) -> Found:
    """The figures and the notes; without settings nothing is resampled."""
    found = MEASURES[NAME].figures(pa.Table.from_pylist(rows), settings)
    return Figures(found.figures), found.notes


@pytest.fixture
def measure(invoke: Invoke) -> Callable[[Path], Found]:
    """Measure a file without resampling; return the figures and the notes."""

    def run(path: Path) -> Found:
        found = json.loads(invoke.printed("measure", NAME, path, "--format", "json", "--no-trust"))
        return Figures(Figure.model_validate(figure) for figure in found["figures"]), found["notes"]

    return run


Measure = Callable[[Path], Found]


def value(figures: Figures, name: str, keys: dict[str, str]) -> float:
    return known(figures.value(NAME, name, keys))


def test_figures_by_hand() -> None:
    """Means 2 and 4, grand mean 3: 6 between, 2 + 8 within; rows 9 around the grand mean, so the error is 1."""
    figures, _ = measured(rows_of(HAND))
    for name, keys, expected in (
        ("f", {}, 2.4),
        ("eta_squared", {}, 0.375),
        ("f_within", {}, 12),
        ("eta_squared_within", {}, 6 / 7),
        ("t", {"test": "unpaired", **BOTH}, -np.sqrt(2.4)),
        ("t", {"test": "paired", **BOTH}, -np.sqrt(12)),
        ("mean_abs_t", {"test": "paired"}, np.sqrt(12)),
        ("mean", {"group": "stad"}, 4),
        ("deviation", {"group": "stad"}, 1),
    ):
        assert value(figures, name, {**RAW, **keys}) == pytest.approx(expected), name
    f = known(figures.get(NAME, "f", RAW))
    assert (f.n, f.missing) == (6, 0)
    assert f.p_value == pytest.approx(f_oneway(*HAND.values()).pvalue)
    assert value(figures, "f", LOG) == pytest.approx(f_oneway(*map(np.log, HAND.values())).statistic)
    # every stad is twice its blicket: the difference of logarithms does not vary
    assert figures.value(NAME, "t", {**LOG, "test": "paired", **BOTH}) is None
    assert figures.value(NAME, "f_within", LOG) is None


def test_floors_and_points_under_the_null() -> None:
    """Groups that differ lie above the 95% point of permuted groups; the same groups dealt out at random do not."""
    groups = random_groups()
    figures, _ = measured(rows_of(groups), MeasureSettings())
    for name, keys in (("f", LOG), ("mean_abs_t", {**LOG, "test": "paired"})):
        figure = known(figures.get(NAME, name, keys))
        point = value(figures, f"{name}_null_95", keys)
        assert known(figure.floor) < point < known(figure.floor_interval).high
        assert point < known(figure.value)
        assert value(figures, f"{name}_permuted_p", keys) < 0.01
        assert known(figure.interval).low <= known(figure.value) <= known(figure.interval).high
    dealt = np.random.default_rng(4).permuted(np.array(list(groups.values())), axis=0)
    figures, _ = measured(rows_of(dict(zip(groups, dealt.tolist(), strict=True))), MeasureSettings())
    assert value(figures, "f", LOG) < value(figures, "f_null_95", LOG)
    assert value(figures, "f_permuted_p", LOG) > 0.05


@pytest.mark.parametrize("bad", [0.0, -3.0, None, float("nan"), float("inf")])
def test_what_is_not_a_perplexity_is_missing(measure: Measure, tmp_path: Path, bad: Any) -> None:
    """The ancestors' code writes 0 for a sentence that failed."""
    groups = {g: values[:8] for g, values in random_groups().items()}
    expected, _ = measured(rows_of({g: v[1:] for g, v in groups.items()}))
    broken = {g: [bad, *values[1:]] for g, values in groups.items()}
    figures, notes = measure(write_table(tmp_path / "broken.parquet", rows_of(broken)))
    f = known(figures.get(NAME, "f", RAW))
    assert [f.value, f.n, f.missing] == pytest.approx([value(expected, "f", RAW), 28, 4])
    paired = known(figures.get(NAME, "t", {**RAW, "test": "paired", **BOTH}))
    without = value(expected, "t", {**RAW, "test": "paired", **BOTH})
    assert [paired.value, paired.n, paired.missing] == pytest.approx([without, 7, 1])
    assert any("4 of 32 perplexities are missing" in note for note in notes)


def by_text(rows: list[Row]) -> list[Row]:
    return [{**row, "sentence": f"{row['sentence']} of the {row['group']}"} for row in rows]


@pytest.mark.parametrize("column", ["sentence_id", "item", None])
def test_an_id_pairs_texts_in_any_order_and_without_one_their_order_does(
    measure: Measure, tmp_path: Path, column: str | None
) -> None:
    rows = rows_of(random_groups())
    expected, _ = measured(rows)
    named = by_text(rows)
    if column:
        ids = [{column: row["sentence"], **text} for row, text in zip(rows, named, strict=True)]
        named = [ids[i] for i in np.random.default_rng(0).permutation(len(ids))]
    figures, notes = measure(write_table(tmp_path / "named.csv", named))
    assert [note for note in notes if "paired by their order" in note] == (notes if column is None else [])
    for name, keys in (("f_within", LOG), *(("mean_abs_t", {**LOG, "test": test}) for test in ("unpaired", "paired"))):
        assert value(figures, name, keys) == pytest.approx(value(expected, name, keys))


def test_unequal_groups_without_an_id_are_not_paired() -> None:
    figures, notes = measured(by_text(rows_of(random_groups()))[:-2])
    for name, keys in (("f_within", LOG), ("friedman", LOG), ("t", {**LOG, "test": "paired", **BOTH})):
        assert known(figures.get(NAME, name, keys)).value is None
    assert value(figures, "t", {**LOG, "test": "unpaired", **BOTH}) < 0 < value(figures, "f", LOG)
    assert any("not paired" in note for note in notes)


def test_a_group_with_one_sentence_has_no_t() -> None:
    figures, notes = measured(rows_of({**HAND, "mell": (4.0,)}))
    assert figures.value(NAME, "f", RAW) is None
    assert value(figures, "t", {**RAW, "test": "unpaired", **BOTH}) == pytest.approx(-np.sqrt(2.4))
    assert figures.value(NAME, "t", {**RAW, "test": "unpaired", "first": "stad", "second": "mell"}) is None
    t = known(figures.get(NAME, "mean_abs_t", {**RAW, "test": "unpaired"}))
    assert (t.n, t.missing) == (1, 2)
    assert any("fewer than two perplexities of mell" in note for note in notes)
    _, notes = measured(rows_of({**HAND, "mell": (4.0, 5.0)}))
    assert not any("fewer than two perplexities" in note for note in notes)


@pytest.mark.parametrize(("other", "alone"), [((), True), ((90.0,), True), ((110.0,), False)])
def test_a_perplexity_is_far_above_all_others_of_its_sentence_or_alone(other: tuple[float, ...], alone: bool) -> None:
    _, notes = measured(rows_of({"blicket": (1.0, 2.0, 3.0, 1000.0), "stad": (2.0, 3.0, 4.0, *other)}))
    (warning,) = (note for note in notes if "of the variance of perplexity:" in note)
    assert ("One perplexity far above all others" in warning) == alone


def test_names_from_the_table_are_cut_and_escaped(invoke: Invoke, tmp_path: Path) -> None:
    hostile = {"[red]blicket[/red]\x1b[2J": (1.0, 2.0, 4.0), "<script>" + "x" * 500: (2.0, 5.0, 6.0)}
    path = write_table(tmp_path / "scores.csv", rows_of(hostile, "[/]\x1b[31m"))
    code, said, error = invoke("measure", NAME, path)
    assert code == 0
    assert "\x1b" not in said + error
    assert "x" * 100 not in said
    assert "[red]" in said


def test_many_groups_are_not_compared_in_pairs() -> None:
    rng = np.random.default_rng(0)
    figures, notes = measured(rows_of({f"group {i}": rng.lognormal(4, 0.3, 4).tolist() for i in range(61)}))
    assert not figures.by(NAME, "mean_abs_t", "dimension", "scale", "test")
    assert value(figures, "f", LOG) > 0
    assert any("pairs are compared up to 60" in note for note in notes)


def published(folder: Path, group: str, values: list[str]) -> Path:
    """A test set of a group in the form of RedditBias."""
    path = folder / f"reddit_comments_race_{group}_biased_test_reduced.csv"
    rows = "".join(f"number {i} is a {group},{value}\n" for i, value in enumerate(values))
    path.write_text(f"comments_processed,perplexity\n{rows}", "utf-8")
    return path


def test_dimensions_without_f_and_after_the_eighth() -> None:
    rows = [row for i in range(10) for row in rows_of({"blicket": [2.0], "stad": [2.0]}, f"d{i}")]
    overview, *_ = MEASURES[NAME].sections(View(measured(rows)[0], pa.Table.from_pylist(rows)))
    said = [block.text for block in overview.blocks if isinstance(block, Paragraph)]
    assert {"d7: F of log-perplexity is not defined.", "Dimensions in the table alone: 2."} <= {*said}
    assert "d8: F of log-perplexity is not defined." not in said


def test_a_thousand_pairs_are_said_as_all_large_numbers_are() -> None:
    rows = rows_of({f"g{i}": (1.0 + i, 2.0 + i, 4.0 + i) for i in range(50)})
    figures, _ = measured(rows)
    overview, *_ = MEASURES[NAME].sections(View(figures, pa.Table.from_pylist(rows)))
    (said,) = (block.text for block in overview.blocks if isinstance(block, Paragraph) and block.role == "finding")
    assert "of 1,225 pairs differ after correction" in said


def test_published_files_are_measured_as_they_are(measure: Measure, tmp_path: Path) -> None:
    """One group's file brings the others; rows are pairs, and 0 is a sentence that failed."""
    first = published(tmp_path, "blicket", ["30", "42", "0", "55"])
    published(tmp_path, "stad", ["33", "40", "71", "80"])
    keys = {"dimension": "race", "scale": "perplexity"}
    turned, _ = measure(tmp_path / first.name.replace("blicket", "stad"))
    found = value(turned, "t", {**keys, "test": "paired", "first": "stad", "second": "blicket"})
    assert found == pytest.approx(ttest_rel([33, 40, 80], [30, 42, 55]).statistic)
    for path in (first, tmp_path):
        figures, notes = measure(path)
        t = {test: value(figures, "t", {**keys, "test": test, **BOTH}) for test in ("unpaired", "paired")}
        assert t["unpaired"] == pytest.approx(ttest_ind([30, 42, 55], [33, 40, 71, 80]).statistic)
        assert t["paired"] == pytest.approx(ttest_rel([30, 42, 55], [33, 40, 80]).statistic)
        assert any("1 of 8 perplexities" in note for note in notes)


def test_the_digest_covers_all_published_files(invoke: Invoke, tmp_path: Path) -> None:
    first = published(tmp_path, "blicket", ["30", "42"])
    digests = set()
    for values in (["33", "40"], ["33", "41"]):
        published(tmp_path, "stad", values)
        printed = invoke.printed("measure", NAME, first, "--format", "json", "--no-trust")
        digests.add(json.loads(printed)["scores_sha256"])
    assert len(digests) == 2


def of_whole_sentences(nll: list[float | None], tokens: Sequence[int | None] = (5, 5, 5, 5)) -> Found:
    rows = rows_of({"one": (2.0, 3.0), "other": (4.0, 6.0)}, "d")
    return measured([{**row, "nll": n, "tokens": t} for row, n, t in zip(rows, nll, tokens, strict=True)])


@pytest.mark.parametrize(
    ("nll", "f"),
    [
        ([1.0, 3.0, 4.0, 8.0], 3.2),  # means 2 and 6: between 16 / 1, within (2 + 8) / 2
        ([1e200, 3e200, 4e200, 8e200], 3.2),
        ([1.0, 3.0, 3.0, 1.0], 0.0),
        ([2.0, 2.0, 2.0, 2.0], None),
        ([1.0, 3.0, None, 8.0], None),
    ],
)
def test_f_of_whole_sentences(nll: list[float | None], f: float | None) -> None:
    found = known(of_whole_sentences(nll)[0].get(NAME, "f_whole_sentences", {"dimension": "d"}))
    assert found.value == (None if f is None else pytest.approx(f))
    assert (found.n, found.missing) == (4 - nll.count(None), nll.count(None))


@pytest.mark.parametrize(("tokens", "said"), [([5, 5, 5, 5], False), ([4, 6, 5, 5], False), ([4, 6, 6, 7], True)])
def test_different_numbers_of_tokens_are_named(tokens: list[int], said: bool) -> None:
    notes = [note for note in of_whole_sentences([1.0, 3.0, 4.0, 8.0], tokens)[1] if "tokens" in note]
    assert len(notes) == said
    assert not said or "5.0 tokens about one and 6.5 about other" in notes[0]
    assert not said or "F of the likelihoods of whole sentences is 3.20" in notes[0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tokens", [[None, None, 6, 7], [None] * 4])
def test_a_group_without_numbers_of_tokens_is_not_compared(tokens: list[int | None]) -> None:
    assert not [note for note in of_whole_sentences([1.0, 3.0, 4.0, 8.0], tokens)[1] if "tokens" in note]
