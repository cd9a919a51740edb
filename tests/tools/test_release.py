"""Releases: load with ``datasets``, open and check with ``open_release``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holisticbias import open_release, write_release
from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.errors import HolisticBiasError, OutputError, ReleaseError
from holisticbias.release.manifest import CHECKSUMS, DIGESTED, MANIFEST, checksums, file_entry, read_manifest
from holisticbias.release.release import Release

datasets = pytest.importorskip("datasets")

TABLES = ("sentences", "descriptors", "nouns", "templates", "noun_phrases")  # a whole release has two more
WHOLE = (*TABLES, "small", "history")
BOOLEANS = {"first_turn_only", "must_be_noun", "without_noun"}
SMALL_DIGEST = "8e30f1d24b61323575bbe00843db0b2a27107aa2c315a34763c20a1f78d38c89"


@pytest.fixture
def copy(small_folder: Path, tmp_path: Path) -> Path:
    """A copy of the small release, for tests that damage it."""
    return Path(shutil.copytree(small_folder, tmp_path / "release"))


@pytest.fixture
def cached(tmp_path: Path) -> Callable[..., Any]:
    """``load_dataset`` with an empty cache."""

    def load(*arguments: Any, **options: Any) -> Any:
        return datasets.load_dataset(*arguments, cache_dir=str(tmp_path / "cache"), **options)

    return load


def expected_features(table: pa.Table) -> dict[str, Any]:
    text, flag = datasets.Value("string"), datasets.Value("bool")
    features = {name: flag if name in BOOLEANS else text for name in table.column_names}
    features |= {name: datasets.List(text) for name in ("sources", "not_with") if name in features}
    if "assessments" in features:
        fields = ("judgement", "community", "locale", "reviewer", "source", "date")
        features["assessments"] = datasets.List(dict.fromkeys(fields, text))
    return features


# datasets


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("streaming", [False, True])
def test_every_column_has_its_type(
    small_folder: Path, small_release: Release, cached: Callable[..., Any], name: str, streaming: bool
) -> None:
    loaded = cached(str(small_folder), name, split="test", streaming=streaming)
    table = small_release.tables[name]
    assert dict(loaded.features) == expected_features(table)
    first = next(iter(loaded))
    for column, value in table.slice(0, 1).to_pylist()[0].items():
        assert first[column] == value
        assert type(first[column]) is type(value)


def test_rows_come_back_as_they_were_compiled(
    small_folder: Path, small_release: Release, cached: Callable[..., Any]
) -> None:
    loaded = cached(str(small_folder), "sentences", split="test")
    assert loaded.num_rows == small_release.sentences.num_rows
    for column in ("text", "sentence_id", "axis", "descriptor", "noun", "noun_gender", "must_be_noun"):
        assert loaded.data[column].to_pylist() == small_release.sentences[column].to_pylist()


def test_sentences_are_the_default_configuration(small_folder: Path, cached: Callable[..., Any]) -> None:
    assert "sentence_id" in cached(str(small_folder), split="test").features


@pytest.mark.parametrize("name", TABLES)
def test_types_are_kept_without_the_card(
    small_folder: Path, small_release: Release, cached: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    shutil.copy(small_folder / "data" / f"{name}.parquet", tmp_path / "alone.parquet")
    loaded = cached("parquet", data_files=str(tmp_path / "alone.parquet"), split="train")
    assert dict(loaded.features) == expected_features(small_release.tables[name])


def test_card_says_what_datasets_would_write(
    release_folder: Path, release: Release, cached: Callable[..., Any]
) -> None:
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(release_folder / "README.md").data.to_dict()
    assert [config["config_name"] for config in card["configs"]] == list(WHOLE)
    assert (card["license"], card["language"], card["size_categories"]) == ("cc-by-sa-4.0", ["en"], ["100K<n<1M"])
    infos = datasets.info.DatasetInfosDict.from_directory(str(release_folder))
    for name, info in zip(WHOLE, card["dataset_info"], strict=True):
        features = datasets.Features(expected_features(release.tables[name]))
        assert info["config_name"] == name
        assert info["features"] == features._to_yaml_list()
        assert infos[name].features == features
        (split,) = info["splits"]
        assert (split["name"], split["num_examples"]) == ("test", release.tables[name].num_rows)
        assert info["download_size"] == (release_folder / "data" / f"{name}.parquet").stat().st_size


# the folder


@pytest.mark.parametrize("which", ["release", "small_release"])
def test_open_release_gives_back_what_was_written(which: str, request: pytest.FixtureRequest) -> None:
    made: Release = request.getfixturevalue(which)
    opened = open_release(request.getfixturevalue("release_folder" if which == "release" else "small_folder"))
    assert (opened.version, opened.digest) == (made.version, made.digest)
    digests = {name: table_digest(table) for name, table in opened.tables.items()}
    assert release_digest({name: digest for name, digest in digests.items() if name in DIGESTED}) == opened.digest
    assert {name: entry.digest for name, entry in opened.manifest.tables.items()} == digests


def test_manifest_says_what_is_there(small_folder: Path, small_release: Release) -> None:
    manifest = json.loads((small_folder / "manifest.json").read_text("utf-8"))
    there = {p.relative_to(small_folder).as_posix() for p in small_folder.rglob("*") if p.is_file()}
    assert set(manifest["files"]) == there - {"manifest.json", "SHA256SUMS"}
    assert manifest["subset"] == "small"
    assert {n: t["rows"] for n, t in manifest["tables"].items()} == {
        n: t.num_rows for n, t in small_release.tables.items()
    }


def flip_a_byte(folder: Path) -> None:
    path = folder / "data" / "nouns.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(folder: Path) -> None:
    path = folder / "data" / "sentences.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def remove_a_file(folder: Path) -> None:
    (folder / "data" / "templates.parquet").unlink()


def replace_by_a_folder(folder: Path) -> None:
    (folder / "README.md").unlink()
    (folder / "README.md").mkdir()


def spoil_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def manifest_in_another_encoding(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b"\xff\xfe")


def manifest_is_a_folder(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def become_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("release")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (flip_a_byte, "nouns.parquet differs from the manifest: it has .* download or build it again"),
        (truncate, "sentences.parquet differs from the manifest"),
        (remove_a_file, "templates.parquet is missing from the release: download or build it again"),
        (replace_by_a_folder, "README.md cannot be read: it is not a regular file"),
        (spoil_manifest, "manifest.json is not a manifest of a release"),
        (manifest_in_another_encoding, "manifest.json cannot be read"),
        (manifest_is_a_folder, "manifest.json cannot be read"),
        (empty, "is not a release: it has no manifest.json; make one with holisticbias build"),
        (remove, "is not a release: it does not exist"),
        (become_a_file, "cannot be read"),
    ],
)
def test_open_release_refuses(copy: Path, spoil: Callable[[Path], None], message: str) -> None:
    spoil(copy)
    with pytest.raises(ReleaseError, match=message):
        open_release(copy)


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["files", "../outside.txt"], {"bytes": 1, "sha256": "0"}, r"'../outside.txt' is not a plain path inside"),
        (["files", "data/../../outside.txt"], {"bytes": 1, "sha256": "0"}, "is not a plain path inside the release"),
        (["files", "/etc/passwd"], {"bytes": 1, "sha256": "0"}, "is not a plain path inside the release"),
        (["files", "data\\..\\x"], {"bytes": 1, "sha256": "0"}, "is not a plain path inside the release"),
        (["tables", "nouns", "files"], ["../outside.parquet"], "is not a plain path inside the release"),
        (["tables", "nouns", "files"], ["data/nouns2.parquet"], "gives no checksum for data/nouns2.parquet"),
        (["tables", "nouns", "files"], ["README.md"], "a table cannot be read"),
        (["tables", "nouns", "rows"], 7, "the table nouns has 30 rows, not 7"),
        (["tables", "verbs"], {"files": ["README.md"], "rows": 1, "digest": "0" * 64}, "a table cannot be read"),
        (["tables"], {}, "does not list the tables sentences, "),
        (["name"], "bold", "is not a manifest of a release: name"),
        (["licence"], "none", "is not a manifest of a release: licence"),
    ],
)
def test_open_release_refuses_a_manifest(copy: Path, keys: list[str], value: Any, message: str) -> None:
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    inner = manifest
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(manifest), "utf-8")
    (copy.parent / "outside.txt").write_text("x")
    with suppress(ReleaseError):
        (copy / CHECKSUMS).write_text(checksums(read_manifest(copy), file_entry(copy / MANIFEST)), "utf-8")
    with pytest.raises(ReleaseError, match=message):
        open_release(copy)


def test_failure_while_writing_leaves_the_old_release(
    small_release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "release"
    write_release(small_release, folder)
    rename, failed = Path.rename, list[Path]()

    def fail(self: Path, target: Path) -> Path:
        if target == folder and (self / "manifest.json").exists() and not failed:
            failed.append(self)
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        write_release(small_release, folder)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert open_release(folder).digest == small_release.digest


def test_nothing_is_written_over_another_subset(release: Release, copy: Path) -> None:
    with pytest.raises(OutputError, match="holds something else"):
        write_release(release, copy)


def test_builds_are_the_same_bytes_anywhere(run: Callable[..., Any], tmp_path: Path) -> None:
    worlds = [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Apia", "LC_ALL": "C", "OMP_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "America/New_York", "LC_ALL": "tr_TR.UTF-8", "OMP_NUM_THREADS": "2"},
    ]
    folders = [tmp_path / "a", tmp_path / "b" / "c"]
    for world, folder in zip(worlds, folders, strict=True):
        done = run("build", "--version", "1.0.0", "--small", "--out", folder, environment=world)
        assert done.returncode == 0, done.stderr
    first, second = ({p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders)
    assert first == second


def test_published_version_is_what_its_file_says(catalog: Any, release: Release) -> None:
    assert catalog.release("1.0.0").digest == release.digest


def test_small_subset_is_what_it_was(small_release: Release) -> None:
    assert small_release.digest == SMALL_DIGEST, "subset, grammar or digest changed: say so in the change log"


@pytest.mark.parametrize("opened", [False, True])
def test_the_small_part_of_a_release_is_its_small_build(
    release: Release, release_folder: Path, small_release: Release, opened: bool
) -> None:
    part = (open_release(release_folder) if opened else release).small()
    assert (part.digest, part.manifest.part, part.version) == (small_release.digest, "small", "1.0.0")
    for name, table in part.tables.items():
        assert table.to_pylist() == small_release.tables[name].to_pylist()
    with pytest.raises(ReleaseError, match="has no small part: name a whole release"):
        part.small()


# samples


def test_sample_is_a_function_of_its_seed_and_nested(small_release: Release) -> None:
    hundred = small_release.sample(100, seed=7)
    assert hundred.equals(small_release.sample(100, seed=7))
    assert hundred.slice(0, 40).equals(small_release.sample(40, seed=7))
    assert not hundred.equals(small_release.sample(100, seed=8))
    assert len(set(hundred["sentence_id"].to_pylist())) == 100


def test_sample_of_everything_is_everything(small_release: Release) -> None:
    rows = small_release.sentences.num_rows
    ids = small_release.sample(rows, seed=1)["sentence_id"].to_pylist()
    assert ids != small_release.sentences["sentence_id"].to_pylist()
    assert sorted(ids) == sorted(small_release.sentences["sentence_id"].to_pylist())


@pytest.mark.parametrize("n", [-1, 10**9])
def test_sample_out_of_bounds(small_release: Release, n: int) -> None:
    with pytest.raises(HolisticBiasError, match="cannot draw"):
        small_release.sample(n, seed=1)


@pytest.mark.parametrize("seed", [0, -1, 2**64 + 5])
def test_sample_takes_any_seed_and_may_be_empty(small_release: Release, seed: int) -> None:
    assert small_release.sample(0, seed=seed, stylistic_variants=True).num_rows == 0
    assert small_release.sample(3, seed=seed).num_rows == 3


def test_sample_draws_evenly(small_release: Release) -> None:
    """Half of the rows in 40 samples are from the first half of the table, within five standard deviations."""
    rows = small_release.sentences.num_rows
    half = rows // 2
    ids = {i: n for n, i in enumerate(small_release.sentences["sentence_id"].to_pylist())}
    early = sum(ids[i] < half for seed in range(40) for i in small_release.sample(50, seed)["sentence_id"].to_pylist())
    assert abs(early - 1_000) < 5 * (2_000 * 0.25) ** 0.5
