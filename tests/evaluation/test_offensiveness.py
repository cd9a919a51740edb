import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t

from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.sections.tables import Paragraph
from known import known

NAME = "offensiveness"
Row = tuple[str, str, str, float | None]
ROWS: list[Row] = [
    ("x", "t", "one", 0.1), ("x", "t", "one", 0.5), ("x", "t", "two", 0.6), ("x", "t", "two", 0.8),
    ("y", "t", "three", 0.1), ("y", "t", "three", None), ("x", "u", "one", 0.0), ("x", "u", "one", 0.2),
]  # fmt: skip


def table(rows: list[Row], column: str = "offensive") -> pa.Table:
    columns = [*zip(*rows, strict=True)]
    texts = dict(zip(("axis", "template", "descriptor"), columns, strict=False))
    return pa.table({**texts, column: pa.array(columns[3], pa.float64())})


def measure(answers: pa.Table, threshold: float = 0.5, name: str = NAME) -> Figures:
    return Figures(MEASURES[name].figures(answers, MeasureSettings(threshold=threshold)).figures)


def get(figures: Figures, name: str, **keys: str) -> Figure:
    return known(figures.get(NAME, name, keys))


@pytest.mark.parametrize(
    ("name", "keys", "value", "n", "missing"),
    [
        ("mean", {"axis": "x", "descriptor": "one", "template": "t"}, 0.3, 2, 0),
        ("mean", {"axis": "x", "descriptor": "one", "template": "u"}, 0.1, 2, 0),
        ("mean", {"axis": "x", "descriptor": "one"}, 0.2, 2, 0),  # two templates
        ("mean", {"axis": "y", "descriptor": "three"}, 0.1, 1, 0),
        ("mean", {"template": "t"}, (0.3 + 0.7 + 0.1) / 3, 3, 0),  # three descriptors
        ("mean", {"template": "u"}, 0.1, 1, 0),
        ("sd_over_descriptors", {"template": "t"}, float(np.std([0.3, 0.7, 0.1])), 3, 0),
        ("sd_over_descriptors", {"template": "u"}, None, 1, 0),
        ("share_offensive", {}, 3 / 7, 7, 1),  # 0.5 counts
        ("share_offensive", {"axis": "x"}, 0.5, 6, 0),
        ("share_offensive", {"axis": "y"}, 0.0, 1, 1),
        ("share_offensive", {"axis": "x", "descriptor": "one"}, 0.25, 4, 0),
        ("share_offensive", {"axis": "y", "descriptor": "three"}, 0.0, 1, 1),
    ],
)
def test_by_hand(name: str, keys: dict[str, str], value: float | None, n: int, missing: int) -> None:
    found = get(measure(table(ROWS)), name, **keys)
    assert found.value == pytest.approx(value)
    assert (found.n, found.missing) == (n, missing)


def test_standard_deviation_without_noise() -> None:
    """Variances within cells: 0.08, 0.02, and for the single response their pool 0.05."""
    found = get(measure(table(ROWS)), "sd_over_descriptors_corrected", template="t")
    noise = 2 / 3 * (0.04 + 0.01 + 0.05) / 3
    assert found.value == pytest.approx(np.sqrt(np.var([0.3, 0.7, 0.1]) - noise))
    assert found.of == "sd_over_descriptors"


def test_intervals_of_means() -> None:
    figures = measure(table(ROWS))
    cell = known(get(figures, "mean", axis="x", descriptor="two", template="t").interval)
    margin = t.ppf(0.975, 1) * np.sqrt(0.02 / 2)
    assert (cell.low, cell.high) == pytest.approx((max(0.7 - margin, 0), min(0.7 + margin, 1)))
    descriptor = known(get(figures, "mean", axis="x", descriptor="one").interval)
    freedom = (0.04 + 0.01) ** 2 / (0.04**2 + 0.01**2)  # Satterthwaite
    margin = t.ppf(0.975, freedom) * np.sqrt(0.04 + 0.01) / 2
    assert descriptor.high == pytest.approx(0.2 + margin)


@pytest.mark.parametrize(("texts", "said"), [(4, True), (5, False)])
def test_the_report_says_that_few_texts_make_intervals_too_narrow(texts: int, said: bool) -> None:
    answers = table([("x", "t", d, 0.1 * i) for d in ("one", "two") for i in range(texts)])
    sections = MEASURES[NAME].sections(View(measure(answers), answers))
    notes = [block.text for section in sections for block in section.blocks if isinstance(block, Paragraph)]
    assert any("intervals of means can be too narrow" in note for note in notes) == said


def test_interval_is_null_if_nothing_varies() -> None:
    figures = measure(table([("x", "t", "one", 0.3), ("x", "t", "one", 0.3), ("x", "t", "two", 0.3)]))
    assert get(figures, "mean", template="t").interval is None
    assert get(figures, "sd_over_descriptors", template="t").value == 0


@pytest.mark.parametrize(("threshold", "share"), [(0.0, 1.0), (0.51, 2 / 7), (1.0, 0.0)])
def test_threshold(threshold: float, share: float) -> None:
    assert get(measure(table(ROWS), threshold), "share_offensive").value == pytest.approx(share)
    assert MEASURES[NAME].signature(MeasureSettings(threshold=threshold))["threshold"] == f"{threshold:g}"


def test_tables_of_responses_and_of_prompts_have_different_names() -> None:
    """They stand on one page."""
    captions = []
    for name, column in ((NAME, "offensive"), ("prompt_offensiveness", "prompt_offensive")):
        answers = table(ROWS, column).append_column("prompt", pa.array([*"abcdefgh"]))
        view = View(measure(answers, name=name), answers)
        captions += [block.caption for section in MEASURES[name].sections(view) for block in section.tables]
    assert len({*captions}) == len(captions) == 8


def test_a_prompt_counts_once() -> None:
    rows: list[Row] = [*[("x", "t", "one", 0.2)] * 3, ("x", "t", "one", 0.6), ("x", "t", "two", 0.2)]
    answers = table(rows, "prompt_offensive").append_column("prompt", pa.array(["a", "a", "a", "b", "a"]))
    figures = measure(answers, name="prompt_offensiveness")
    mean = known(figures.get("prompt_offensiveness", "mean", {"axis": "x", "descriptor": "one", "template": "t"}))
    assert mean.value == pytest.approx(0.4)
    assert mean.n == 2
    share = known(figures.get("prompt_offensiveness", "share_offensive"))
    assert share.value == pytest.approx(1 / 3)
    assert share.n == 3


@pytest.mark.parametrize(("name", "column"), [(NAME, "offensive"), ("prompt_offensiveness", "prompt_offensive")])
def test_ids_tell_descriptors_of_one_text_apart(name: str, column: str) -> None:
    answers = table([("x", "t", "one", 0.1), ("x", "t", "one", 0.6)], column)
    more = {"descriptor_id": ["x.one", "x.a-one"], "prompt": ["I'm a one person.", "I'm a one."]}
    figures = measure(with_columns(answers, {key: pa.array(values) for key, values in more.items()}), name=name)
    means = figures.by(name, "mean", "axis", "descriptor")
    assert {figure.keys["descriptor"]: figure.value for figure in means} == {"x.one": 0.1, "x.a-one": 0.6}


def test_a_table_without_a_classifier_is_refused() -> None:
    with pytest.raises(SelectionError, match="no column offensive"):
        measure(table(ROWS, "other"))
