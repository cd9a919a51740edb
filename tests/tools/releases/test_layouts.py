"""Columns of each layout, and ``repr`` of a release."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.terms.catalog import Catalog

VERSION = "0.2.0"
LABELS = {"ability": "Ability", "characteristics": "Characteristics", "race_ethnicity": "Race and ethnicity"}


def with_layout(catalog: Catalog, layout: int) -> Catalog:
    releases = tuple(r.model_copy(update={"layout": layout}) for r in catalog.releases)
    return replace(catalog, releases=releases)


@pytest.mark.parametrize("layout", [2, 3])
def test_the_axis_in_words_stands_beside_each_sentence_from_layout_3_on(
    catalog: Catalog, tmp_path: Path, layout: int
) -> None:
    write_release(build_release(with_layout(catalog, layout), VERSION), tmp_path / "release")
    descriptors = pd.read_parquet(tmp_path / "release" / "data" / "descriptors.parquet")
    axis_of = dict(zip(descriptors["descriptor_id"], descriptors["axis_label"], strict=True))
    for name in ("sentences", "small", "noun_phrases"):
        frame = pd.read_parquet(tmp_path / "release" / "data" / f"{name}.parquet")
        assert ("axis_label" in frame.columns) == (layout >= 3)
        if layout >= 3:
            assert frame["axis_label"].fillna("").tolist() == [axis_of.get(i, "") for i in frame["descriptor_id"]]


@pytest.mark.parametrize("layout", [2, 3])
def test_templates_and_history_have_opposites_from_layout_3_on(catalog: Catalog, layout: int) -> None:
    love, hate = (f.templates[-1] for f in catalog.families)
    hate = hate.model_copy(update={"opposite_of": love.id})
    family = catalog.families[-1].model_copy(update={"templates": (hate,)})
    changed = replace(with_layout(catalog, layout), families=(*catalog.families[:-1], family))
    tables = build_release(changed, VERSION).tables
    for name, key in (("templates", "template_id"), ("history", "entry_id")):
        rows = {row[key]: row.get("opposite_of") for row in tables[name].to_pylist()}
        assert ("opposite_of" in tables[name].column_names) == (layout >= 3)
        assert (rows[hate.id], rows[love.id]) == (love.id if layout >= 3 else None, None)


@pytest.mark.parametrize("layout", [2, 3])
def test_intersections_have_it_for_both_descriptors(catalog: Catalog, tmp_path: Path, layout: int) -> None:
    write_intersections(with_layout(catalog, layout), Request(VERSION, "all"), tmp_path / "pairs")
    release = open_release(tmp_path / "pairs")
    rows = sum(shard.num_rows for shard in release.shards("intersections"))
    assert repr(release) == (
        f"<HolisticBias 0.2.0 (intersections all): {rows:,} sentences, digest {release.digest[:12]}>"
    )
    for shard in release.shards("intersections"):
        for n in (1, 2):
            assert (f"axis_label_{n}" in shard.column_names) == (layout >= 3)
            if layout >= 3:
                axes = shard[f"axis_{n}"].to_pylist()
                assert shard[f"axis_label_{n}"].to_pylist() == [LABELS[axis] for axis in axes]


@pytest.mark.parametrize(
    ("subset", "where", "part"),
    [(None, [], ""), ("small", [], " (small)"), (None, ["axis=ability"], " (axis=ability)")],
)
def test_a_release_shows_itself_in_one_line(
    catalog: Catalog, tmp_path: Path, subset: str | None, where: list[str], part: str
) -> None:
    release = build_release(catalog, VERSION, subset, where)
    write_release(release, tmp_path / "release")
    expected = f"<HolisticBias 0.2.0{part}: {release.sentences.num_rows} sentences, digest {release.digest[:12]}>"
    assert repr(release) == repr(open_release(tmp_path / "release")) == expected
