"""Published versions cannot change: an edit that would change a published version is reported at its entry."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.contribute.freeze import freeze_version, list_versions, moved_versions
from holisticbias.errors import ReleaseError, SourceError
from holisticbias.release.manifest import DIGESTED
from holisticbias.release.release import Release
from holisticbias.release.verify import verify_release
from holisticbias.rules.published import lock
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.version_files import IN_PREPARATION

PAPER = "0c36c62d7de66c7a962fe6e931adeaabb307e32e668fae28c4a93816c90784e4"


@pytest.fixture
def copy(terms_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository's terms, as the current folder."""
    monkeypatch.chdir(terms_copy)
    return terms_copy


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new), "utf-8")


def found(copy: Path) -> list[tuple[str, str, str]]:
    return [(f.rule, f.path, f.entry) for f in validate_paths([copy])]


@pytest.fixture(scope="session")
def newest(catalog: Catalog) -> Release:
    """The newest published version, compiled."""
    return build_release(catalog, catalog.published[-1])


@pytest.fixture(scope="module")
def second(catalog: Catalog) -> Release:
    """Version 1.1.0, compiled."""
    return build_release(catalog, "1.1.0")


def test_digests_of_published_versions(catalog: Catalog, release: Release, second: Release, newest: Release) -> None:
    """The digests of the paper's edition and of the other versions."""
    assert release.digest == PAPER == catalog.release("1.0.0").digest
    assert second.digest == catalog.release("1.1.0").digest
    assert newest.digest == catalog.release(newest.version).digest


def test_minor_version_only_adds(release: Release, second: Release) -> None:
    later = second.sentences
    texts = dict(zip(later["sentence_id"].to_pylist(), later["text"].to_pylist(), strict=True))
    for sentence_id, text in zip(
        release.sentences["sentence_id"].to_pylist(), release.sentences["text"].to_pylist(), strict=True
    ):
        assert texts[sentence_id] == text


def test_repository_is_clean(copy: Path) -> None:
    assert found(copy) == []


def test_edits_of_what_is_published(copy: Path) -> None:
    """Each is one finding, at its entry or at the label of its file; a change of the id removes the entry."""
    edits = {
        "    text: Deaf\n": "    text: deaf\n",
        "  - id: ability.blind\n": "  - id: ability.seeing\n",
        "    plural: who use wheelchairs\n": "    plural: who use a wheelchair\n",
        "    text: with a stoma\n": "    until: 1.1.0\n    text: with a stoma\n",
        "    text: bipolar\n": "    not_with: [noun.kid]\n    text: bipolar\n",
        "label: Ability\n": "label: Abilities\n",
    }
    for old, new in edits.items():
        edit(copy / "descriptors" / "ability.yaml", old, new)
    findings = [f for f in found(copy) if f[0].startswith("published-")]
    assert {path for _, path, _ in findings} == {"descriptors/ability.yaml"}
    assert sorted((rule, entry) for rule, _, entry in findings) == EDITED


EDITED = [
    ("published-added", "ability.seeing"),
    ("published-changed", ""),
    ("published-changed", "ability.bipolar"),
    ("published-changed", "ability.deaf"),
    ("published-changed", "ability.who-uses-a-wheelchair"),
    ("published-removed", "ability.blind"),
    ("published-removed", "ability.with-a-stoma"),
]


def test_entry_with_a_published_version(copy: Path) -> None:
    entry = "\n  - id: nonce.new\n    text: snark\n    sources: [smith-2022]\n    since: 2.0.0\n"
    path = copy / "descriptors" / "nonce.yaml"
    path.write_text(path.read_text("utf-8") + entry, "utf-8")
    assert found(copy) == [("published-added", "descriptors/nonce.yaml", "nonce.new")]


def test_entries_that_changed_places(copy: Path) -> None:
    path = copy / "descriptors" / "nonce.yaml"
    head, first, second, *rest = path.read_text("utf-8").split("  - id: ")
    path.write_text("  - id: ".join([head, second, first, *rest]), "utf-8")
    assert found(copy) == [("published-order", "descriptors/nonce.yaml", "nonce.stad")]


def test_history_lets_an_entry_change(copy: Path) -> None:
    """A new wording, with the old wording in the history, does not change earlier versions."""
    before = load_catalog(copy).published
    edit(
        copy / "descriptors" / "nonce.yaml",
        "  - id: nonce.stad\n    text: stad\n",
        "  - id: nonce.stad\n    history:\n      - {until: next, text: stad, reason: an example}\n    text: stadd\n",
    )
    assert found(copy) == []
    catalog = load_catalog(copy)
    held = {v: {d.text for axis in catalog.at(v).axes for d in axis.descriptors} for v in catalog.versions}
    assert {v for v, texts in held.items() if "stad" in texts} == set(before)
    assert {v for v, texts in held.items() if "stadd" in texts} == {"next"}


@pytest.mark.parametrize(
    ("content", "rule", "path"),
    [
        ("{", "lock-syntax", "releases/2.0.0.lock.json"),
        ("[" * 100_000, "lock-syntax", "releases/2.0.0.lock.json"),
        ("[]", "schema", "releases/2.0.0.lock.json"),
        ('{"version": "2.0.0", "entries": {"a.b": "x"}}', "schema", "releases/2.0.0.lock.json"),
        (None, "published-lock", "releases/2.0.0.yaml"),
    ],
)
def test_broken_lock(copy: Path, content: str | None, rule: str, path: str) -> None:
    lock_file = copy / "releases" / "2.0.0.lock.json"
    if content is None:
        lock_file.unlink()
    else:
        lock_file.write_text(content, "utf-8")
    assert (rule, path) in {(r, p) for r, p, _ in found(copy)}


def test_lock_is_of_how_entries_stood(catalog: Catalog, root: Path) -> None:
    for version in catalog.published:
        recorded = json.loads((root / "releases" / f"{version}.lock.json").read_text("utf-8"))
        assert recorded == lock(catalog, version).model_dump()
        assert list(recorded["entries"]) == list(lock(catalog, version).entries)


HISTORY = "    history:\n      - {until: 0.2.0, plural: persons of color, reason: people is the usual plural}\n"


@pytest.mark.parametrize(
    ("version", "reworded", "refused"),
    [
        ("0.1.1", True, "0.1.1 is a patch version after 0.1.0, but its changes need a major version"),
        ("0.2.0", True, "0.2.0 is a minor version after 0.1.0, but its changes need a major version"),
        ("1.0.0", True, ""),
        ("0.1.1", False, "0.1.1 is a patch version after 0.1.0, but its changes need a minor version"),
        ("0.2.0", False, ""),
        ("1.0.0", False, ""),
    ],
)
def test_version_that_says_less_than_what_changed_is_not_frozen(
    data: Path, tmp_path: Path, version: str, reworded: bool, refused: str
) -> None:
    """The second of two versions adds entries and, if an entry has a history, also rewords that entry."""
    folder = tmp_path / "terms"
    shutil.copytree(data / "two-versions", folder)
    for path in folder.rglob("*.yaml"):
        text = path.read_text("utf-8").replace("" if reworded else HISTORY, "").replace("0.2.0", version)
        path.write_text(text, "utf-8")
    (folder / "releases" / "0.2.0.yaml").rename(folder / "releases" / f"{version}.yaml")
    freeze_version(load_catalog(folder), "0.1.0", folder)
    if refused:
        with pytest.raises(SourceError, match=refused):
            freeze_version(load_catalog(folder), version, folder)
        assert not (folder / "releases" / f"{version}.lock.json").exists()
    else:
        freeze_version(load_catalog(folder), version, folder)
        assert load_catalog(folder).published == ("0.1.0", version)


@pytest.mark.parametrize(
    ("summary", "refused"),
    [
        ("In preparation.", True),
        ("Version in preparation, adds a term.", True),
        (">-\n  Adds a term. In\n  preparation.", True),
        ("Adds a term.", False),
    ],
)
def test_a_summary_that_says_in_preparation_is_not_frozen(
    data: Path, tmp_path: Path, summary: str, refused: bool
) -> None:
    shutil.copytree(data / "two-versions", tmp_path / "terms")
    path = tmp_path / "terms" / "releases" / "0.1.0.yaml"
    edit(path, "summary: For the tests.", f"summary: {summary}")
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    if refused:
        with pytest.raises(
            SourceError, match=r"the summary in releases/0\.1\.0\.yaml still says 'In preparation': describe what"
        ):
            freeze_version(load_catalog(tmp_path / "terms"), "0.1.0", tmp_path / "terms")
        assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before
    else:
        freeze_version(load_catalog(tmp_path / "terms"), "0.1.0", tmp_path / "terms")
        assert load_catalog(tmp_path / "terms").published == ("0.1.0",)


def test_no_published_version_says_in_preparation(catalog: Catalog) -> None:
    summaries = {version: catalog.release(version).summary.casefold() for version in catalog.published}
    assert [version for version, summary in summaries.items() if IN_PREPARATION.casefold() in summary] == []


def test_a_release_file_has_the_name_and_the_date_of_its_version(copy: Path) -> None:
    edit(copy / "releases" / "2.0.0.yaml", "\ndate: 2026-11-22\n", "\n")
    (copy / "releases" / "next.yaml").rename(copy / "releases" / "9.0.0.yaml")
    assert {(rule, path) for rule, path, _ in found(copy)} == {
        ("published-lock", "releases/2.0.0.yaml"),
        ("version-file", "releases/9.0.0.yaml"),
    }


def test_moved_digests_are_reported_and_not_frozen(copy: Path, release: Release) -> None:
    path = copy / "releases" / "1.0.0.yaml"
    assert load_catalog(copy).release("1.0.0").tables == release.manifest.digests
    history = release.manifest.digests["history"]
    edit(path, history, "0" * 64)
    catalog = load_catalog(copy)
    alone = replace(catalog, releases=(catalog.release("1.0.0"),))
    assert moved_versions(alone) == (("1.0.0 (table history)", "0" * 64, history),)
    edit(path, PAPER, "0" * 64)
    catalog = load_catalog(copy)
    with pytest.raises(SourceError, match="was published with digest 000000000000, but now has digest 0c36c62d7de6"):
        freeze_version(catalog, "1.0.0", copy)


def test_freezing_writes_what_is_on_record_of_the_others(copy: Path) -> None:
    path = copy / "releases" / "1.0.0.yaml"
    frozen = path.read_text("utf-8")
    path.write_text(frozen[: frozen.index("digest:")], "utf-8")
    (copy / "releases" / "1.0.0.lock.json").unlink()
    assert freeze_version(load_catalog(copy), "1.0.0", copy) == PAPER
    assert path.read_text("utf-8") == frozen


@pytest.mark.parametrize("name", ["nouns", "small", "history"])
def test_other_rows_under_a_published_version_are_refused(
    release: Release, copy: Path, tmp_path: Path, name: str
) -> None:
    """Manifest and checksums fit the rows; the terms around the current folder have no record."""
    rows = release.tables[name].slice(1)
    entry = release.manifest.tables[name].model_copy(update={"rows": rows.num_rows, "digest": table_digest(rows)})
    tables = {**release.manifest.tables, name: entry}
    digest = release_digest({name: tables[name].digest for name in DIGESTED & tables.keys()})
    manifest = release.manifest.model_copy(update={"tables": tables, "digest": digest})
    write_release(Release(manifest, {**release.tables, name: rows}), tmp_path / "r")
    shutil.rmtree(copy / "releases")
    (finding,) = verify_release(tmp_path / "r")
    assert f"is not version 1.0.0 as it was published: the rows of {name} differ from the record" in finding
    with pytest.raises(ReleaseError, match="as it was published"):
        open_release(tmp_path / "r")


def test_a_version_that_is_not_on_record_opens(data: Path, copy: Path, tmp_path: Path) -> None:
    """The record of the terms around the current folder does not count."""
    release = build_release(load_catalog(data / "two-versions"))
    write_release(release, tmp_path / "r")
    (copy / "releases" / f"{release.version}.yaml").write_text(
        (copy / "releases" / "1.0.0.yaml").read_text("utf-8").replace("1.0.0", release.version, 1), "utf-8"
    )
    assert verify_release(tmp_path / "r") == ()
    assert open_release(tmp_path / "r").digest == release.digest


def test_versions_say_how_much_they_hold(catalog: Catalog) -> None:
    first = list_versions(catalog)[0]
    assert (first.version, first.descriptors, first.nouns, first.templates) == ("1.0.0", 598, 30, 26)
