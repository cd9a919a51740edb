"""Contributions that are merged in any order, also across a release: git finds no conflict, and the terms are valid."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias import build_release
from holisticbias.contribute.authoring import Draft, add_entry, apply_edits
from holisticbias.rules.validate import load_catalog, validate_paths

Invoke = Callable[..., tuple[int, str, str]]

WORDS = ("brave", "calm", "cheerful", "fair", "gentle", "jolly", "lively", "merry", "polite", "witty")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {arguments}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", message)


@pytest.fixture
def repository(repository: Path) -> Path:
    """A repository with a published version and ``next``."""
    git(repository, "init", "-qb", "main")
    commit(repository, "terms")
    return repository


def add(folder: Path, word: str) -> None:
    entry = {"id": f"ability.{word}", "text": word, "bucket": "auditory", "sources": ["made-up"], "since": "next"}
    apply_edits(folder, [add_entry(folder, Draft("descriptors", "ability", entry))])


@pytest.fixture
def branches(repository: Path) -> tuple[str, ...]:
    """Ten branches, each of which adds a term to the same bucket."""
    for word in WORDS:
        git(repository, "switch", "-qc", word, "main")
        add(repository, word)
        commit(repository, word)
    git(repository, "switch", "-q", "main")
    return WORDS


@pytest.mark.parametrize("seed", range(4))
def test_ten_additions_to_a_bucket_merge_in_any_order(repository: Path, branches: tuple[str, ...], seed: int) -> None:
    """All orders lead to the same files and to the same order of entries."""
    for branch in random.Random(seed).sample(branches, len(branches)):  # noqa: S311 - an order of branches
        git(repository, "merge", "-q", "--no-edit", branch)
    assert validate_paths([repository]) == ()
    axis = load_catalog(repository).at("next").axes[0]
    assert [d.id for d in axis.descriptors if d.bucket == "auditory"] == [
        "ability.deaf",
        "ability.hard-of-hearing",
        *(f"ability.{word}" for word in WORDS),
    ]
    assert not git(repository, "status", "--porcelain")


def test_contributions_that_were_open_when_a_version_was_frozen_merge_after_it(
    repository: Path, branches: tuple[str, ...], invoke: Invoke
) -> None:
    """Entries merged before a release are in it; entries merged after it are in the following one."""
    git(repository, "switch", "-qc", "retire", "main")
    path = repository / "descriptors" / "race_ethnicity.yaml"
    gone = "noun_gender: female, sources: [made-up], since: 0.1.0, until: next, replaced_by: race_ethnicity.black}"
    text = path.read_text("utf-8")
    path.write_text(text.replace("noun_gender: female, sources: [made-up], since: 0.1.0}", gone), "utf-8")
    commit(repository, "retire")
    git(repository, "switch", "-q", "main")
    for branch in branches[:5]:
        git(repository, "merge", "-q", "--no-edit", branch)
    prepared = build_release(load_catalog(repository), "next").manifest.tables["sentences"].digest
    assert invoke("releases", "--freeze", "--source", repository)[0] == 0
    frozen = load_catalog(repository).published[-1]
    assert load_catalog(repository).release(frozen).tables["sentences"] == prepared, "in the same order"
    assert not (repository / "descriptors" / "new").exists()
    commit(repository, "release")
    for branch in ("retire", *branches[5:]):
        git(repository, "merge", "-q", "--no-edit", branch)
        assert validate_paths([repository]) == (), branch
    catalog = load_catalog(repository)
    held = {v: {d.id for a in catalog.at(v).axes for d in a.descriptors} for v in (frozen, "next")}
    assert held["next"] - held[frozen] == {f"ability.{word}" for word in WORDS[5:]}
    assert held[frozen] - held["next"] == {"race_ethnicity.latina"}
    summary = repository / "releases" / "next.yaml"
    summary.write_text(summary.read_text("utf-8").replace("In preparation.", "Five more terms."), "utf-8")
    assert invoke("releases", "--freeze", "--source", repository)[1].startswith("2.0.0: digest")
    assert validate_paths([repository]) == ()


def test_the_same_entry_twice_meets_in_one_file(repository: Path) -> None:
    for branch in ("one", "two"):
        git(repository, "switch", "-qc", branch, "main")
        add(repository, "brave")
        path = repository / "descriptors" / "new" / "ability.brave.yaml"
        path.write_text(path.read_text("utf-8").replace("text: brave", f"text: brave {branch}"), "utf-8")
        commit(repository, branch)
    with pytest.raises(AssertionError, match="CONFLICT"):
        git(repository, "merge", "-q", "--no-edit", "one")


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
        (
            "ability.brave",
            NEW.replace("AXIS", "quiver"),
            "new-entry-group",
            "has axis: quiver.",
        ),
        ("ability.brave", NEW.replace("axis: AXIS\n", ""), "missing-key", "The key 'axis' is missing."),
        ("ability.brave", "label: Ability\n" + NEW, "unknown-key", "The key 'label' is in"),
        ("brave", NEW, "new-entry-file", "The file has the name brave.yaml, not ability.brave.yaml."),
        ("ability.brave", NEW.replace("auditory", "auditor"), "known-bucket", "auditor"),
        ("ability.brave", NEW.replace("ability.brave", "ability.deaf"), "unique-id", "has the same id"),
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


HOBBY = """axis: hobby
label: Hobby
descriptors:
  - id: hobby.brave
    text: brave
    sources: [made-up]
    since: next
"""


@pytest.mark.parametrize(
    ("axis", "rule", "message"),
    [
        ("abilty", "close-name", "The axis 'abilty' is new in descriptors/, and close to 'ability'."),
        ("hobby", "axis-order", "The axis 'hobby' is new: intersections.yaml does not have it."),
    ],
)
def test_a_new_axis(repository: Path, axis: str, rule: str, message: str) -> None:
    (repository / "descriptors" / f"{axis}.yaml").write_text(HOBBY.replace("hobby", axis), "utf-8")
    found = [(f.rule, f.message, f.level) for f in validate_paths([repository])]
    assert (rule, message) in [one[:2] for one in found]
    assert {level for known, _, level in found if known == rule} == {"error" if rule == "close-name" else "warning"}
