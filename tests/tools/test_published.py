"""Published versions cannot change: an edit that would change a published version is reported at its entry."""

from pathlib import Path

import pytest

from folders import replaced
from holisticbias import build_release, open_release, write_release
from holisticbias.errors import ReleaseError
from holisticbias.release import verify
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.terms.catalog import Catalog

PAPER = "0c36c62d7de66c7a962fe6e931adeaabb307e32e668fae28c4a93816c90784e4"


def found(copy: Path) -> list[tuple[str, str, str]]:
    return [(f.rule, f.path, f.entry) for f in validate_paths([copy])]


def test_digests_of_the_papers_edition(catalog: Catalog, release: Release) -> None:
    """Those of all versions are recorded by ``tests/golden``."""
    assert release.digest == PAPER == catalog.release("1.0.0").digest
    assert release.manifest.digests == catalog.release("1.0.0").tables


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
        replaced(copy / "descriptors" / "ability.yaml", old, new)
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


def test_entries_that_changed_places(copy: Path) -> None:
    path = copy / "descriptors" / "nonce.yaml"
    head, first, second, *rest = path.read_text("utf-8").split("  - id: ")
    path.write_text("  - id: ".join([head, second, first, *rest]), "utf-8")
    assert found(copy) == [("published-order", "descriptors/nonce.yaml", "nonce.stad")]


@pytest.mark.parametrize(
    ("content", "rule", "path"),
    [
        ("[" * 100_000, "lock-syntax", "releases/2.0.0.lock.json"),
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


def test_a_release_file_has_the_name_and_the_date_of_its_version(copy: Path) -> None:
    replaced(copy / "releases" / "2.0.0.yaml", "\ndate: 2026-11-22\n", "\n")
    (copy / "releases" / "next.yaml").rename(copy / "releases" / "9.0.0.yaml")
    assert {(rule, path) for rule, path, _ in found(copy)} == {
        ("published-lock", "releases/2.0.0.yaml"),
        ("version-file", "releases/9.0.0.yaml"),
    }


@pytest.mark.parametrize("name", ["nouns", "history"])
def test_other_rows_under_a_published_version_are_refused(
    two_versions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Manifest and checksums fit the rows."""
    monkeypatch.setattr(verify, "find_source", lambda _: two_versions)  # the record of the package
    release = build_release(load_catalog(two_versions), "0.1.0")
    rows = release.tables[name].slice(1)
    write_release(Release(release.about, {**release.tables, name: rows}), tmp_path / "r")
    (finding,) = verify.verify_release(tmp_path / "r")
    assert f"is not version 0.1.0 as it was published: the rows of {name} differ from the record" in finding
    with pytest.raises(ReleaseError, match="as it was published"):
        open_release(tmp_path / "r")


def test_a_version_that_is_not_on_record_opens(data: Path, copy: Path, tmp_path: Path) -> None:
    """The record of the terms around the current folder does not count."""
    release = build_release(load_catalog(data / "two-versions"))
    write_release(release, tmp_path / "r")
    record = (copy / "releases" / "1.0.0.yaml").read_text("utf-8").replace("1.0.0", release.version, 1)
    (copy / "releases" / f"{release.version}.yaml").write_text(record, "utf-8")
    assert verify.verify_release(tmp_path / "r") == ()
    assert open_release(tmp_path / "r").digest == release.digest
