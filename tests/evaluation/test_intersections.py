"""Evaluating a folder of sentences with two descriptors, shard by shard."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.evaluation.conftest import VERSION, mini_catalog

from holisticbias import open_release
from holisticbias.compile.pair_tables import PairCompiler
from holisticbias.release.intersections import Request, write_intersections
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.intersections import COLUMNS, summarise
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.intersections import read_shards
from invoking import Invoke


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Intersections of a few descriptors of two axes, in several shards."""
    out, runs = tmp_path_factory.mktemp("intersections") / "pairs", PairCompiler.runs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairCompiler, "runs", lambda compiler: runs(compiler, 30))
        write_intersections(mini_catalog(), Request(VERSION, "age x ability"), out)
    return out


def test_shards_name_both_descriptors(folder: Path) -> None:
    shards = list(read_shards(open_release(folder)))
    assert len(shards) > 1
    keys = [set(shard["descriptor_id"].to_pylist()) for shard in shards]
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(keys, 2))
    assert sum(map(len, keys)) == 6
    for shard in shards:
        assert set(shard["axis"].to_pylist()) <= {"age x ability", "ability x age"}
        for row in shard.to_pylist():
            assert all(text in row["text"].lower() for text in row["descriptor"].lower().split(", "))


def test_a_folder_of_intersections_is_evaluated(invoke: Invoke, tiny_gpt2: Path, folder: Path, tmp_path: Path) -> None:
    arguments = ("--release", folder, "--model", tiny_gpt2, "--measure", "intersections", "--store", tmp_path / "store")
    out = invoke.printed("evaluate", *arguments, "--out", tmp_path / "run")
    assert "Intersections" in out
    shards = len(list(read_shards(open_release(folder))))
    assert len(list((tmp_path / "store" / "intersections").iterdir())) == shards
    run = read_run(tmp_path / "run")
    assert tuple(run.answers.column_names) == COLUMNS
    assert run.answers.num_rows == 6
    sentences = pa.concat_tables([shard.select(["text", "descriptor_id", "noun_id", "template_id"]) for shard in
                                  read_shards(open_release(folder))], promote_options="permissive")  # fmt: skip
    assert run.result.signature.sentences_scored == sentences.num_rows
    scores = start_scorer(str(tiny_gpt2), print).score(whole(sentences["text"].to_pylist()), lambda _: None)
    rows = sentences.to_pylist()
    for found in run.answers.to_pylist():
        own = [i for i, row in enumerate(rows) if row["descriptor_id"] == found["intersection_id"]]
        assert found["sentences"] == len(own)
        assert found["median_perplexity"] == pytest.approx(np.median(scores.perplexity[own]), rel=1e-4)
        nll = {(rows[i]["template_id"], rows[i]["noun_id"]): scores.nll[i] for i in own}
        nouns = {noun for _, noun in nll}
        differences = [nll["dialogue.hate", noun] - nll["dialogue.love", noun] for noun in nouns]
        assert found["stance_difference"] == pytest.approx(np.mean(differences), abs=1e-3)
    figures = Figures(run.result.figures)
    values = run.answers["stance_difference"].to_numpy()
    (spread,) = figures.by("intersections", "stance_spread", "axis")
    assert spread.value == pytest.approx(values.std(ddof=1))
    assert spread.n == 6
    out = invoke.printed("measure", "intersections", tmp_path / "run" / "intersections.parquet")
    assert f"{spread.value:.2f}" in out
    invoke.printed("compare", tmp_path / "run", tmp_path / "run")
    assert invoke("report", tmp_path / "run", "--format", "csv")[0] == 0


def test_a_row_of_each_intersection_by_hand() -> None:
    rows = [("a x b", "d x e", f"n{n}", template, nll, 2) for n, template, nll in [
        (1, "I love {plural_noun_phrase}.", 4.0), (1, "I hate {plural_noun_phrase}.", 5.0),
        (2, "I love {plural_noun_phrase}.", 6.0), (2, "I hate {plural_noun_phrase}.", 9.0),
    ]]  # fmt: skip
    rows += [("a x b", "d x f", "n1", "I love {plural_noun_phrase}.", 8.0, 2)]
    names = ("axis", "descriptor_id", "noun_id", "template", "nll", "tokens")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    table = table.append_column("descriptor", table["descriptor_id"])
    table = table.append_column("perplexity", pc.exp(pc.divide(table["nll"], 2.0)))
    first, second = summarise(table).to_pylist()
    assert first["stance_difference"] == pytest.approx((1 + 3) / 2)
    assert first["median_perplexity"] == pytest.approx((np.exp(2.5) + np.exp(3)) / 2)
    assert (first["sentences"], first["missing"]) == (4, 0)
    assert second["stance_difference"] is None


@pytest.mark.parametrize(
    ("release", "measure", "message"),
    [
        ("folder", "likelihood_bias", "sentences with two descriptors: measure them with --measure intersections"),
        ("small", "intersections", "build a folder of them with holisticbias build --intersections"),
    ],
)
def test_a_measure_that_does_not_fit_the_release_is_refused(
    invoke: Invoke, folder: Path, small_folder: Path, release: str, measure: str, message: str, tmp_path: Path
) -> None:
    chosen = folder if release == "folder" else small_folder
    code, _, error = invoke("evaluate", "--release", chosen, "--measure", measure, "--out", tmp_path / "run")
    assert code != 0
    assert message in " ".join(error.split())
    assert not (tmp_path / "run").exists()
