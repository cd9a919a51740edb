"""The sentences of a run are the same for a release folder and for the compiled release, in every version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.cli import main
from holisticbias.compile.columns import decoded
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key
from holisticbias_eval.prompts.prompts import ScoredPrompts
from holisticbias_eval.prompts.seat import SEAT
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.results.run import read_run

VERSIONS = sorted((p.stem for p in (Path(__file__).resolve().parents[2] / "releases").glob("*.yaml")), key=version_key)
ASKED = (RELEASE_SENTENCES, SEAT)


def pairs(table: pa.Table, *columns: str) -> set[tuple[str | None, ...]]:
    """The distinct values of some columns, row by row."""
    distinct = decoded(table.select(columns)).group_by(list(columns)).aggregate([])
    return {tuple(row.values()) for row in distinct.to_pylist()}


def no_context(texts: Sequence[str]) -> list[str]:
    return [""] * len(texts)


@pytest.fixture(scope="module", params=VERSIONS)
def both(request: pytest.FixtureRequest, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> list[Release]:
    """The small subset of a version, compiled, and opened from its folder."""
    compiled = build_release(catalog, request.param, "small")
    folder = tmp_path_factory.mktemp("folder") / "release"
    write_release(compiled, folder)
    return [compiled, open_release(folder)]


def test_a_folder_has_the_types_of_the_compiled_release(both: list[Release]) -> None:
    compiled, opened = ({name: table.schema for name, table in r.tables.items()} for r in both)
    assert opened == compiled


@pytest.mark.parametrize("prompts", ASKED, ids=lambda prompts: prompts.name)
def test_a_folder_is_asked_the_same(both: list[Release], prompts: ScoredPrompts) -> None:
    compiled, opened = (prompts.ask(release, no_context) for release in both)
    assert opened.sentences.num_rows
    assert decoded(opened.sentences).equals(decoded(compiled.sentences))
    assert list(opened.together.text) == list(compiled.together.text)
    entries = both[0].tables
    assert pairs(opened.sentences, "axis", "axis_label") == pairs(entries["descriptors"], "axis", "axis_label")
    if "paraphrase_of" in opened.sentences.column_names:
        wordings = ("template_id", "paraphrase_of")
        assert pairs(opened.sentences, *wordings) == pairs(entries["templates"], *wordings)


def test_a_folder_of_the_newest_version_is_evaluated(tiny_gpt2: Path, tmp_path: Path) -> None:
    part = ("--where", "axis=nonce", "--where", "gender=nonbinary")
    assert main(["build", "--version", VERSIONS[-1], *part, "--out", str(tmp_path / "part")]) == 0
    arguments = ("--release", str(tmp_path / "part"), "--model", str(tiny_gpt2), "--out", str(tmp_path / "run"))
    assert main(["evaluate", *arguments]) == 0
    scores = read_run(tmp_path / "run").answers
    assert {"axis_label", "paraphrase_of"} <= set(scores.column_names)
    assert set(scores["paraphrase_of"].to_pylist()) >= {None, "dialogue.im"}
