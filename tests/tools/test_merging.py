"""Contributions that are merged in any order, also across a release: git finds no conflict, and the terms are valid."""

from pathlib import Path

import pytest

from folders import replaced
from holisticbias import build_release
from holisticbias.rules.validate import load_catalog, validate_paths
from invoking import Invoke
from repositories import commit_all, git
from small_terms import add_term, descriptor_ids

WORDS = ("brave", "calm", "cheerful", "fair", "gentle", "jolly")


@pytest.fixture
def repository(repository: Path) -> Path:
    """A repository with a published version and ``next``."""
    commit_all(repository)
    return repository


def test_contributions_that_were_open_when_a_version_was_frozen_merge_after_it(
    repository: Path, invoke: Invoke
) -> None:
    """Entries merged before a release are in it; entries merged after it are in the following one.

    Each branch adds a term to the same bucket.
    """
    for word in WORDS:
        git(repository, "switch", "-qc", word, "main")
        add_term(repository, word)
        commit_all(repository, word)
    git(repository, "switch", "-qc", "retire", "main")
    kept = "noun_gender: female, sources: [made-up], since: 0.1.0"
    gone = f"{kept}, until: next, replaced_by: race_ethnicity.black"
    replaced(repository / "descriptors" / "race_ethnicity.yaml", kept, gone)
    commit_all(repository)
    git(repository, "switch", "-q", "main")
    for branch in WORDS[:3]:
        git(repository, "merge", "-q", "--no-edit", branch)
    prepared = build_release(load_catalog(repository), "next").manifest.tables["sentences"].digest
    invoke.printed("releases", "--freeze", "--source", repository)
    frozen = load_catalog(repository).published[-1]
    assert load_catalog(repository).release(frozen).tables["sentences"] == prepared, "in the same order"
    assert not (repository / "descriptors" / "new").exists()
    assert (repository / "sources.yaml").read_text("utf-8").count("  - id: of-") == 3
    commit_all(repository)
    for branch in ("retire", *WORDS[3:]):
        git(repository, "merge", "-q", "--no-edit", branch)
        assert validate_paths([repository]) == (), branch
    catalog = load_catalog(repository)
    before, after = (descriptor_ids(catalog, version) for version in (frozen, "next"))
    assert (after - before, before - after) == ({f"ability.{word}" for word in WORDS[3:]}, {"race_ethnicity.latina"})
    replaced(repository / "releases" / "next.yaml", "In preparation.", "Three more terms.")
    assert invoke.printed("releases", "--freeze", "--source", repository).startswith("2.0.0: digest")
    assert validate_paths([repository]) == ()


NEW = """axis: AXIS
descriptors:
  - id: ability.brave
    text: brave
    bucket: auditory
    sources: [made-up]
    since: next
"""


@pytest.mark.parametrize(
    ("name", "text", "rule", "message"),
    [
        ("ability.brave", NEW.replace("AXIS", "abilty"), "new-entry-group", "axis: abilty; close to it: ability."),
        ("ability.brave", NEW.replace("AXIS", "quiver"), "new-entry-group", "has axis: quiver."),
        ("ability.brave", NEW.replace("axis: AXIS\n", ""), "missing-key", "The key 'axis' is missing."),
        ("ability.brave", "label: Ability\n" + NEW, "unknown-key", "The key 'label' is in"),
        ("brave", NEW, "new-entry-file", "The file has the name brave.yaml, not ability.brave.yaml."),
        ("ability.brave", NEW.replace("auditory", "auditor"), "known-bucket", "auditor"),
        ("ability.brave", NEW.replace("ability.brave", "ability.deaf"), "unique-id", "has the same id"),
        ("ability.brave", NEW + "sources:\n  - {id: made-up, title: Other}\n", "unique-id", "Another source has"),
        ("ability.brave", NEW.replace("text: brave", "text: 5"), "schema", "text: it must be a text"),
        ("ability.brave", "axis: [\n", "yaml-closed", "not closed"),
    ],
)
def test_a_file_of_new_entries_with_a_fault(repository: Path, name: str, text: str, rule: str, message: str) -> None:
    path = repository / "descriptors" / "new" / f"{name}.yaml"
    path.parent.mkdir()
    path.write_text(text.replace("AXIS", "ability"), "utf-8")
    found = [f for f in validate_paths([repository]) if f.rule == rule]
    assert [f.path for f in found] == [str(path)], validate_paths([repository])
    assert message in found[0].message


@pytest.mark.parametrize("name", ["ability.brave", "ability.brave.yaml.txt", "ability/brave.yaml"])
def test_a_new_entry_in_a_file_that_is_not_read_is_an_error(repository: Path, invoke: Invoke, name: str) -> None:
    """In the folder and in a commit; hidden files and the copies of an editor are left out."""
    path = repository / "descriptors" / "new" / name
    path.parent.mkdir(parents=True)
    path.write_text(NEW.replace("AXIS", "ability"), "utf-8")
    for other in (".DS_Store", "ability.brave.yaml~"):
        (repository / "descriptors" / "new" / other).write_text("x", "utf-8")
    assert [(f.path, f.rule) for f in validate_paths([repository])] == [(str(path), "new-entry-name")]
    commit_all(repository)
    shown = invoke.printed("preview", "HEAD^", "HEAD", "--source", repository)
    assert (f"`descriptors/new/{name}:1:1`" in shown, "## Not ready yet" in shown) == (True, True)


@pytest.mark.parametrize(
    ("axis", "rule", "message"),
    [
        ("abilty", "close-name", "The axis 'abilty' is new in descriptors/, and close to 'ability'."),
        ("hobby", "axis-order", "The axis 'hobby' is new: intersections.yaml does not have it."),
    ],
)
@pytest.mark.parametrize("folder", [".", "descriptors"])
def test_a_new_axis(
    repository: Path, axis: str, rule: str, message: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / folder)
    text = NEW.replace("AXIS", f"{axis}\nlabel: New").replace("ability", axis).replace("    bucket: auditory\n", "")
    (repository / "descriptors" / f"{axis}.yaml").write_text(text, "utf-8")
    found = [(f.rule, f.message, f.level) for f in validate_paths([repository])]
    assert (rule, message) in [one[:2] for one in found]
    assert {level for known, _, level in found if known == rule} == {"error" if rule == "close-name" else "warning"}


@pytest.mark.parametrize("folder", ["descriptors", "descriptors/new", "releases"])
def test_files_are_read_alike_from_each_folder(
    with_brave: Path, repository: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(with_brave / folder)
    assert validate_paths([with_brave]) == ()
    monkeypatch.chdir(repository / "releases")
    Path("next.yaml").rename("0.9.0.yaml")
    found = {(f.path, f.rule) for f in validate_paths([repository])}
    assert ("0.9.0.yaml", "version-file") in found
