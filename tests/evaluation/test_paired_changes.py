"""Changes of offensiveness, of distinct words and of disparities, paired by response or item."""

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.changes import group_changes
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.offensiveness import Offensiveness
from holisticbias_eval.measures.response_wording import compare_wordings
from holisticbias_eval.measures.toxicity import Toxicity
from holisticbias_eval.sections.tables import Table
from holisticbias_eval.statistics.words import distinct_of_counts, distinct_without_blocks, expected_distinct
from known import known


def responses(texts: list[str], offensive: list[float] | None = None) -> pa.Table:
    n = len(texts)
    columns = {
        "response_id": [str(i) for i in range(n)], "axis": ["x", "y"] * (n // 2), "template": ["t"] * n,
        "descriptor": ["one"] * n, "prompt": ["Hi there."] * n, "response": texts, "finish": ["stop"] * n,
    }  # fmt: skip
    return pa.table({**columns, **({"offensive": offensive} if offensive else {})})


def get(changes: Figures, measure: str, keys: dict[str, str], name: str = "change") -> Figure:
    return known(changes.get(measure, name, keys))


def width(figure: Figure) -> float:
    interval = known(figure.interval)
    return interval.high - interval.low


def test_offensiveness_by_hand() -> None:
    first = responses(list("abcdefgh"), [0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.1, 0.1])
    second = responses(list("abcdefgh"), [0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9])
    changes = Figures(Offensiveness().compare(*(View(Figures(()), table) for table in (first, second))))
    # 3 of 8 before, 2 of 8 after: differences -1, -1, +1 and five zeros
    whole = get(changes, "offensiveness", {})
    assert whole.value == pytest.approx(-1 / 8)
    differences = np.array([0, 0, -1, 0, -1, 0, 0, 1.0])
    error = differences.std(ddof=1) / np.sqrt(8)
    assert width(whole) == pytest.approx(2 * 2.3646243 * error), "t of 7 degrees of freedom"
    assert get(changes, "offensiveness", {"axis": "x"}).value == pytest.approx(-2 / 4)
    assert get(changes, "offensiveness", {"axis": "y"}).value == pytest.approx(1 / 4)
    assert get(changes, "offensiveness", {"figure": "mean"}).value == pytest.approx(-0.1)


@pytest.mark.parametrize(("texts", "before", "after"), [("abcdefgh", 0.25, 0.375), ("abcdefghij", 0.1, 0.4)])
def test_where_every_response_changes_alike_there_is_no_interval(texts: str, before: float, after: float) -> None:
    tables = [responses(list(texts), [value] * len(texts)) for value in (before, after)]
    changes = Figures(Offensiveness().compare(*(View(Figures(()), table) for table in tables)))
    for keys, value in (({}, 0), ({"figure": "mean"}, after - before)):
        change = get(changes, "offensiveness", keys)
        assert change.value == pytest.approx(value)
        assert (change.interval, change.p_value) == (None, None)


def test_distinct_words_without_a_block_are_those_of_the_rest() -> None:
    rng = np.random.default_rng(1)
    item, block = rng.integers(0, 40, 300), rng.integers(0, 5, 300)
    fast = distinct_without_blocks(item, block, 5, 40, 50)
    slow = [expected_distinct(np.zeros((block != b).sum(), int), item[block != b], 1, 50)[0] for b in range(5)]
    np.testing.assert_allclose(fast, slow)
    assert np.isnan(distinct_of_counts(np.array([3, 4]), 8))


METHOD = Toxicity.methods[0]


def texts(shares: dict[str, float], seed: int, n: int = 200) -> pa.Table:
    rng = np.random.default_rng(seed)
    rows = [(group, i, rng.random() < share) for group, share in shares.items() for i in range(n)]
    name = f"toxicity.{METHOD.name}"
    return pa.table(
        {
            "group": [g for g, _, _ in rows], "item": [f"{g}{i}" for g, i, _ in rows],
            name: [0.9 if toxic else 0.1 for _, _, toxic in rows],
            f"{name}.class": ["toxic" if toxic else "not toxic" for _, _, toxic in rows],
            f"{name}.why": pa.array([None] * len(rows), pa.string()),
        }
    )  # fmt: skip


def shares_of(table: pa.Table) -> dict[str, float]:
    """The share of toxic texts of each group."""
    rows = table.to_pylist()
    own = {g: [row[f"toxicity.{METHOD.name}.class"] == "toxic" for row in rows if row["group"] == g] for g in "ab"}
    return {group: sum(values) / len(values) for group, values in own.items()}


def test_a_smaller_disparity_shows() -> None:
    methods: tuple[TextMethod, ...] = (METHOD,)
    before, after = texts({"a": 0.5, "b": 0.1}, 0), texts({"a": 0.2, "b": 0.1}, 1)
    found = [f for f in group_changes("toxicity", methods, before, after, 0) if f.of == "disparity"]
    change = next(f for f in found if f.name == "change" and f.keys.get("class") == "toxic")
    values = {f.name: f.value for f in found if f.keys == change.keys}
    share = {name: shares_of(table) for name, table in (("first", before), ("second", after))}
    expected = {name: abs(own["a"] - own["b"]) for name, own in share.items()}
    assert values["first"] == pytest.approx(expected["first"])
    assert values["change"] == pytest.approx(expected["second"] - expected["first"])
    assert known(change.interval).high < 0
    assert known(change.p_value) < 0.001
    # the standard error of a difference of two differences of shares of 200 texts each
    error = np.sqrt(sum(p * (1 - p) / 200 for own in share.values() for p in own.values()))
    assert width(change) / 3.92 == pytest.approx(error, rel=0.15)


def test_responses_without_ids_are_compared_by_their_shares() -> None:
    table = responses(["a"] * 8, [0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.1, 0.1]).drop_columns(["response_id"])
    measure = MEASURES["offensiveness"]
    view = View(Figures(measure.figures(table, MeasureSettings()).figures), table)
    change = get(Figures(measure.compare(view, view)), "offensiveness", {"axis": "x"})
    assert (change.value, change.interval) == (0, None)


def test_fewer_distinct_words_show() -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(300)])
    varied = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    poorer = [" ".join(rng.choice(words[:100], 12)) for _ in range(200)]
    again = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    key = {"figure": "distinct_1"}
    lower = get(Figures(compare_wordings(responses(varied), responses(poorer), ())), "response_wording", key)
    same = get(Figures(compare_wordings(responses(varied), responses(again), ())), "response_wording", key)
    assert known(lower.value) < -0.2
    assert known(lower.interval).high < 0
    assert known(same.interval).low < 0 < known(same.interval).high


def test_the_jackknife_of_few_responses_leaves_out_one_at_a_time() -> None:
    rng = np.random.default_rng(0)
    runs = [
        [" ".join(f"w{i}" for i in rng.integers(0, most, 200)) for most in mosts] for mosts in ((90, 99, 60, 80),) * 2
    ]
    one, other = (responses([*texts[:2], "", "", *texts[2:]]) for texts in runs)  # two have no words in either run
    change = get(Figures(compare_wordings(one, other, ())), "response_wording", {"figure": "distinct_1"})
    moved = []
    for left_out in range(4):
        counts = [np.unique(" ".join(t for i, t in enumerate(run) if i != left_out).split(), return_counts=True)[1]
                  for run in runs]  # fmt: skip
        before, after = (distinct_of_counts(count, 500) / 500 for count in counts)
        moved.append(after - before)
    error = np.sqrt(3 / 4 * ((np.array(moved) - np.mean(moved)) ** 2).sum())
    assert width(change) == pytest.approx(2 * 3.1824463 * error), "t of 3 degrees of freedom"


def test_p_values_of_offensiveness_are_called_corrected() -> None:
    tables = [responses(list("abcdefgh"), [0.9, 0.1, high, 0.1, 0.9, 0.1, 0.1, 0.2]) for high in (0.9, 0.1)]
    views = [View(Figures(()), table) for table in tables]
    changes = Figures(Offensiveness().compare(*views))
    (section,) = Offensiveness().compared_sections(changes, views[1])
    headings = [c.heading for block in section.blocks if isinstance(block, Table) for c in block.columns]
    assert "p (Holm)" in headings
