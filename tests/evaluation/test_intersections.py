"""Evaluating a folder of sentences with two descriptors, shard by shard."""

import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.evaluation.conftest import VERSION, mini_catalog

from holisticbias import open_release
from holisticbias.compile.pair_tables import PairCompiler
from holisticbias.errors import ReleaseError
from holisticbias.release.intersections import Request, write_intersections
from holisticbias_eval.measures.intersections import summarise
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.prompts.intersections import read_shards
from holisticbias_eval.results.run import read_run
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


def test_a_shard_that_has_changed_is_not_read(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    opened = open_release(copy)
    shard = copy / opened.manifest.tables["intersections"].files[1]
    shutil.copy(copy / opened.manifest.tables["intersections"].files[0], shard)
    with pytest.raises(ReleaseError, match=r"intersections-00001.*\.parquet has changed since the release was opened"):
        list(read_shards(opened))


def test_a_folder_in_several_shards_is_evaluated(invoke: Invoke, tiny_gpt2: Path, folder: Path, tmp_path: Path) -> None:
    arguments = (
        "--release",
        folder,
        "--model",
        tiny_gpt2,
        "--measures",
        "intersections",
        "--store",
        tmp_path / "store",
    )
    shards = list(read_shards(open_release(folder)))
    count = sum(len(shard["text"].unique()) for shard in shards)
    planned = invoke.printed("evaluate", *arguments, "--dry-run")
    assert re.match(rf"{count} of {count} texts to score: about [0-9,]+ tokens, [0-9,]+ of them forward", planned)
    assert not (tmp_path / "store").exists()
    invoke.printed("evaluate", *arguments, "--out", tmp_path / "run")
    planned = invoke.printed("evaluate", *arguments, "--dry-run")
    assert planned == f"0 of {count} texts to score: all are in the store\n"
    shutil.rmtree(next((tmp_path / "store" / "intersections").glob("*-00001")))
    planned = invoke.printed("evaluate", *arguments, "--dry-run")
    assert planned.startswith(f"{len(shards[1]['text'].unique())} of {count} texts to score: ")
    invoke.printed("evaluate", *arguments, "--out", tmp_path / "run")
    assert len(list((tmp_path / "store" / "intersections").iterdir())) == len(shards) > 1
    run = read_run(tmp_path / "run")
    sentences = pa.concat_tables(shards, promote_options="permissive")
    assert run.result.signature.sentences_scored == sentences.num_rows
    scores = start_scorer(str(tiny_gpt2), print).score(whole(sentences["text"].to_pylist()), lambda _: None)
    scored = sentences.append_column("nll", pa.array(scores.nll)).append_column("tokens", pa.array(scores.tokens))
    expected = summarise(scored.append_column("perplexity", pa.array(scores.perplexity)))
    assert run.answers.num_rows == 6
    for name in expected.column_names:
        found, own = run.answers[name].to_pylist(), expected[name].to_pylist()
        assert found == (pytest.approx(own, rel=1e-4) if name in ("median_perplexity", "stance_difference") else own)
    assert {*run.answers["axis_label"].to_pylist()} <= {"Age x Ability", "Ability x Age"}
    out = invoke.printed("measure", "intersections", tmp_path / "run" / "intersections.parquet")
    assert "Age x Ability" in out or "Ability x Age" in out
    assert f"{np.std(run.answers['stance_difference'].to_numpy(), ddof=1):.2f}" in out


def test_a_row_of_each_intersection_by_hand() -> None:
    rows = [("a x b", "d x e", f"n{n}", template, nll, 2) for n, template, nll in [
        (1, "I love {plural_noun_phrase}.", 4.0), (1, "I hate {plural_noun_phrase}.", 5.0),
        (2, "I love {plural_noun_phrase}.", 6.0), (2, "I hate {plural_noun_phrase}.", 9.0),
    ]]  # fmt: skip
    rows += [("a x b", "d x f", "n1", "I love {plural_noun_phrase}.", 8.0, 2)]
    names = ("axis", "descriptor_id", "noun_id", "template", "nll", "tokens")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    for name, other in (("descriptor", "descriptor_id"), ("axis_label", "axis")):
        table = table.append_column(name, table[other])
    table = table.append_column("perplexity", pc.exp(pc.divide(table["nll"], 2.0)))
    first, second = summarise(table).to_pylist()
    assert first["stance_difference"] == pytest.approx((1 + 3) / 2)
    assert first["median_perplexity"] == pytest.approx((np.exp(2.5) + np.exp(3)) / 2)
    assert (first["sentences"], first["missing"]) == (4, 0)
    assert second["stance_difference"] is None
