"""Columns of each layout, and ``repr`` of a release."""

from dataclasses import replace
from pathlib import Path

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
