import csv
import hashlib
import itertools
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.stats import mannwhitneyu

from holisticbias_eval.arrays import Floats
from holisticbias_eval.evaluating import uses_of
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.results.run import read_run
from holisticbias_eval.settings import flag_of
from invoking import Invoke
from known import known
from row_files import write_table

SCOPES = {("axis",): "by_axis", ("template",): "by_template", ("axis", "template"): "by_axis_and_template"}
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
        p: Floats = mannwhitneyu(first, second, axis=1).pvalue
        for pair, significant in zip(pairs, p < 0.05, strict=True):
            keys = {"by_axis": (axis,), "by_template": (template,), "by_axis_and_template": (axis, template)}
            for name, key in {**keys, "by_pair": (axis, *pair)}.items():
                groups[name][key].append(int(significant))
    return {name: {key: sum(v) / len(v) for key, v in group.items()} for name, group in groups.items()}


def shares(figures: Figures) -> dict[str, dict[tuple[str, ...], float | None]]:
    """The shares, grouped as ``published_shares`` groups them."""
    found = {scope: figures.by("likelihood_bias", "share", *keys) for keys, scope in SCOPES.items()}
    return {scope: {tuple(figure.keys.values()): figure.value for figure in each} for scope, each in found.items()}


def pair_shares(folder: Path) -> dict[tuple[str, ...], float | None]:
    rows = pq.read_table(folder / "pairs.parquet").to_pylist()
    return {(row["axis"], row["first"], row["second"]): row["share"] for row in rows}


@pytest.mark.parametrize(
    ("seed", "nouns", "digits", "suffix"),
    [(1, 30, 0, ".csv"), (2, 8, 9, ".parquet"), (4, 12, 0, ".parquet"), (6, 8, 1, ".parquet"), (7, 5, 1, ".csv")],
)
def test_shares_equal_the_published_procedure(
    tmp_path: Path, invoke: Invoke, seed: int, nouns: int, digits: int, suffix: str
) -> None:
    scores = random_scores(seed, nouns, digits)
    path = write_table(tmp_path / f"scores{suffix}", scores)
    figures = invoke.figures("measure", "likelihood_bias", path, "--no-trust", "--out", tmp_path / "out")
    expected = published_shares(scores)
    assert pair_shares(tmp_path / "out") == expected.pop("by_pair")
    assert shares(figures) == expected


def test_files_out(tmp_path: Path, invoke: Invoke) -> None:
    scores = random_scores(0, 30, 6)
    path, out = write_table(tmp_path / "scores.parquet", scores), tmp_path / "new" / "out"
    for _ in range(2):
        said = invoke.printed("measure", "likelihood_bias", path, "--out", out)
        assert "Likelihood Bias of scores.parquet" in said
    assert {p.name for p in out.iterdir()} == {"figures.csv", "measurement.json", "pairs.parquet", "tests.parquet"}
    measured = json.loads((out / "measurement.json").read_text("utf-8"))
    figures = tuple(Figure.model_validate(figure) for figure in measured["figures"])
    assert measured["scores_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    with (out / "figures.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:2] == ["measure", "name"]
    assert [(r["name"], r["axis"], r["template"], r["value"]) for r in rows] == [
        (f.name, f.keys.get("axis", ""), f.keys.get("template", ""), "" if f.value is None else str(f.value))
        for f in figures
    ]


@pytest.mark.parametrize("measure", ["offensiveness", "generation_bias", "response_wording"])
def test_a_descriptor_without_an_id_has_its_text(tmp_path: Path, invoke: Invoke, measure: str) -> None:
    row = {"axis": "a", "template": "t", "response": "hi", "offensive": 0.1, "p:joy": 0.5, "p:sad": 0.5}
    named: list[dict[str, str | None]] = [
        {"descriptor": "x", "descriptor_id": "a.x"}, {"descriptor": "y", "descriptor_id": None}
    ]  # fmt: skip
    table = tmp_path / "responses.jsonl"
    table.write_text("".join(json.dumps({**row, **names}) + "\n" for names in named * 2), "utf-8")
    found = {f.keys["descriptor"] for f in invoke.figures("measure", measure, table) if "descriptor" in f.keys}
    assert found == {"a.x", "y"}


def test_missing_perplexities_are_counted(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "scores.csv"
    lines = [f"age,t,{d},n{n},{v}" for d, v in (("young", "NaN"), ("old", "3"), ("null", "4")) for n in range(3)]
    path.write_text("axis,template,descriptor,noun,perplexity\n" + "\n".join([*lines, "age,t,old,n3,"]) + "\n", "utf-8")
    figures = invoke.figures("measure", "likelihood_bias", path, "--out", tmp_path / "out")
    share = known(figures.get("likelihood_bias", "share", {"axis": "age"}))
    assert (share.value, share.n, share.missing) == (1.0, 1, 2)
    assert figures.value("likelihood_bias", "descriptors", {"axis": "age"}) == 3
    assert pair_shares(tmp_path / "out") == {
        ("age", "null", "old"): 1.0,  # ties go to the normal approximation: p = 0.047
        ("age", "null", "young"): None,
        ("age", "old", "young"): None,
    }


def test_a_noun_that_stands_twice_leaves_the_shares_and_says_so(tmp_path: Path, invoke: Invoke) -> None:
    scores = pa.concat_tables([random_scores(0, 5, 6), random_scores(1, 5, 6)])
    path = write_table(tmp_path / "scores.parquet", scores)
    figures = invoke.figures("measure", "likelihood_bias", path)
    assert all(figure.interval is None for figure in figures)
    assert "a noun occurs twice with one descriptor" in invoke("measure", "likelihood_bias", path)[2]
    assert shares(figures)["by_axis"] == published_shares(scores)["by_axis"]


def test_infinite_perplexities_have_a_rank_and_no_distance(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "scores.csv"
    lines = [f"age,t,{d},n{n},{v}" for d, v in (("a", 1), ("b", "inf")) for n in range(9)]
    path.write_text("axis,template,descriptor,noun,perplexity\n" + "\n".join([*lines, ""]), "utf-8")
    invoke.printed("measure", "likelihood_bias", path, "--out", tmp_path / "out")
    (pair,) = pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    assert (pair["share"], pair["rank_biserial"], pair["nats"], pair["paired_share"]) == (1.0, -1.0, None, None)


def test_a_run_measured_as_a_table_is_the_run(tiny_run: Path, invoke: Invoke) -> None:
    result = read_run(tiny_run).result
    for name in result.signature.measures:
        found = invoke.figures("measure", name, tiny_run / "scores.parquet")
        assert list(found) == [figure for figure in result.figures if figure.measure == name]


def test_a_default_is_said_once(invoke: Invoke) -> None:
    said = invoke.printed("measures", "toxicity").split("\n  --")
    assert [part for part in said if "(default:" in part and "Default:" in part] == []
    assert any(part.startswith("threshold") and "Default: the classifier's" in part for part in said)


def test_measures_are_listed_with_their_settings_and_defaults(invoke: Invoke) -> None:
    every = " ".join(invoke.printed("measures").split())
    for name, measure in MEASURES.items():
        assert name == measure.info.name
        assert f"{name}: {measure.info.title}" in every
        assert f"source: {measure.info.source}" in every
        said = invoke.printed("measures", name)
        assert said.startswith(f"{name}: {measure.info.title}\n")
        assert "or in a recipe." in said
        options = [line.split()[0].strip(",") for line in said.splitlines() if line.startswith("  --")]
        assert sorted(options) == sorted({*options})
        for use in uses_of(name):
            for field in use.names:
                info = use.settings.model_fields[field]
                assert flag_of(use.settings, field) in said
                unsaid = (
                    isinstance(info.default, bool) or info.default in (None, ()) or "Default:" in f"{info.description}"
                )
                assert unsaid or f"(default: {info.default})" in said
    said = " ".join(invoke.printed("measures", "generation_bias").split())
    device = "--device (default: auto), without --responses, with --engine local or ray; or with a --classifier of "
    assert device in said
    assert "--store, without --no-store Folder" in said
