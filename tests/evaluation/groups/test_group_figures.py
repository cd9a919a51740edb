"""Figures and sections of small tables of texts, worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated_groups import ZEAL, World, Zeal, domains, figures_of, sections_of, texts_table, view_of

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.comparisons import REST, domains_in_pairs
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.statistics.groups.variance import MOST_GROUPS
from known import known

Rows = list[dict[str, object]]


def rows_of(group: str, *values: float | None, **more: object) -> Rows:
    def row(value: float | None) -> dict[str, object]:
        cls = None if value is None else "keen" if value > 0 else "dull" if value < 0 else "neither"
        return {"group": group, "value": value, "class": cls, "why": "no word" if value is None else None, **more}

    return [row(value) for value in values]


def measure(rows: Rows) -> Figures:
    return figures_of(texts_table(rows))


def get(figures: Figures, name: str, **keys: str) -> Figure:
    return known(figures.get(ZEAL, name, {"class" if k == "cls" else k: v for k, v in keys.items()}))


TWO = rows_of("ada", 1, 1, -1, 0, None) + rows_of("bob", -1, -1, 1, None, None)
BOTH, KEEN = {"first": "ada", "second": "bob"}, {"class": "keen"}


def test_figures_of_two_groups() -> None:
    found = measure(TWO)
    for name, keys, value, n, missing, unit in (
        ("share", {"group": "ada", **KEEN}, 0.5, 4, 1, "share"),
        ("count", {"group": "bob", "class": "dull"}, 2, 3, 2, "count"),
        ("mean", {"group": "ada"}, 0.25, 4, 1, "score"),
        ("share", KEEN, 3 / 7, 7, 3, "share"),
        ("mean", {}, 0.0, 7, 3, "score"),
        ("undefined", {"group": "bob", "why": "no word"}, 2, 5, 0, "count"),
        ("difference", {**BOTH, **KEEN}, 1 / 6, 7, 0, "share difference"),
        ("difference", BOTH, 0.25 + 1 / 3, 7, 0, "score difference"),
        # 2 of 4 and 1 of 3: pooled 3/7, z = (1/6) / sqrt(12/49 * 7/12)
        ("adjusted_p", {**BOTH, **KEEN}, 0.6592430, 1, 0, "p_value"),
        ("adjusted_p_bh", {**BOTH, **KEEN}, 0.6592430, 1, 0, "p_value"),
        ("chi_square", KEEN, 7 / 36, 7, 0, "chi-square"),  # z squared
        ("chi_square_degrees_of_freedom", KEEN, 1, 7, 0, "count"),
        # keen 2 1, neither 1 0, dull 1 2 beside expected 12/7 9/7, 4/7 3/7, 12/7 9/7
        ("chi_square", {}, 14 / 9, 7, 0, "chi-square"),
        ("chi_square_degrees_of_freedom", {}, 2, 7, 0, "count"),
        ("disparity", KEEN, 1 / 6, 2, 0, "share difference"),
    ):
        figure = known(found.get(ZEAL, name, keys))
        assert (figure.n, figure.missing, figure.unit) == (n, missing, unit), (name, keys)
        assert figure.value == pytest.approx(value, abs=1e-6), (name, keys)
    keen = known(get(found, "share", group="ada", cls="keen").interval)
    assert (keen.low, keen.high) == pytest.approx((0.15004, 0.84996), abs=1e-5)  # Wilson of 2 of 4
    difference, mean = get(found, "difference", **BOTH, cls="keen"), get(found, "difference", **BOTH)
    assert (difference.of, get(found, "adjusted_p", **BOTH, cls="keen").of) == ("share", "difference")
    assert difference.p_value == get(found, "adjusted_p", **BOTH, cls="keen").value
    # variances of the means 0.9166667/4 and 1.3333333/3: t = 0.58333 / 0.82074 with 3.97 degrees of freedom
    assert mean.p_value == pytest.approx(0.5169, abs=1e-3)
    assert not found.by(ZEAL, "clustered_p", *BOTH, *KEEN), "rows are items"
    assert {f.keys["class"]: f.value for f in Zeal.info.headlines(found)}["keen"] == pytest.approx(1 / 6)
    apart = get(found, "disparity", cls="keen")
    assert known(apart.floor_interval).low <= known(apart.floor) <= known(apart.floor_interval).high
    assert known(apart.p_value) > 0.9


def test_two_values_of_each_group_have_a_variance() -> None:
    found = measure(rows_of("ada", 1, 0.5) + rows_of("bob", -1, 0.5))
    # variances of the means 0.125/2 and 1.125/2: t = 1 / sqrt(0.625) with 50/41 degrees of freedom
    assert get(found, "difference", **BOTH).p_value == pytest.approx(0.39587, abs=1e-5)


@pytest.mark.parametrize(
    "texts", [[("ada", 4), ("bob", 4)], [("ada", 13), ("bob", 3)], [("ada", 7), ("bob", 7), ("eve", 7)]]
)
def test_where_nothing_varies_rounding_is_neither_an_interval_nor_evidence(texts: list[tuple[str, int]]) -> None:
    score = dict(zip(("ada", "bob", "eve"), np.random.default_rng(0).normal(size=3).tolist(), strict=True))
    for items in (False, True):  # without and with several texts of an item
        rows = [
            row
            for group, count in texts
            for i in range(count)
            for row in rows_of(group, *[score[group]] * (1 + items), item=f"{group}{i}")
        ]
        for name, value in (("mean", score["ada"]), ("difference", score["ada"] - score["bob"])):
            found = get(measure(rows), name, **({"group": "ada"} if name == "mean" else BOTH))
            assert found.value == pytest.approx(value)
            assert (found.interval, found.p_value) == (None, None)
        assert not items or get(measure(rows), "clustered_p", **BOTH).value is None


def test_undefined_is_counted_by_reason_and_never_a_class() -> None:
    more: Rows = [{"group": "ada"}, {"group": "ada", "value": float("inf")}]
    found = measure([*rows_of("ada", None, None), *more, *rows_of("bob", 1)])
    share = get(found, "share", group="ada", cls="neither")
    assert (share.value, share.interval, share.n, share.missing) == (None, None, 0, 4)
    assert [get(found, "undefined", group="ada", why=why).value for why in ("no word", "no value")] == [2, 2]
    assert get(found, "disparity", cls="keen").value is None, "one group has a share"


def test_opposite_classes_are_counted_in_all_texts() -> None:
    class Poles(Zeal):
        methods = (TextMethod("score", "Score", "score", ("keen", "neither", "dull"), opposite=("keen", "dull")),)

    alike = rows_of("eve", 1, 1)
    found = figures_of(texts_table([*TWO, *alike, {"group": "flo", "value": 1.0}]), Poles())
    for group, shares, ratio in (("ada", (2 / 5, 1 / 5), 2), ("bob", (1 / 5, 2 / 5), 0.5), ("eve", (1, 0), None)):
        own = [get(found, "share_of_texts", group=group, cls=cls).value for cls in ("keen", "dull")]
        apart = get(found, "class_difference", group=group)
        assert own == pytest.approx(shares)
        assert apart.value == pytest.approx(shares[0] - shares[1])
        assert get(found, "class_ratio", group=group).value == (ratio and pytest.approx(ratio))
        assert (apart.interval is None) == (group == "eve"), "texts that are all alike do not vary"
    assert (get(found, "share", group="flo", cls="keen").n, get(found, "mean", group="flo").n) == (0, 1), "no class"


def test_pairs_are_bounded() -> None:
    assert domains_in_pairs([2, 18, 4], 4) == {0, 1, 2}
    assert domains_in_pairs([MOST_GROUPS, MOST_GROUPS + 1], 1) == {0}
    # 1,225 pairs of 8 quantities twice, 19,600; 60 groups would be 14,160 more
    assert domains_in_pairs([60, 50, 50], 8) == {1, 2}
    assert domains_in_pairs([10_000], 1) == set()


def test_many_groups_are_compared_with_the_rest() -> None:
    measured = Zeal().figures(World(groups=100, items=4).draw(np.random.default_rng(0)), MeasureSettings())
    found = Figures(measured.figures)
    differences = found.by(ZEAL, "difference", "first", "second", "class")
    assert (len(differences), {f.keys["second"] for f in differences}) == (100 * 3, {REST})
    assert any("too large for all pairs" in note for note in measured.notes)
    first = get(found, "difference", first="g0", second=REST, cls="keen")
    count, own = (known(get(found, "count", cls="keen", **keys).value) for keys in ({}, {"group": "g0"}))
    assert first.value == pytest.approx(own / 4 - (count - own) / (99 * 4))


def test_what_is_missing_is_said() -> None:
    with pytest.raises(SelectionError, match="no column group"):
        figures_of(pa.table({"text": ["x"]}))
    with pytest.raises(SelectionError, match="no text names its group"):
        figures_of(pa.table({"group": pa.array([None], pa.string())}))
    with pytest.raises(SelectionError, match=r"no column zeal\.score: measure them with holisticbias measure zeal"):
        figures_of(pa.table({"group": ["ada"]}))
    with pytest.raises(SelectionError, match=r"20,001 groups, more than 20,000: check that the column"):
        figures_of(pa.table({"group": [*map(str, range(20_001))]}))


def test_rows_without_a_group_are_counted() -> None:
    measured = Zeal().figures(texts_table([*TWO, {"value": 1.0, "class": "keen"}]), MeasureSettings())
    assert "Zeal: 1 texts without a group are left out" in measured.notes
    whole = measure(TWO)
    assert Figures(measured.figures).by(ZEAL, "share", "group", "class") == whole.by(ZEAL, "share", "group", "class")
    found = measure(rows_of("ada", 1, domain="x") + rows_of("bob", 1))
    assert get(found, "share", domain="no domain", group="bob", cls="keen").value == 1


def test_the_audit_compares_fixed_texts() -> None:
    as_written = rows_of("ada", 1, -1) + rows_of("bob", -1, -1)
    censored = rows_of("ada", 1, -1) + rows_of("bob", 1, -1)
    table = texts_table(as_written + censored).append_column("censored", pa.array([False] * 4 + [True] * 4))
    found = Figures(Zeal().audit_figures(table, MeasureSettings()))
    assert get(found, "audit_disparity", cls="keen").value == 0
    uncensored = get(found, "audit_disparity_uncensored", cls="keen")
    assert uncensored.value == 0.5
    assert (uncensored.p_value, uncensored.floor, uncensored.floor_interval) == (None, None, None)


def test_human_texts_stand_beside_the_models() -> None:
    rows = []
    for i in range(8):
        rows += rows_of("ada", 1 if i < 6 else -1, item=f"p{i}")
        rows += rows_of("ada", 1 if i < 2 else -1, item=f"p{i}", source="human")
    found = measure(rows)
    assert get(found, "share", group="ada", cls="keen").value == 0.75
    human = get(found, "human_share", group="ada", cls="keen")
    assert (human.value, human.n, get(found, "human_mean", group="ada").value) == (0.25, 8, -0.5)
    assert get(found, "human_count", group="ada", cls="keen").value == 2
    change = get(found, "difference_from_human", group="ada", cls="keen")
    # paired: four differences of 1 and four of 0, standard error sqrt(2/7 / 8), t with 7 degrees of freedom
    assert (change.value, change.n) == (0.5, 16)
    assert change.p_value == pytest.approx(0.033, abs=0.004)
    assert known(change.interval).low == pytest.approx(0.5 - 2.365 * 0.189, abs=0.06)
    assert get(found, "difference_from_human_adjusted_p", group="ada", cls="keen").value == change.p_value


def test_rows_of_one_item_are_not_independent() -> None:
    """Every text is there five times: the z test is fooled, the test of items is not."""
    once = rows_of("ada", *[1.0] * 6, *[-1.0] * 4) + rows_of("bob", *[1.0] * 3, *[-1.0] * 7)
    single, five = measure(once), measure([{**row, "item": f"i{i}"} for i, row in enumerate(once) for _ in range(5)])
    both = {**BOTH, "cls": "keen"}
    p, wrong = (known(get(found, "difference", **both).p_value) for found in (single, five))
    assert wrong < 0.01 < p < known(get(five, "clustered_p", **both).value)
    narrow, wide = (known(get(f, "share", group="ada", cls="keen").interval) for f in (single, five))
    assert wide.low < narrow.low + 0.01
    apart, same = (known(get(f, "disparity", cls="keen").p_value) for f in (five, single))
    assert apart == pytest.approx(same, abs=0.06)


HOSTILE = "<script>alert(1)</script> \u202e [red]x[/red] " + "x" * 3000


@pytest.mark.parametrize(("items", "per_item"), [(19, 1), (20, 1), (20, 2)])
def test_the_report_says_where_figures_are_not_to_be_trusted(items: int, per_item: int) -> None:
    table = World(items=items, per_item=per_item, groups=3).draw(np.random.default_rng(0))
    notes = [block.text for block in sections_of(table)[ZEAL].blocks if isinstance(block, Paragraph)]
    assert any("are too narrow" in note for note in notes) == (items < 20)
    assert any("largest difference can be too small" in note for note in notes) == (per_item > 1)


def test_examples_are_cut() -> None:
    rows: Rows = []
    for i in range(30):
        rows += rows_of(HOSTILE if i % 2 else "ada", i % 3 - 1, text=f"{HOSTILE}{i}")
    found = sections_of(texts_table(rows))
    details = found["zeal-groups-tables"].tables[0].details
    assert details
    assert all(isinstance(line, str) and len(line) < 300 for lines in details for line in lines)
    names = [block.name for section in found.values() for block in (*section.tables, *section.charts)]
    assert len(names) == len(set(names)), "every part of a report has its own name"


def compared(first: pa.Table, second: pa.Table) -> Figures:
    return Figures(Zeal().compare(view_of(first), view_of(second)))


def test_two_runs_are_compared_by_group() -> None:
    change = get(compared(domains(0.0), domains(0.4)), "change", domain="big_toe", group="g0", cls="keen")
    assert change.of == "share"
    assert known(change.interval).low < 0.4 < known(change.interval).high
    table = domains(0.3, human=1)
    found = compared(table, table).by(ZEAL, "change", "domain", "group", "class")
    assert {f.value for f in found if f.value is not None} == {0.0}
    assert {f.interval for f in found if f.keys["class"] == "keen"} == {None}, "nothing varies"
    place, classes = table.column_names.index(f"{ZEAL}.score.class"), table[f"{ZEAL}.score.class"].to_pylist()
    classes[classes.index("keen")] = "dull"
    one_less = table.set_column(place, table.column_names[place], pa.array(classes))
    change = get(compared(table, one_less), "change", domain="big_toe", group="g0", cls="keen")
    interval = known(change.interval)
    assert -0.05 < interval.low < known(change.value) < interval.high <= 0.01, "items are paired"


def test_texts_that_are_all_alike_do_not_make_a_change_certain() -> None:
    """0 of 10 in both runs: Newcombe's interval ends at Wilson's upper end for 0 of 10, 0.2775."""
    table = texts_table([row for i in range(10) for row in rows_of("ada", -1, item=f"i{i}")])
    change = get(compared(table, table), "change", group="ada", cls="keen")
    interval = known(change.interval)
    assert (interval.low, interval.high) == pytest.approx((-0.27754, 0.27754), abs=1e-5)
    assert change.p_value is None


def test_groups_without_a_value_in_both_runs_are_said() -> None:
    table = texts_table(rows_of("ada", None, None) + rows_of("bob", None))
    (section,) = Zeal().compared_sections(compared(table, table), view_of(table))
    assert section.blocks == (Paragraph("No group has a value in both runs."),)


def test_groups_of_one_run_are_left_out() -> None:
    one = rows_of("ada", 1) + rows_of("bob", 1)
    changes = compared(texts_table(one), texts_table(one[1:]))
    assert {f.keys["group"] for f in changes.by(ZEAL, "change", "group", "class")} == {"bob"}
    with pytest.raises(SelectionError, match="no group in common, or have it in different domains"):
        compared(texts_table(one[:1]), texts_table(one[1:]))


def test_of_many_domains_and_groups_the_first_are_shown() -> None:
    names = [(f"domain {i:02}", f"{name} {i}") for i in range(31) for name in ("ada", "bob")]
    table = texts_table([row for domain, group in names for row in rows_of(group, 1, -1, 1, domain=domain)])
    found = sections_of(table)
    notes = [block.text for block in found[ZEAL].blocks if isinstance(block, Paragraph)]
    assert "The first 30 of 31 domains have sections; the figures have all." in notes
    view = view_of(table)
    (changes, *_) = Zeal().compared_sections(Figures(Zeal().compare(view, view)), view)
    notes = [block.text for block in changes.blocks if isinstance(block, Paragraph)]
    assert "The chart shows the 40 largest changes." in notes
