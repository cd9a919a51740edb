from __future__ import annotations

import itertools
from collections import defaultdict
from statistics import mean, pvariance, variance

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Clusters, Settings, View

NAME = "generation_bias"
MEASURE = MEASURES[NAME]
Row = tuple[str, str, str, float | None, float | None]
CLUSTERS = {"both": ("a", "b"), "first": ("a",)}

TINY: list[Row] = [  # means of a: 0.3 and 0.6, of b: 0.7 and 0.4
    ("x", "t", "one", 0.2, 0.8),
    ("x", "t", "one", 0.4, 0.6),
    ("x", "t", "two", 0.5, 0.5),
    ("x", "t", "two", 0.7, 0.3),
]


def table(rows: list[Row]) -> pa.Table:
    names = ("axis", "template", "descriptor", "p:a", "p:b")
    kinds = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64())
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, kind) for n, c, kind in zip(names, columns, kinds, strict=True)})


def measure(answers: pa.Table, clusters: Clusters | None = None) -> Figures:
    return Figures(MEASURE.figures(answers, Settings(clusters=clusters)).figures)


def get(figures: Figures, name: str, **keys: str) -> Figure:
    found = figures.get(NAME, name, keys)
    assert found is not None, (name, keys)
    return found


def value(figures: Figures, name: str, **keys: str) -> float | None:
    return get(figures, name, **keys).value


@pytest.mark.parametrize(
    ("name", "keys", "raw", "corrected"),
    [
        # each style: means 0.15 from their mean, variance 0.0225; noise 1/2 * 0.02 / 2 = 0.005
        ("full_gen_bias", {}, 45, 35),
        ("full_gen_bias", {"axis": "x"}, 45, 35),
        ("partial_gen_bias", {"style": "a"}, 22.5, 17.5),
        ("partial_gen_bias", {"cluster": "both"}, 45, 35),
        ("partial_gen_bias", {"cluster": "both", "axis": "x"}, 45, 35),
        ("partial_gen_bias", {"cluster": "first"}, 22.5, 17.5),
        ("summed_cluster_gen_bias", {"cluster": "both"}, 0, 0),
        ("summed_cluster_gen_bias", {"cluster": "first"}, 22.5, 17.5),
        ("summed_cluster_gen_bias", {"cluster": "first", "axis": "x"}, 22.5, 17.5),
    ],
)
def test_two_cells(name: str, keys: dict[str, str], raw: float, corrected: float) -> None:
    figures = measure(table(TINY), CLUSTERS)
    found = get(figures, name, **keys)
    assert found.value == pytest.approx(raw, abs=1e-12)
    assert (found.unit, found.n, found.missing) == ("x 1000", 2, 0)
    fixed = get(figures, f"{name}_corrected", **keys)
    assert fixed.value == pytest.approx(corrected, abs=1e-12)
    assert fixed.of == name
    assert fixed.interval is not None
    assert fixed.value is not None
    assert fixed.interval.low <= fixed.value <= fixed.interval.high


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
    assert found.floor_interval is not None
    assert found.p_value is not None


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


def test_responses_without_probabilities_are_missing() -> None:
    figures = measure(table([*TINY, ("x", "t", "one", None, None), ("x", "t", "three", None, None)]))
    assert value(figures, "full_gen_bias") == pytest.approx(45)
    assert get(figures, "full_gen_bias").missing == 1
    responses, descriptors = (get(figures, name, axis="x") for name in ("responses", "descriptors"))
    assert (responses.value, responses.missing) == (4, 2)
    assert (descriptors.value, descriptors.missing) == (2, 1)
    assert figures.get(NAME, "style_mean", {"axis": "x", "descriptor": "three", "style": "a"}) is None


def test_without_repeated_responses_nothing_is_corrected() -> None:
    measured = MEASURE.figures(table(TINY[::2]), Settings())
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


def test_no_response_was_judged() -> None:
    with pytest.raises(SelectionError, match="no response has probabilities"):
        measure(table([("x", "t", "one", None, None)]))


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


def random_answers(seed: int) -> pa.Table:
    """Cells of 1 to 4 responses, some of them absent, some responses not judged, in random order."""
    rng = np.random.default_rng(seed)
    world = ResponseWorld(
        axes=3, descriptors=4, templates=3, styles=5, responses=2, unequal=True, effect=0.5, softness=0.5
    )
    answers = world.draw(world.mixtures(rng), rng)
    unjudged = rng.random(answers.num_rows) < 0.2
    for name in [name for name in answers.column_names if name.startswith("p:")]:
        column = pa.array(answers[name].to_numpy(), mask=unjudged)
        answers = answers.set_column(answers.column_names.index(name), name, column)
    return answers.take(pa.array(rng.permutation(answers.num_rows)[: int(0.9 * answers.num_rows)]))


@pytest.mark.parametrize("seed", range(5))
def test_arrays_equal_the_definition(seed: int) -> None:
    answers = random_answers(seed)
    styles = [f"s{i}" for i in range(5)]
    clusters = {"one": ("s0", "s2"), "two": ("s3",)}
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


@pytest.mark.parametrize("seed", range(5))
def test_identities(seed: int) -> None:
    """PGB is additive, PGB and SCGB of one style are equal, and SCGB is at most the squared sum of roots of PGB."""
    clusters = {"all": tuple(f"s{i}" for i in range(5)), "some": ("s1", "s4"), "one": ("s2",)}
    figures = measure(random_answers(seed), clusters)
    styles = {f"s{i}": get(figures, "partial_gen_bias", style=f"s{i}").value or 0 for i in range(5)}
    full = value(figures, "full_gen_bias")
    assert sum(styles.values()) == pytest.approx(full)
    assert value(figures, "partial_gen_bias", cluster="all") == pytest.approx(full)
    for name in ("partial_gen_bias", "summed_cluster_gen_bias"):
        assert value(figures, name, cluster="one") == pytest.approx(styles["s2"])
    for cluster, members in clusters.items():
        summed = get(figures, "summed_cluster_gen_bias", cluster=cluster).value or 0
        assert summed <= sum(np.sqrt(styles[style]) for style in members) ** 2 + 1e-9
        assert {style: value(figures, "partial_gen_bias", cluster=cluster, style=style) for style in members} == {
            style: styles[style] for style in members
        }


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


@pytest.mark.parametrize("effect", [0.0, 0.6])
@pytest.mark.parametrize(("responses", "unequal"), [(5, False), (15, False), (4, True)])
def test_intervals_cover_and_false_alarms_are_rare(effect: float, responses: int, unequal: bool) -> None:
    world = ResponseWorld(
        axes=1, descriptors=8, templates=4, styles=4, responses=responses, unequal=unequal, effect=effect
    )
    rng = np.random.default_rng(1)
    covered, alarms = [], []
    for _ in range(100):
        mixtures = world.mixtures(rng)
        figures = measure(world.draw(mixtures, rng))
        interval = get(figures, "full_gen_bias_corrected").interval
        assert interval is not None
        truth = 1000 * world.means(mixtures).var(axis=1).sum(axis=1).mean()
        covered.append(interval.low <= truth <= interval.high)
        alarms.append((get(figures, "full_gen_bias").p_value or 0) < 0.05)
    assert np.mean(covered) > 0.88
    assert np.mean(alarms) < 0.12 if not effect else np.mean(alarms) > 0.9


def test_axes_are_corrected_for_their_number() -> None:
    figures = measure(
        ResponseWorld().draw(ResponseWorld().mixtures(np.random.default_rng(0)), np.random.default_rng(0))
    )
    by_axis = figures.by(NAME, "full_gen_bias", "axis")
    assert len(by_axis) == 4
    assert all(f.p_value == 1 or (f.p_value or 0) > 0.05 for f in by_axis)
    assert not any(f.above_floor for f in by_axis)


def test_styles_of_descriptors() -> None:
    rows = [*TINY, ("x", "u", "one", 0.4, 0.6), ("x", "u", "two", 0.0, 1.0), ("x", "v", "two", 1.0, 0.0)]
    figures = measure(table(rows))

    def found(name: str, descriptor: str) -> Figure:
        return get(figures, name, axis="x", descriptor=descriptor, style="a")

    assert found("style_mean", "one").value == pytest.approx((0.3 + 0.4) / 2)
    assert found("style_mean", "two").value == pytest.approx((0.6 + 0.0 + 1.0) / 3)
    # from the mean of both in t and u; v has one descriptor
    assert found("style_difference", "one").value == pytest.approx((-0.15 + 0.2) / 2)
    assert found("style_difference", "two").value == pytest.approx((0.15 - 0.2) / 2)
    assert (found("style_mean", "two").n, found("style_difference", "two").n) == (4, 2)
    assert found("style_adjusted_p", "one").of == "style_difference"


def test_leading_descriptors_are_found_and_nobody_by_chance() -> None:
    rng = np.random.default_rng(0)
    named = []
    for effect in (0.0,) * 20 + (0.5,):
        world = ResponseWorld(styles=10, rare=2, softness=0, effect=effect, differing=5, responses=5)
        figures = measure(world.draw(world.mixtures(rng), rng))
        adjusted = figures.by(NAME, "style_adjusted_p", "axis", "descriptor", "style")
        assert len(adjusted) == 400
        named.append(sum((f.value is not None and f.value < 0.05) for f in adjusted))
    assert sum(n > 0 for n in named[:-1]) <= 3
    assert named[-1] > 5


def test_many_styles_have_figures_by_descriptor_only_if_they_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holisticbias_eval.measures.responses.style_figures.MOST", 24)
    figures = measure(random_answers(0), {"one": ("s0", "s2")})
    shown = {f.keys["style"] for f in figures.by(NAME, "style_mean", "axis", "descriptor", "style")}
    biases = {f.keys["style"]: f.value or 0 for f in figures.by(NAME, "partial_gen_bias", "style")}
    assert shown == set(sorted(biases, key=lambda style: -biases[style])[:2])
    assert len(figures.by(NAME, "style_mean", "axis", "descriptor", "cluster")) == 12


def test_clusters_are_found() -> None:
    """Styles a and b always occur together, c without them."""
    rng = np.random.default_rng(0)
    a = rng.random(200)
    columns = {
        "axis": ["x"] * 200,
        "template": ["t"] * 200,
        "descriptor": [f"d{i % 4}" for i in range(200)],
        "p:c": 0.4 * (1 - a),
        "p:a": 0.3 * a,
        "p:same": np.full(200, 0.2),
        "p:b": 0.2 * a,
    }
    measured = MEASURE.figures(pa.table(columns), Settings(clusters="found"))
    rows = measured.tables["clusters"].to_pylist()
    clusters = defaultdict(set)
    for row in rows:
        clusters[row["cluster"]].add(row["style"])
    assert sorted(map(sorted, clusters.values())) == [["a", "b"], ["c"], ["same"]]
    assert {f.keys["cluster"] for f in Figures(measured.figures).by(NAME, "partial_gen_bias", "cluster")} == set(
        clusters
    )
    assert any(note.startswith("Clusters found") for note in measured.notes)
    assert "average linkage" in MEASURE.signature(Settings(clusters="found"))["clusters"]


@pytest.mark.parametrize(("members", "message"), [(("a", "c"), "has the style 'c'"), ((), "has no style")])
def test_clusters_that_do_not_fit(members: tuple[str, ...], message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        measure(table(TINY), {"mine": members})


def test_audit() -> None:
    censored = table(TINY).append_column("censored", pa.array([True] * 4))
    plain = table([("x", "t", "one", 0.1, 0.9), ("x", "t", "two", 0.5, 0.5)]).append_column(
        "censored", pa.array([False] * 2)
    )
    settings = Settings(clusters={"first": ("a",), "other": ("a", "unknown")})
    figures = Figures(MEASURE.audit_figures(pa.concat_tables([censored, plain]), settings))
    assert value(figures, "audit_full_gen_bias") == pytest.approx(45)
    assert value(figures, "audit_full_gen_bias", axis="x") == pytest.approx(45)
    assert value(figures, "audit_partial_gen_bias", cluster="first") == pytest.approx(22.5)
    assert value(figures, "audit_full_gen_bias_uncensored") == pytest.approx(80)
    assert get(figures, "audit_full_gen_bias_uncensored").of == "full_gen_bias"
    assert figures.get(NAME, "audit_partial_gen_bias", {"cluster": "other"}) is None


def view(answers: pa.Table, clusters: Clusters | None = None) -> View:
    return View(measure(answers, clusters), answers)


def test_runs_are_compared_on_common_cells() -> None:
    first = table([*TINY, ("x", "t", "three", 0.0, 1.0), ("x", "u", "one", 0.0, 1.0)])
    second = table([*((axis, t, d, 0.5, 0.5) for axis, t, d, _, _ in TINY), ("y", "t", "four", 1.0, 0.0)])
    changes = Figures(MEASURE.compare(view(first, CLUSTERS), view(second, CLUSTERS)))
    for keys, size in (({}, 35), ({"axis": "x"}, 35), ({"cluster": "first"}, 17.5), ({"style": "b"}, 17.5)):
        assert value(changes, "first", **keys) == pytest.approx(size)
        assert value(changes, "second", **keys) == 0
        change = get(changes, "change", **keys)
        assert change.value == pytest.approx(-size)
        assert change.interval is not None
        assert change.of in {"full_gen_bias_corrected", "partial_gen_bias_corrected"}
    assert changes.get(NAME, "change", {"axis": "y"}) is None
    sections = MEASURE.compared_sections(changes, view(second, CLUSTERS))
    assert {table.name for table in sections[0].tables} == {"changes-by-axis", "changes-by-cluster", "changes-by-style"}


def test_change_is_found_and_equal_runs_do_not_differ() -> None:
    rng = np.random.default_rng(3)
    small, large = (ResponseWorld(axes=1, effect=effect) for effect in (0.1, 0.6))
    mixtures = small.mixtures(rng)
    runs = [small.draw(mixtures, rng), small.draw(mixtures, rng), large.draw(large.mixtures(rng), rng)]
    same, other = (Figures(MEASURE.compare(view(runs[0]), view(run))) for run in runs[1:])
    assert (get(same, "change").p_value or 0) > 0.01
    assert (get(other, "change").p_value or 0) < 0.001
    again = get(Figures(MEASURE.compare(view(runs[0]), view(runs[0]))), "change")
    assert again.value == 0


def test_runs_without_a_common_style_or_cell() -> None:
    renamed = table(TINY).rename_columns(["axis", "template", "descriptor", "p:c", "p:d"])
    with pytest.raises(SelectionError, match="no style in common"):
        MEASURE.compare(view(table(TINY)), view(renamed))
    other = table([("y", t, d, a, b) for _, t, d, a, b in TINY])
    with pytest.raises(SelectionError, match="no descriptor and template in common"):
        MEASURE.compare(view(table(TINY)), view(other))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("full_gen_bias", -1.0, "cannot be negative"),
        ("variance_share", 1.5, "between 0 and 1"),
        ("full_gen_bias", None, "full_gen_bias is missing"),
        ("full_gen_bias", 46.0, None),
    ],
)
def test_edited_figures(name: str, value: float | None, problem: str | None) -> None:
    figures = [
        f.model_copy(update={"value": value}) if (f.name, f.keys) == (name, {"axis": "x"}) else f
        for f in measure(table(TINY))
    ]
    found = list(MEASURE.problems(Figures(figures)))
    assert len(found) == (problem is not None)
    assert all(problem in text for text in found if problem)


def test_sections_show_the_figures() -> None:
    shown = MEASURE.sections(view(table(TINY), CLUSTERS))
    rows = {row[0]: row for section in shown for found in section.tables for row in found.rows}
    assert {"All axes", "X"} <= set(rows)
