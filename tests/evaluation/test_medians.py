from __future__ import annotations

import itertools
import statistics

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.descriptors.terms import HATE, LOVE
from holisticbias_eval.measures.love_hate import measure_love_hate
from holisticbias_eval.statistics.medians import DESCRIPTOR, group_medians

Row = tuple[str, str, str, float | None, int]


def table(rows: list[Row]) -> pa.Table:
    axis, descriptor, template, perplexity, tokens = zip(*rows, strict=True)
    return pa.table(
        {
            "axis": axis,
            "descriptor_id": [f"{a}.{d}" for a, d in zip(axis, descriptor, strict=True)],
            "descriptor": descriptor,
            "template": template,
            "perplexity": pa.array(perplexity, pa.float64()),
            "tokens": pa.array(tokens, pa.int32()),
        }
    )


def random_rows(seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    cells = itertools.product((("age", "old"), ("age", "young"), ("nonce", "old")), (LOVE, HATE, "other"))
    rows: list[Row] = []
    for (axis, descriptor), template in cells:
        for _ in range(int(rng.integers(1, 8))):
            value = None if rng.random() < 0.2 else float(rng.integers(1, 20))
            rows.append((axis, descriptor, template, value, int(rng.integers(1, 9))))
    return [rows[i] for i in rng.permutation(len(rows))]


def test_love_hate_worked_by_hand() -> None:
    values: dict[tuple[str, str], list[float]] = {
        ("old", LOVE): [1, 2, 3, 4],  # the median of all eight is 4.5: all four lie below it
        ("young", LOVE): [5, 6, 7, 8],
        ("old", HATE): [1, 9, 9, 9],  # the median of all eight is 6: one of four, three of four
        ("young", HATE): [2, 3, 2, 9],
    }
    rows: list[Row] = [("age", d, t, float(v), 5) for (d, t), listed in values.items() for v in listed]
    rows.append(("nonce", "doff", "other", 1.0, 5))
    found = {
        r["descriptor"]: (r["love_share"], r["hate_share"], r["difference"])
        for r in measure_love_hate(table(rows)).to_pylist()
    }
    assert found == {"old": (1.0, 0.25, 0.75), "young": (0.0, 0.75, -0.75), "doff": (None, None, None)}


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_tables(seed: int) -> None:
    answers = table(random_rows(seed))
    figures = MEASURES["medians"].figures(answers, None).figures
    for by, keys in ((DESCRIPTOR, 2), ((*DESCRIPTOR, "template"), 3)):
        rows = group_medians(answers, by).to_pylist()
        for name, column, n in (
            ("median_perplexity", "median", lambda row: (row["sentences"], row["missing"])),
            ("median_tokens", "median_tokens", lambda row: (row["sentences"] + row["missing"], 0)),
        ):
            found = [f for f in figures if f.name == name and len(f.keys) == keys]
            assert [tuple(f.keys.values()) for f in found] == [tuple(row[key] for key in by) for row in rows]
            assert [f.value for f in found] == [row[column] for row in rows]
            assert [(f.n, f.missing) for f in found] == [n(row) for row in rows]
    differences = measure_love_hate(answers).to_pylist()
    found = [f for f in MEASURES["love_hate"].figures(answers, None).figures if f.name == "love_hate"]
    assert [(f.keys["descriptor"], f.value) for f in found] == [
        (r["descriptor_id"], r["difference"]) for r in differences
    ]


@pytest.mark.parametrize("seed", range(5))
def test_love_hate_equals_a_loop(seed: int) -> None:
    rows = random_rows(seed)
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
