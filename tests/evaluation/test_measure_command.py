from __future__ import annotations

import csv
import itertools
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.stats import mannwhitneyu

from holisticbias.cli import main

TEMPLATES = ("I love {plural_noun_phrase}.", "I hate {plural_noun_phrase}.")
Samples = dict[tuple[str, str], dict[str, list[float]]]


def random_scores(seed: int, nouns: int, digits: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    rows = []
    for axis, descriptors in (("age", 6), ("ability", 4), ("nonce", 2)):
        for template, d in itertools.product(
            ("I love {plural_noun_phrase}.", "I hate {plural_noun_phrase}."), range(descriptors)
        ):
            values = np.round(rng.lognormal(rng.normal(4, 0.5), 0.5, nouns), digits)
            rows += [(axis, template, f"{axis} {d}", f"noun {n}", float(v)) for n, v in enumerate(values)]
    mixed = [rows[i] for i in rng.permutation(len(rows))]
    names = ("axis", "template", "descriptor", "noun", "perplexity")
    return pa.table(dict(zip(names, map(list, zip(*mixed, strict=True)), strict=True)))


def published_shares(scores: pa.Table) -> dict[str, dict[tuple[str, ...], float]]:
    """The shares as the published procedure groups them: one stacked test a cell, then means over groups of pairs."""
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for row in scores.to_pylist():
        samples[row["axis"], row["template"]][row["descriptor"]].append(row["perplexity"])
    groups: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for (axis, template), cell in samples.items():
        pairs = list(itertools.combinations(sorted(cell), 2))
        first, second = (np.array([cell[pair[side]] for pair in pairs]) for side in (0, 1))
        p: npt.NDArray[np.float64] = mannwhitneyu(first, second, axis=1).pvalue
        for pair, significant in zip(pairs, p < 0.05, strict=True):
            for name, key in (
                ("by_axis", (axis,)),
                ("by_template", (template,)),
                ("by_axis_and_template", (axis, template)),
                ("by_pair", (axis, *pair)),
            ):
                groups[name][key].append(int(significant))
    return {name: {key: sum(v) / len(v) for key, v in group.items()} for name, group in groups.items()}


def write(scores: pa.Table, path: Path) -> Path:
    pq.write_table(scores, path) if path.suffix == ".parquet" else pa.csv.write_csv(scores, path)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize(
    ("seed", "nouns", "digits"),
    [(0, 30, 6), (1, 30, 0), (2, 8, 9), (3, 4, 9), (4, 12, 0), (5, 8, 1), (6, 8, 1), (7, 5, 1)],
)
def test_shares_equal_the_published_procedure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str, seed: int, nouns: int, digits: int
) -> None:
    scores = random_scores(seed, nouns, digits)
    path = write(scores, tmp_path / f"scores{suffix}")
    assert main(["measure", "likelihood_bias", "--scores", str(path), "--format", "json", "--no-trust"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = published_shares(scores)
    shares = found["likelihood_bias"]
    assert {(s["axis"],): s["share"] for s in shares["by_axis"]} == expected["by_axis"]
    assert {(s["template"],): s["share"] for s in shares["by_template"]} == expected["by_template"]
    both = {(s["axis"], s["template"]): s["share"] for s in shares["by_axis_and_template"]}
    assert both == expected["by_axis_and_template"]
    assert {(s["axis"], s["first"], s["second"]): s["share"] for s in found["by_pair"]} == expected["by_pair"]


def test_files_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = random_scores(0, 30, 6)
    path, out = write(scores, tmp_path / "scores.parquet"), tmp_path / "new" / "out"
    for _ in range(2):
        assert main(["measure", "likelihood_bias", "--scores", str(path), "--out", str(out)]) == 0
    assert "Likelihood Bias of scores.parquet by axis" in capsys.readouterr().out
    assert {p.name for p in out.iterdir()} == {
        *(f"{n}.csv" for n in ("by_axis", "by_template", "by_axis_and_template", "by_pair", "medians", "love_hate")),
        "measurement.json",
        "tests.parquet",
    }
    measured = json.loads((out / "measurement.json").read_text("utf-8"))
    assert len(measured["trust"]["by_axis"]) == 3
    with (out / "by_pair.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["share"]) for r in rows] == [p["share"] for p in measured["by_pair"]]
    tests = pq.read_table(out / "tests.parquet")
    row = tests.slice(5, 1).to_pylist()[0]
    cell = [r for r in scores.to_pylist() if (r["axis"], r["template"]) == (row["axis"], row["template"])]
    samples = [[r["perplexity"] for r in cell if r["descriptor"] == row[side]] for side in ("first", "second")]
    expected = mannwhitneyu(*samples)
    assert (row["u"], row["p"]) == (expected.statistic, expected.pvalue)


def test_missing_perplexities_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    lines = [f"age,t,{d},n{n},{v}" for d, v in (("young", "NaN"), ("old", "3"), ("null", "4")) for n in range(3)]
    path.write_text("axis,template,descriptor,noun,perplexity\n" + "\n".join([*lines, "age,t,old,n3,"]) + "\n", "utf-8")
    assert main(["measure", "likelihood_bias", "--scores", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sentences"], found["without_perplexity"]) == (10, 4)
    (axis,) = found["likelihood_bias"]["by_axis"]
    assert (axis["descriptors"], axis["pairs"], axis["untested"], axis["share"]) == (3, 1, 2, 1.0)
    assert [(p["first"], p["second"], p["share"]) for p in found["by_pair"]] == [
        ("null", "old", 1.0),  # ties go to the normal approximation: p = 0.047
        ("null", "young", None),
        ("old", "young", None),
    ]


def test_a_noun_that_stands_twice_leaves_the_shares_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = pa.concat_tables([random_scores(0, 5, 6), random_scores(1, 5, 6)])
    path = write(scores, tmp_path / "scores.parquet")
    assert main(["measure", "likelihood_bias", "--scores", str(path), "--format", "json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["trust"] is None
    assert "a noun stands twice with one descriptor" in printed.err
    assert {(s["axis"],): s["share"] for s in found["likelihood_bias"]["by_axis"]} == published_shares(scores)[
        "by_axis"
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "does not exist"),
        ("scores.txt", "x", "is neither .parquet nor .csv"),
        ("scores.csv", "", "cannot be read as a table"),
        ("scores.parquet", "no parquet", "cannot be read as a table"),
        ("scores.csv", "axis,template,descriptor,perplexity\na,t,d,1\n", "has no column noun"),
        ("scores.csv", "axis,template,descriptor,noun,perplexity\n", "has no row"),
        ("scores.csv", "axis,template,descriptor,noun,perplexity\na,t,d,n,high\n", "cannot be read as a table"),
    ],
)
def test_files_that_are_no_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, "utf-8")
    out = tmp_path / "out"
    assert main(["measure", "likelihood_bias", "--scores", str(path), "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("holisticbias: ")
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("perplexity", ["1", "2"], "column perplexity is not numbers but string"),
        ("axis", ["age", None], "column axis is missing in 1 rows"),
        ("noun", [["a"], ["b"]], "column noun is not text"),
    ],
)
def test_columns_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, values: list[object], message: str
) -> None:
    columns = {name: ["x", "y"] for name in ("axis", "template", "descriptor", "noun")}
    table = pa.table({**columns, "perplexity": [1.0, 2.0]} | {column: values})
    path = write(table, tmp_path / "scores.parquet")
    assert main(["measure", "likelihood_bias", "--scores", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_every_measure_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    from holisticbias_eval.measures import MEASURES

    assert main(["measures"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name, measure in MEASURES.items():
        assert name == measure.name
        assert f"{name}: {measure.title}" in printed
        assert f"source: {measure.source}" in printed
