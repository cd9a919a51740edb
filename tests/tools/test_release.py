"""Version 1.0.0, built and opened, and its samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias import open_release, write_release
from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.errors import HolisticBiasError, OutputError, ReleaseError
from holisticbias.release.manifest import DIGESTED
from holisticbias.release.release import Release

SMALL_DIGEST = "8e30f1d24b61323575bbe00843db0b2a27107aa2c315a34763c20a1f78d38c89"


def test_open_release_gives_back_what_was_written(release: Release, release_folder: Path) -> None:
    opened = open_release(release_folder)
    assert (opened.version, opened.digest) == (release.version, release.digest)
    digests = {name: table_digest(table) for name, table in opened.tables.items()}
    assert release_digest({name: digest for name, digest in digests.items() if name in DIGESTED}) == opened.digest
    assert opened.manifest.digests == digests


def test_the_small_part_of_a_release_is_its_small_build(
    release: Release, release_folder: Path, small_release: Release, small_folder: Path, tmp_path: Path
) -> None:
    assert small_release.digest == SMALL_DIGEST, "subset, grammar or digest changed: say so in the change log"
    for whole in (release, open_release(release_folder)):
        part = whole.small()
        assert (part.digest, part.manifest.part, part.version) == (SMALL_DIGEST, "small", "1.0.0")
        assert part.manifest.digests == {name: table_digest(table) for name, table in part.tables.items()}
    with pytest.raises(ReleaseError, match="has no small part: name a whole release"):
        part.small()
    (tmp_path / "notes.txt").write_text("of nobody's release", "utf-8")
    for taken in (small_folder, tmp_path):
        with pytest.raises(OutputError, match="holds something else"):
            write_release(release, taken)


def test_a_sample_is_a_function_of_its_seed_and_nested(small_release: Release) -> None:
    hundred = small_release.sample(100, seed=7)
    assert hundred.equals(small_release.sample(100, seed=7))
    assert hundred.slice(0, 40).equals(small_release.sample(40, seed=7))
    assert not hundred.equals(small_release.sample(100, seed=8))
    rows, ids = small_release.sentences.num_rows, small_release.sentences["sentence_id"].to_pylist()
    everything = small_release.sample(rows, seed=1)["sentence_id"].to_pylist()
    assert everything != ids
    assert sorted(everything) == sorted(ids)
    for n in (-1, rows + 1):
        with pytest.raises(HolisticBiasError, match="cannot draw"):
            small_release.sample(n, seed=1)
    for seed in (0, -1, 2**64 + 5):
        assert small_release.sample(0, seed=seed, stylistic_variants=True).num_rows == 0
        assert small_release.sample(3, seed=seed).num_rows == 3


def test_sample_draws_evenly(small_release: Release) -> None:
    """Half of the rows in 40 samples are from the first half of the table, within five standard deviations."""
    half = small_release.sentences.num_rows // 2
    early = set(small_release.sentences["sentence_id"].slice(0, half).to_pylist())
    drawn = sum(i in early for seed in range(40) for i in small_release.sample(50, seed)["sentence_id"].to_pylist())
    assert abs(drawn - 1_000) < 5 * (2_000 * 0.25) ** 0.5
