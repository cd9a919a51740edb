import itertools
from collections import defaultdict
from statistics import mean, pvariance, variance

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.evaluation.responses_by_hand import MEASURE, NAME, TINY, Row, get, measure, random_answers, table, value
from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.responses.bias_figures import bias_changes
from holisticbias_eval.measures.responses.design import count_repeats
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.statistics.responses.cells import repeats_resemble
from holisticbias_eval.statistics.tests import holm
from known import known


def test_a_template_with_one_descriptor_is_left_out_and_counted() -> None:
    answers = table([*TINY, ("x", "u", "one", 0.9, 0.1), ("y", "t", "one", 0.9, 0.1)])
    figures = measure(answers)
    assert value(figures, "full_gen_bias", axis="x") == pytest.approx(45)
    assert get(figures, "templates", axis="x").missing == 1
    assert get(figures, "full_gen_bias", axis="x").missing == 2  # two descriptors in u
    alone = get(figures, "full_gen_bias", axis="y")
    assert (alone.value, alone.n, alone.missing, alone.floor) == (None, 0, 1, None)
    assert value(figures, "full_gen_bias_corrected", axis="y") is None
    # over all axes: three descriptors in t, means of a 0.3, 0.6, 0.9; the cell of one response has variance 0.02
    assert value(figures, "full_gen_bias") == pytest.approx(2000 * 0.06)
    noise = 2 / 3 * (0.01 + 0.01 + 0.02) / 3
    assert value(figures, "full_gen_bias_corrected") == pytest.approx(2000 * (0.06 - noise))


def test_rounding_is_not_a_bias() -> None:
    """Sums of 0.1 or 0.7 over three and over four responses, divided by their number, differ by rounding."""
    cells = [("x", "t", name, 0.1, 0.7) for name, count in (("one", 3), ("two", 4), ("three", 6)) for _ in range(count)]
    figures = measure(table([*cells, *((("y", *row[1:])) for row in cells)]), {"first": ("a",)})
    biases = [f for f in figures if f.unit == "x 1000" and f.of is None]
    assert len(biases) > 5
    for found in biases:
        assert (found.value, found.p_value, found.floor_interval) == (0, None, None), found
    assert get(figures, "full_gen_bias_corrected").interval is None


@pytest.mark.parametrize("single", [True, False])
def test_all_styles_of_a_softmax_together_have_no_bias(single: bool) -> None:
    """Their sum is 1 but for rounding, in single precision or in double precision."""
    drawn = np.random.default_rng(0).dirichlet(np.ones(2), 24)
    p = drawn.astype(np.float32).astype(np.float64) if single else np.round(drawn, 1)
    names = [("x", t, d) for t in "tu" for d in ["one", "two", "three"] for _ in range(4)]
    cells = [(*name, *values) for name, values in zip(names, p.tolist(), strict=True)]
    figures = measure(table(cells), {"every": ("a", "b"), "first": ("a",)})
    every, first = (get(figures, "summed_cluster_gen_bias", cluster=name) for name in ("every", "first"))
    assert (every.value, every.p_value, every.floor_interval) == (0, None, None)
    alone = get(measure(table(cells), {"first": ("a",)}), "summed_cluster_gen_bias", cluster="first")
    assert first.p_value == alone.p_value  # of one test, not of two
    tests = [f for f in figures if f.name == "style_difference" and f.keys.get("cluster") == "every"]
    assert len(tests) == 3
    assert all((f.value, f.p_value) == (0, None) for f in tests)


@pytest.mark.parametrize(("responses", "said"), [(2, True), (3, False)])
def test_the_report_says_that_few_responses_make_intervals_too_narrow(responses: int, said: bool) -> None:
    world, rng = ResponseWorld(responses=responses), np.random.default_rng(0)
    answers = world.draw(world.mixtures(rng), rng)
    main = MEASURE.sections(View(Figures(MEASURE.figures(answers, MeasureSettings()).figures), answers))[0]
    assert any(isinstance(block, Paragraph) and "too narrow" in block.text for block in main.blocks) == said


def test_p_values_of_changes_are_corrected_over_the_axes() -> None:
    world, rng = ResponseWorld(axes=3, descriptors=5, templates=2, responses=5), np.random.default_rng(3)
    tables = [world.draw(world.mixtures(rng), rng) for _ in range(2)]
    alone = []
    for axis in (axes := tables[0]["axis"].unique().to_pylist()):
        one, other = (t.filter(pc.equal(t["axis"], axis)) for t in tables)
        alone.append(known(get(Figures(bias_changes(one, other, {})), "change", axis=axis).p_value))
    together = Figures(bias_changes(tables[0], tables[1], {}))
    adjusted = [get(together, "change", axis=axis).p_value for axis in axes]
    assert adjusted == pytest.approx(holm(np.array(alone)).tolist())


def test_responses_without_probabilities_are_missing() -> None:
    figures = measure(table([*TINY, ("x", "t", "one", None, None), ("x", "t", "three", None, None)]))
    assert value(figures, "full_gen_bias") == pytest.approx(45)
    assert get(figures, "full_gen_bias").missing == 1
    responses, descriptors = (get(figures, name, axis="x") for name in ("responses", "descriptors"))
    assert (responses.value, responses.missing) == (4, 2)
    assert (descriptors.value, descriptors.missing) == (2, 1)
    assert figures.get(NAME, "style_mean", {"axis": "x", "descriptor": "three", "style": "a"}) is None


def test_without_repeated_responses_nothing_is_corrected() -> None:
    measured = MEASURE.figures(table(TINY[::2]), MeasureSettings())
    figures = Figures(measured.figures)
    assert value(figures, "full_gen_bias") == pytest.approx(2000 * 0.0225)
    fixed = get(figures, "full_gen_bias_corrected")
    assert (fixed.value, fixed.interval) == (None, None)
    assert get(figures, "full_gen_bias").p_value is None  # every permutation gives the same bias
    assert any("one response" in note for note in measured.notes)


def test_one_text_on_two_axes_is_two_descriptors() -> None:
    figures = measure(table([(("x", "y")[i // 2], t, "one", a, b) for i, (_, t, _, a, b) in enumerate(TINY)]))
    assert value(figures, "full_gen_bias") == pytest.approx(45)
    assert value(figures, "full_gen_bias", axis="x") is None
    with pytest.raises(SelectionError, match="no response has probabilities"):
        measure(table([("x", "t", "one", None, None)]))


def test_ids_tell_descriptors_of_one_text_apart() -> None:
    """A Buddhist and a Buddhist person are two entries of the dataset."""
    rows: list[Row] = [(axis, template, "one", a, b) for axis, template, _, a, b in TINY]
    ids = pa.array(["x.one", "x.one", "x.a-one", "x.a-one"])
    answers = table(rows).append_column("descriptor_id", ids)
    figures = measure(answers)
    assert value(figures, "full_gen_bias") == pytest.approx(45)
    assert value(figures, "style_mean", axis="x", descriptor="x.a-one", style="a") == pytest.approx(0.6)
    reworded = answers.set_column(2, "descriptor", pa.array(["one", "one", "un", "un"]))
    assert bias_changes(answers, reworded, {}) == ()  # one descriptor is in the same words


Sample = dict[tuple[str, str], list[tuple[float, ...]]]


def slow(answers: pa.Table, styles: list[str], summed: bool = False, axis: str | None = None) -> tuple[float, float]:
    """Raw and corrected bias, from the definition."""
    templates: dict[str, Sample] = defaultdict(lambda: defaultdict(list))
    for row in answers.to_pylist():
        if row["p:s0"] is not None:
            p = tuple(row[f"p:{style}"] for style in styles)
            templates[row["template"]][row["axis"], row["descriptor"]].append((sum(p),) if summed else p)
    raw, corrected = [], []
    for cells in templates.values():
        pooled = [pooled_variance(cells, s) for s in range(1 if summed else len(styles))]
        kept = [cell for key, cell in cells.items() if axis in (None, key[0])]
        if len(kept) < 2:
            continue
        biases, noises = [], []
        for s, spare in enumerate(pooled):
            samples = [[p[s] for p in cell] for cell in kept]
            biases.append(pvariance([mean(sample) for sample in samples]))
            noise = mean((variance(v) if len(v) > 1 else spare) / len(v) for v in samples)
            noises.append((len(kept) - 1) / len(kept) * noise)
        raw.append(sum(biases))
        corrected.append(sum(biases) - sum(noises))
    return 1000 * mean(raw), 1000 * mean(corrected)


def pooled_variance(cells: Sample, s: int) -> float:
    squares = sum(sum((p[s] - mean(q[s] for q in cell)) ** 2 for p in cell) for cell in cells.values())
    return squares / sum(len(cell) - 1 for cell in cells.values())


@pytest.mark.parametrize("seed", range(4))
def test_arrays_equal_the_definition(seed: int) -> None:
    styles = [f"s{i}" for i in range(5)]
    clusters = {"all": tuple(styles), "one": ("s0", "s2"), "two": ("s3",)}
    answers = random_answers(seed)
    figures = measure(answers, clusters)
    for axis in (None, "axis 0", "axis 1", "axis 2"):
        keys = {"axis": axis} if axis else {}
        checks = [("full_gen_bias", keys, slow(answers, styles, axis=axis))]
        for cluster, members in clusters.items():
            of = {**keys, "cluster": cluster}
            checks.append(("partial_gen_bias", of, slow(answers, list(members), axis=axis)))
            checks.append(("summed_cluster_gen_bias", of, slow(answers, list(members), summed=True, axis=axis)))
        for name, of, (raw, corrected) in checks:
            assert value(figures, name, **of) == pytest.approx(raw)
            assert value(figures, f"{name}_corrected", **of) == pytest.approx(corrected)
    for style in styles:
        own = value(figures, "partial_gen_bias", style=style)
        assert own == pytest.approx(slow(answers, [style])[0])
        assert own == value(figures, "partial_gen_bias", cluster="all", style=style)


@pytest.mark.parametrize("counts", [(2, 2), (2, 3), (3, 1)])
def test_corrected_bias_is_unbiased_over_all_samples(counts: tuple[int, int]) -> None:
    """Responses are 0 or 1, with probabilities 0.3 and 0.8: the true variance is 0.0625."""
    chances = (0.3, 0.8)
    expected = 0.0
    for outcome in itertools.product((0, 1), repeat=sum(counts)):
        rows: list[Row] = []
        weight = 1.0
        for i, p in enumerate(outcome):
            descriptor = 0 if i < counts[0] else 1
            weight *= chances[descriptor] if p else 1 - chances[descriptor]
            rows.append(("x", "t", f"d{descriptor}", float(p), 0.0))
        expected += weight * (get(measure(table(rows)), "full_gen_bias_corrected").value or 0)
    if 1 in counts:  # that cell takes the variance of the other, 0.21 instead of 0.16
        assert expected == pytest.approx(62.5 + 1000 * (0.16 - 0.21) / 4)
    else:
        assert expected == pytest.approx(62.5)


def test_share_of_variance() -> None:
    """Total variance of a: 0.0225 between and 0.01 within (ddof 0); without noise 0.0175 and 0.02."""
    figures = measure(table(TINY))
    assert value(figures, "variance_share") == pytest.approx(0.0225 / 0.0325)
    assert value(figures, "variance_share_corrected", axis="x") == pytest.approx(0.0175 / 0.0375)


def test_floor_is_the_mean_over_all_permutations() -> None:
    p = [row[3] or 0 for row in TINY]
    permuted = [2000 * ((sum(order[:2]) - sum(order[2:])) / 4) ** 2 for order in itertools.permutations(p)]
    found = get(measure(table(TINY)), "full_gen_bias")
    assert found.floor == pytest.approx(mean(permuted))
    assert None not in (found.floor_interval, found.p_value)


def slowly_resemble(values: np.ndarray, cell: np.ndarray, prompt: np.ndarray) -> bool:
    """The same for each repeat by itself: its product beside the mean of those of all pairs of its cell."""
    products: list[float] = []
    first: dict[tuple[int, int], int] = {}
    known = ~np.isnan(values[:, 0])
    for row, own in enumerate(prompt):
        before = first.setdefault((cell[row], own), row)
        if before != row and known[row] and known[before]:
            in_cell = values[(cell == cell[row]) & known]
            apart = in_cell - in_cell.mean(axis=0)
            centred = values[[row, before]] - in_cell.mean(axis=0)
            products.append(centred[0] @ centred[1] - mean(a @ b for a, b in itertools.permutations(apart, 2)))
    return bool(mean(products) > 2 * np.sqrt(variance(products) / len(products)))


@pytest.mark.parametrize("cells", [4, 18])
def test_repeats_resemble_if_their_products_are_larger_than_those_of_other_pairs(cells: int) -> None:
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cell, prompt = rng.integers(cells, size=90), rng.integers(3 if cells > 4 else 10, size=90)
        values = rng.normal(1, 1, (90, 3)) + rng.uniform(0, 0.7) * rng.normal(size=(10 * cells, 3))[10 * cell + prompt]
        values[rng.random(90) < 0.1] = np.nan
        keys = (10 * cell + prompt).tolist()
        found.append(repeats_resemble(values.T, cell, np.array([keys.index(key) for key in keys])))
        assert found[-1] == slowly_resemble(values, cell, prompt)
    assert 5 < sum(found) < 55


@pytest.mark.parametrize(
    ("repeated", "alike", "counts_once", "note"),
    [
        (0.1, 0.0, False, ""),
        (0.1, 0.5, True, "each prompt counts once"),
        (0.4, 0.0, False, ""),
        (0.4, 0.5, False, "intervals are too narrow"),
    ],
)
def test_few_repeats_do_not_count_if_they_resemble_the_first_response(
    repeated: float, alike: float, counts_once: bool, note: str
) -> None:
    world, rng = ResponseWorld(repeated=repeated, alike=alike), np.random.default_rng(0)
    answers = world.draw(world.mixtures(rng), rng)
    rows, said = count_repeats(answers)
    assert len(rows) == (len(set(answers["prompt"].to_pylist())) if counts_once else len(answers))
    assert note in said
    assert bool(note) == bool(said)
    assert any(note in text for text in MEASURE.figures(answers, None).notes) or not note
