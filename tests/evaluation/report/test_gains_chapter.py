"""The chapter of gains and costs: one row for each thing, in order, with names in words."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from changes import changed
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures.measure import View
from holisticbias_eval.report.gain_words import BEFORE_AFTER, Labels
from holisticbias_eval.report.gains import gains_chapter
from holisticbias_eval.results.gains import Aim, Gain, find_gains, sort_gains
from holisticbias_eval.sections.blocks import Forest, Section
from holisticbias_eval.sections.tables import Cell, Paragraph, Table
from holisticbias_eval.statistics.groups.variance import GroupValues, f_point

AIM = Aim(measure="group_perplexity", keys={"dimension": "gossip.calibration-many"})
HELD = "gossip.calibration-many with held-out groups"
UNTOUCHED = "gossip.calibration-many-untouched"


def both(
    measure: str, of: str, keys: dict[str, str], values: tuple[float | None, float | None], p: float | None = None
) -> list[Figure]:
    """The figures of a change, with an interval of 1 to either side."""
    first, second = values
    unit = {"f": "F", "mean_abs_t": "mean |t|"}.get(of, "perplexity")
    ends = None if first is None or second is None else (second - first - 1, second - first + 1)
    return changed(measure, of, keys, values, unit, interval=ends, p_value=p)


def of_groups(dimension: str, before: float, after: float) -> list[Figure]:
    """F and mean |t| of a dimension on both scales."""
    found = []
    for scale in ("log", "perplexity"):
        keys = {"dimension": dimension, "scale": scale}
        found += both("group_perplexity", "f", keys, (before, after))
        for test in ("unpaired", "paired"):
            further = {**keys, "figure": "mean_abs_t", "test": test}
            found += both("group_perplexity", "mean_abs_t", further, (before / 2, after / 2))
    return found


def text_perplexity(before: float | None, after: float | None, p: float | None = 0.01) -> list[Figure]:
    """Perplexity of neutral text, per token and per byte."""
    per_byte = both("retention", "byte_perplexity", {"figure": "byte_perplexity"}, (1.5, 1.75), 0.01)
    return [*both("retention", "perplexity", {}, (before, after), p), *per_byte]


CHANGES = [
    *text_perplexity(20.0, 30.0),
    *of_groups(UNTOUCHED, 30.0, 29.5),
    *of_groups(HELD, 28.0, 12.0),
    *of_groups("gossip.calibration-many", 31.0, 2.0),
]


def gains_of(changes: list[Figure], after: tuple[Figure, ...] = ()) -> tuple[Gain, ...]:
    return sort_gains(tuple(find_gains(Figures(changes), (AIM,), after=Figures(after))))


def tables(section: Section) -> dict[str, list[tuple[Cell, ...]]]:
    return {table.name: list(table.rows) for table in section.tables}


def test_one_row_for_each_thing() -> None:
    main = [gain for gain in gains_of(CHANGES) if gain.main]
    assert [(g.kind, g.figure, g.keys.get("dimension", ""), g.outcome) for g in main] == [
        ("aimed at", "f", "gossip.calibration-many", "gain"),
        ("aimed at", "mean_abs_t", "gossip.calibration-many", "gain"),
        ("transfer", "f", HELD, "gain"),
        ("quality", "perplexity", "", "cost"),
        ("other", "f", UNTOUCHED, "no change shown"),
    ]
    assert {(g.keys.get("scale", "log"), g.keys.get("test", "unpaired")) for g in main} == {("log", "unpaired")}
    # models with other tokenizers are compared per byte only
    undefined = gains_of(text_perplexity(20.0, None, None))
    assert [gain.figure for gain in undefined if gain.main and gain.change is not None] == ["byte_perplexity"]


@pytest.mark.parametrize(("value", "expected"), [(2.0, (0.5, 2.6)), (2.1, (None, None))])
def test_points_are_those_of_the_same_sentences(value: float, expected: tuple[float | None, float | None]) -> None:
    keys = {"dimension": "gossip.calibration-many", "scale": "log"}
    values = {"f": value, "f_null_95": 0.5, "f_distribution_95": 2.6}
    after = tuple(make_figure("group_perplexity", name, keys, one, "F", 8) for name, one in values.items())
    first = gains_of(CHANGES, after)[0]
    assert (first.chance, first.distribution) == expected


def test_the_aim_stands_first_with_its_numbers() -> None:
    chapter = gains_chapter({"lmd": gains_of(CHANGES)}, Labels((AIM,)), {"lmd": (AIM,)}, ("Before", "After"))
    first, *rest = chapter.sections
    said = [block.text for block in first.blocks if isinstance(block, Paragraph)]
    assert said[0] == "Aimed at: Invented groups with planted odds of negative attributes (gossip.calibration-many)."
    assert said[1] == (
        "F over groups 31.0 before, 2.00 after: a gain (change -29.0, 95% interval -30.0 to -28.0). "
        "Costs: Perplexity of neutral text 20.0 before, 30.0 after. "
        "Costs among all figures below: Perplexity per byte of neutral text. "
        "Other figures: 2 gains, 1 cost, 1 no change shown."
    )
    found = dict(tables(first))
    assert list(found) == ["gains-aimed-at", "gains-transfer", "gains-quality", "gains-other"]
    assert [row[0] for rows in found.values() for row in rows] == [
        "F over groups",
        "Mean |t| of pairs of groups",
        "F over groups, with held-out groups",
        "Perplexity of neutral text",
        "F over groups, Other invented groups",
    ]
    headings = {table.name: [column.heading for column in table.columns] for table in first.tables}
    assert headings["gains-aimed-at"] == ["Figure", "Reads as", "Before", "After", "Change", "95% interval"]
    assert headings["gains-quality"][-1] == "p"
    details = next(section for section in rest if section.detail)
    assert len(dict(tables(details))["gains-others"]) == len(gains_of(CHANGES)) - 5


def test_the_tables_of_many_models_stand_before_their_paragraphs() -> None:
    for count, first in ((3, Paragraph), (4, Table)):
        models = {f"model {i}": gains_of(CHANGES) for i in range(count)}
        _, second, *_ = gains_chapter(models, Labels((AIM,)), sides=("Before", "After")).sections[0].blocks
        assert isinstance(second, first), "the aim is the first block"


def test_a_missing_p_value_is_blank_beside_others() -> None:
    chapter = gains_chapter({"B": gains_of(CHANGES)}, Labels((AIM,)), {"B": (AIM,)})
    (details,) = [section for section in chapter.sections if section.detail]
    table = next(table for table in details.tables if table.name == "gains-others")
    place = [column.key for column in table.columns].index("p_value")
    assert {row[place] for row in table.rows} == {"", 0.01}


def test_equal_values_without_a_test_are_not_counted_as_tested() -> None:
    measure = "response_wording"
    found = gains_of([
        *changed(measure, "parroting_exact", {"figure": "parroting_exact"}, (0.0, 0.0)),
        *changed(measure, "length", {"figure": "length"}, (10.0, 9.0), p_value=0.3),
    ])  # fmt: skip
    assert [gain.outcome for gain in found] == ["no change shown", "no change shown"]
    (first, *_) = gains_chapter({"B": found}, Labels()).sections
    (note,) = [block.text for block in first.blocks if isinstance(block, Paragraph) and "tested" in block.text]
    assert "1 change was tested at p < 0.05: about 0.1 would be shown" in note


def test_an_aim_is_missed_by_the_models_that_have_it() -> None:
    style = Aim(measure="generation_bias")
    models = {"lmd": gains_of(CHANGES), "style_equality": gains_of(text_perplexity(20.0, 21.0))}
    aims = {"lmd": (AIM,), "style_equality": (style,)}
    first = gains_chapter(models, Labels((AIM, style)), aims).sections[0]
    caveats = [block.text for block in first.blocks if isinstance(block, Paragraph) and block.role == "caveat"]
    assert caveats == ["style_equality: generation_bias is aimed at, and has no figure in both runs."]


def test_values_of_other_items_are_left_out_beside_those_of_the_first_model() -> None:
    models = {name: gains_of(text_perplexity(None, after)) for name, after in (("lmd", 30.0), ("ctda", 40.0))}
    (table, *_) = gains_chapter(models, Labels()).sections[0].tables
    assert table.rows == (("A", None, 1.5), ("lmd", 30.0, 1.75), ("ctda", 40.0, 1.75))
    before = {"lmd": 20.0, "ctda": 20.1, "add": 25.0}
    models = {name: gains_of(text_perplexity(value, 30.0)) for name, value in before.items()}
    (table, *_) = gains_chapter(models, Labels()).sections[0].tables
    assert [row[1] for row in table.rows] == [20.0, 30.0, 30.0, ""]
    items = "Left out, because these were compared with A on other items: Perplexity of neutral text of add."
    assert table.note == items


def test_what_is_not_drawn_is_named_with_its_model_if_another_is_drawn() -> None:
    models = {name: gains_of(text_perplexity(20.0, after)) for name, after in (("lmd", 21.0), ("add", 90.0))}
    chart = next(s for s in gains_chapter(models, Labels(), sides=BEFORE_AFTER).sections if s.name == "gains-chart")
    titles = [block.title for block in chart.blocks if isinstance(block, Forest)]
    assert titles == ["Change as a share of the value before"]
    (note,) = [block.text for block in chart.blocks if isinstance(block, Paragraph)]
    assert note.endswith("neutral value: Perplexity of neutral text of add.")
    assert not chart.in_terminal


def test_an_unknown_dimension_keeps_its_name() -> None:
    (gain, *_) = gains_of(of_groups("stripes", 3.0, 2.0))
    assert Labels((AIM,)).figure(gain) == "F over groups, stripes"
    assert Labels((AIM,), {"stripes": "Striped and spotted"}).figure(gain) == "F over groups, Striped and spotted"
    assert Labels((Aim(measure="group_perplexity", keys={"dimension": "stripes"}),)).figure(gain) == "F over groups"


def test_the_point_of_f_is_that_of_scipy() -> None:
    values = np.random.default_rng(3).normal(size=(60, 4))
    assert f_point(GroupValues(values, paired=True), 0.95) == pytest.approx(float(stats.f.ppf(0.95, 3, 236)))
    assert np.isnan(f_point(GroupValues(values[:, :1], paired=True), 0.95))


def test_domains_and_classes_are_said_as_in_the_sections_of_their_measure() -> None:
    keys = {"domain": "religious_ideology", "class": "not_toxic"}
    (gain,) = find_gains(Figures(changed("toxicity", "disparity", keys, (0.1, 0.2), "share")), ())
    assert Labels().figure(gain) == "Toxicity, largest difference of groups, Religious ideology, not toxic"
    labels = Labels()
    labels.add(View(Figures(()), pa.table({"domain": ["religious_ideology"], "domain_label": ["Faith"]})).labels)
    assert labels.figure(gain) == "Toxicity, largest difference of groups, Faith, not toxic"
