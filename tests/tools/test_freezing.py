"""Freezing versions: numbers, interruptions, fixes before ``next``, what follows from a release, and withdrawals."""

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml

from folders import contents, replaced, stale_files
from full_disk import full_disk
from holisticbias import build_release, open_release, write_release
from holisticbias.contribute import release_files
from holisticbias.contribute.freeze import freeze
from holisticbias.contribute.release_files import begin_version, complete_release
from holisticbias.errors import PublishError, SourceError, WithdrawnVersionWarning
from holisticbias.release import publish, verify
from holisticbias.release.build import newest_version
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.folder import term_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key
from invoking import Invoke
from killed import killed_before
from small_terms import descriptor_ids

TODAY = "2026-11-25"
HISTORY = "    history:\n      - {until: next, plural: persons of color, reason: people is the usual plural}\n"


def written(folder: Path) -> str:
    """All that the files of terms say."""
    return "".join(path.read_text("utf-8") for path in term_files(folder))


def only_add(folder: Path) -> None:
    """Take back that ``next`` rewords an entry."""
    path = folder / "descriptors" / "race_ethnicity.yaml"
    replaced(path, HISTORY, "")
    replaced(path, "plural: people of color", "plural: persons of color")


def only_judge(folder: Path) -> None:
    """Take back all that ``next`` changes, and add a judgement."""
    only_add(folder)
    (folder / "templates" / "seat.yaml").unlink()
    path = folder / "descriptors" / "characteristics.yaml"
    path.write_text("".join(x for x in path.open(encoding="utf-8") if "since: next" not in x), "utf-8")
    judged = "      - {judgement: accepted, source: made-up, date: 2026-01-02"
    replaced(folder / "descriptors" / "ability.yaml", f"{judged}}}\n", f"{judged}}}\n{judged}, since: next}}\n")


def test_a_version_in_preparation_that_has_a_number_becomes_next(data: Path, tmp_path: Path, invoke: Invoke) -> None:
    folder = tmp_path / "terms"
    shutil.copytree(data / "two-versions", folder)
    invoke.printed("releases", "--freeze", "0.1.0", "--source", folder)
    assert "next is in preparation." in invoke.printed("releases", "--next", "--source", folder)
    assert "0.2.0" not in written(folder)
    assert {path.name for path in (folder / "releases").glob("*.yaml")} == {"0.1.0.yaml", "next.yaml"}
    assert validate_paths([folder]) == ()
    before = contents(folder)
    invoke.printed("releases", "--next", "--source", folder)
    invoke.printed("releases", "--freeze", "0.1.0", "--source", folder)
    assert contents(folder) == before


def test_the_first_version_needs_a_number(data: Path, tmp_path: Path, invoke: Invoke) -> None:
    folder, names = tmp_path / "terms", {"descriptors": "example", "nouns": "neutral", "templates": "dialogue"}
    for kind, name in {**names, "releases": "next"}.items():
        (folder / kind).mkdir(parents=True)
        text = (data / "smallest" / f"{kind}.yaml").read_text("utf-8").replace("date: 2022-12\n", "")
        (folder / kind / f"{name}.yaml").write_text(text.replace("1.0.0", "next"), "utf-8")
    shutil.copy(data / "smallest" / "sources.yaml", folder)
    said = invoke.refused("releases", "--freeze", "--source", folder, keeps=folder)
    assert "no version is published yet: give the first one a number, as in --freeze 1.0.0" in said
    assert "1.0.0: digest " in invoke.printed("releases", "--freeze", "1.0.0", "--source", folder)
    assert load_catalog(folder).versions == ("1.0.0", "next")


@pytest.mark.parametrize(
    ("change", "number"),
    [(lambda _: None, "1.0.0"), (only_add, "0.2.0"), (only_judge, "0.1.1")],
    ids=["reworded", "added", "judged"],
)
def test_the_number_follows_from_the_changes(
    repository: Path, invoke: Invoke, change: Callable[[Path], None], number: str
) -> None:
    change(repository)
    assert f"{number}: digest " in invoke.printed("releases", "--freeze", "--source", repository)
    catalog = load_catalog(repository)
    assert catalog.versions == ("0.1.0", number, "next")
    assert catalog.published == ("0.1.0", number)
    assert "next" not in written(repository).replace((repository / "releases/next.yaml").read_text("utf-8"), "")
    assert validate_paths([repository]) == ()
    errors = invoke.refused("releases", "--freeze", "--source", repository)
    assert f"nothing has changed since {number}; to repeat its last steps: --freeze {number}" in errors


@pytest.mark.parametrize("number", ["0.1.0", "2.0.0"])
def test_a_number_can_be_given(repository: Path, invoke: Invoke, number: str) -> None:
    assert invoke("releases", "--freeze", number, "--source", repository)[::2] == (0, "")
    assert number in load_catalog(repository).published


def test_what_is_not_valid_is_not_frozen(repository: Path, invoke: Invoke) -> None:
    unsaid = ">-\n  Still in\n  preparation."
    for path, old, new, said in (
        ("releases/next.yaml", "For the tests.", unsaid, "next.yaml still says 'In preparation'"),
        ("descriptors/race_ethnicity.yaml", "until: next", "until: 9.9.9", "version 9.9.9 has no file in releases/"),
    ):
        replaced(repository / path, old, new)
        assert said in invoke.refused("releases", "--freeze", "--source", repository, keeps=repository)


def test_freezing_continues_wherever_it_is_killed(repository: Path, tmp_path: Path) -> None:
    """Killed before each of its changes to files, it leaves a state that a second call completes to the same files."""

    def work(folder: Path) -> None:
        version, _ = freeze(folder, None, TODAY)
        complete_release(folder, version)

    whole = tmp_path / "whole"
    shutil.copytree(repository, whole)
    work(whole)
    seen: set[str] = set()
    for step in count():
        folder = tmp_path / f"killed-{step}"
        shutil.copytree(repository, folder)
        if not killed_before(step, partial(work, folder)):
            break
        seen.update(f.rule for f in validate_paths([folder]))
        try:
            work(folder)
        except SourceError:  # nothing is left to freeze: it was killed after its last change
            freeze(folder, "1.0.0", TODAY)
            complete_release(folder, "1.0.0")
        assert contents(folder) == contents(whole), step
    assert step > 10
    assert "version-file" in seen, "one of the kills was between the first change and the last"


def test_freezing_on_a_full_disk_changes_nothing(repository: Path, invoke: Invoke) -> None:
    with full_disk(1000):
        errors = invoke.refused("releases", "--freeze", "--source", repository, keeps=repository)
    assert ("cannot write" in errors, errors.count("\n")) == (True, 1)


def test_another_number_does_not_continue_an_interrupted_one(
    repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as interrupted:
        interrupted.setattr("holisticbias.contribute.freeze.write_files", Mock(side_effect=KeyboardInterrupt))
        code, _, errors = invoke("releases", "--freeze", "--source", repository)
    said = "holisticbias: interrupted; run holisticbias releases --freeze 1.0.0 to finish\n"
    assert (code, errors.endswith(said)) == (130, True), errors
    said = "freezing 1.0.0 was interrupted: finish it with holisticbias releases --freeze 1.0.0"
    assert said in invoke.refused("releases", "--freeze", "2.0.0", "--source", repository)
    invoke.printed("releases", "--freeze", "1.0.0", "--source", repository)
    assert load_catalog(repository).published == ("0.1.0", "1.0.0")


def test_a_fix_comes_before_next(repository: Path, invoke: Invoke) -> None:
    """0.2.0 adds one term that 1.0.0, which follows, has too; 0.2.0 has nothing else of it."""
    source = ("--source", repository)
    invoke.printed("releases", "--fix", "0.1.1", *source)
    term = ("--text", "with a test", "--axis", "ability", "--bucket", "mobility", "--from", "made-up", "--yes")
    invoke.printed("add", *term, "--version", "0.1.1", *source)
    said = "0.1.1 is in preparation and comes before next: freeze it first"
    assert said in invoke.refused("releases", "--freeze", *source)
    replaced(repository / "releases" / "0.1.1.yaml", "In preparation.", "A term that was missing.")
    said = "its changes need a minor version, such as 0.2.0"
    assert said in invoke.refused("releases", "--freeze", "0.1.1", *source)
    stale = stale_files(term_files(repository))
    with full_disk((repository / "releases" / "0.1.1.yaml").stat().st_size):
        assert "cannot write" in invoke.refused("releases", "--fix", "0.2.0", *source, keeps=repository)
    invoke.printed("releases", "--fix", "0.2.0", *source)
    assert "0.1.1" not in written(repository)
    assert stale_files(term_files(repository)) <= stale
    locks = repository / "releases"
    shutil.copy(locks / "0.1.0.lock.json", locks / "0.2.0.lock.json")  # as a killed call leaves it
    invoke.printed("releases", "--freeze", "0.2.0", *source)
    catalog = load_catalog(repository)
    assert (catalog.versions, catalog.published) == (("0.1.0", "0.2.0", "next"), ("0.1.0", "0.2.0"))
    held = {version: descriptor_ids(catalog, version) for version in catalog.versions}
    assert held["0.2.0"] - held["0.1.0"] == {"ability.with-a-test"}
    assert held["0.2.0"] < held["next"]
    invoke.printed("releases", "--freeze", *source)
    assert load_catalog(repository).published == ("0.1.0", "0.2.0", "1.0.0")


def test_another_number_for_the_only_version_continues_wherever_it_is_killed(root: Path, tmp_path: Path) -> None:
    """The old version, which loses its entries one file after the other, is not valid in between."""
    start = tmp_path / "start"
    names = {"descriptors": "ability", "nouns": "neutral", "templates": "dialogue", "releases": "1.0.0"}
    for kind, name in names.items():
        (start / kind).mkdir(parents=True)
        shutil.copy(root / "tests" / "data" / "smallest" / f"{kind}.yaml", start / kind / f"{name}.yaml")
    shutil.copy(root / "tests" / "data" / "smallest" / "sources.yaml", start)
    whole = shutil.copytree(start, tmp_path / "whole")
    begin_version(whole, "2.0.0")
    assert load_catalog(whole).versions == ("2.0.0",)
    seen: set[str] = set()
    for step in count():
        folder = shutil.copytree(start, tmp_path / f"killed-{step}")
        if not killed_before(step, partial(begin_version, folder, "2.0.0")):
            break
        seen.update(finding.rule for finding in validate_paths([folder]))
        begin_version(folder, "2.0.0")
        assert contents(folder) == contents(whole), step
    assert (step > 10, "empty-version" in seen) == (True, True)


def test_a_digest_that_moved_is_reported_and_not_recorded_again(repository: Path, invoke: Invoke) -> None:
    source, path = ("--source", repository), repository / "releases" / "0.1.0.yaml"
    before = contents(repository)
    invoke.printed("releases", "--freeze", "0.1.0", *source)
    assert contents(repository) == before
    release = load_catalog(repository).release("0.1.0")
    replaced(path, release.tables["history"], "0" * 64)
    code, out, _ = invoke("releases", "--check", *source)
    said = f"0.1.0 (table history) differs from the published version: digest {release.tables['history']}, recorded 000"
    assert (code, said in out, "compiled to the recorded digests" in out) == (1, True, False), out
    replaced(path, str(release.digest), "0" * 64)
    said = f"was published with digest 000000000000, but now has digest {str(release.digest)[:12]}"
    assert said in invoke.refused("releases", "--freeze", "0.1.0", *source)
    said = f"0.1.0 differs from the published version: digest {release.digest}, recorded {'0' * 64}\n"
    assert invoke("releases", "--check", *source) == (1, said, "")


# what follows from a release

TOWNCRIER = """[tool.towncrier]
directory = "changes"
filename = "CHANGELOG.md"
title_format = "## {version} ({project_date})"
type = [{ directory = "terms", name = "Terms", showcontent = true }]
"""
CITATION = "cff-version: 1.2.0\ntitle: An example\nversion: 0.0.9\ndate-released: 2020-01-01\nlicense: MIT\n"


@pytest.fixture
def project(data: Path, tmp_path: Path) -> Path:
    """Two versions in preparation, 0.1.0 and 0.2.0, in a repository with a changelog and a citation."""
    folder = tmp_path / "project"
    shutil.copytree(data / "two-versions", folder)
    (folder / "changes").mkdir()
    texts = {
        "pyproject.toml": TOWNCRIER,
        "CHANGELOG.md": "# Changelog\n\n<!-- towncrier release notes start -->\n",
        "CITATION.cff": CITATION,
        "README.md": "Version 0.1.0.\n",
        "changes/README.md": "One file per change.\n",
        "changes/+kind.terms.md": "Adds a kind word.\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_freezing_does_what_a_release_takes(project: Path, invoke: Invoke) -> None:
    """The citation, the changelog, the following version, and the steps that are left; a second run changes nothing."""
    source, today = ("--source", project), datetime.now(UTC).date()
    said = invoke.printed("releases", "--freeze", "0.1.0", *source)
    cited = yaml.safe_load((project / "CITATION.cff").read_text("utf-8"))
    assert cited == {**yaml.safe_load(CITATION), "version": "0.1.0", "date-released": today}
    changelog = (project / "CHANGELOG.md").read_text("utf-8")
    assert (f"## 0.1.0 ({today})" in changelog, "Adds a kind word." in changelog) == (True, True)
    assert [path.name for path in (project / "changes").iterdir()] == ["README.md"]
    assert load_catalog(project).release("0.1.0").date == today.isoformat()
    steps = re.findall(r"^(\d)\. (.*)", said, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert [text.partition(":")[0] for _, text in steps] == [
        "Read the section on 0.1.0 in CHANGELOG.md; releases/0.1.0.changes.json has the numbers",
        "Commit and merge",
        "Publish",
    ]
    invoke.printed("releases", "--fix", "1.0.0", *source)
    for _ in range(2):
        invoke.printed("releases", "--freeze", "1.0.0", *source)
    catalog = load_catalog(project)
    assert (catalog.versions, catalog.published) == (("0.1.0", "1.0.0", "next"), ("0.1.0", "1.0.0"))
    following = catalog.release("next")
    assert (following.summary, following.digest, following.date) == ("In preparation.", None, None)
    assert following.layout == catalog.release("1.0.0").layout
    changelog = (project / "CHANGELOG.md").read_text("utf-8")
    assert changelog.count("Entries that differ from 0.1.0:") == 1
    assert '- characteristics: added: "orphaned"\n' in changelog
    assert '- race_ethnicity: reworded: "person of color"\n' in changelog
    assert changelog.index("## 1.0.0 (") < changelog.index("Entries that differ") < changelog.index("## 0.1.0 (")
    assert [path.name for path in (project / "changes").iterdir()] == ["README.md"]


def test_the_steps_that_are_left_depend_on_the_repository(repository: Path, invoke: Invoke) -> None:
    (repository / "evaluation" / "reference").mkdir(parents=True)
    for name in ("Makefile", ".github/workflows/release.yml", "changes/+a.terms.md"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("A.\n", "utf-8")
    said = invoke.printed("releases", "--freeze", "1.0.0", "--source", repository)
    assert re.findall(r"^\d\. (\w+)", said, re.MULTILINE) == ["Write", "Measure", "Measure", "Run", "Commit", "Tag"]
    assert "wrote" not in invoke.printed("releases", "--freeze", "0.1.0", "--source", repository), "an older one"


def test_what_is_left_to_do_is_not_lost_among_collected_fragments(project: Path, invoke: Invoke) -> None:
    """Many files of a folder are counted; a fragment that the command made itself is not one of them."""
    invoke.printed("releases", "--freeze", "0.1.0", "--source", project)
    invoke.printed("releases", "--fix", "1.0.0", "--source", project)
    for number in range(30):
        (project / "changes" / f"+{number}.terms.md").write_text(f"Adds word {number}.\n", "utf-8")
    said = invoke.printed("releases", "--freeze", "1.0.0", "--source", project)
    assert f"removed 30 files in {project / 'changes'}: git status lists them\n" in said
    assert said.count("removed") == 1
    assert said.index("Left to do:") < 1000


def test_a_changelog_that_cannot_be_written_is_an_error(project: Path, invoke: Invoke) -> None:
    (project / "pyproject.toml").write_text("[tool.towncrier]\ndirectory = 1\n", "utf-8")
    errors = invoke.refused("releases", "--freeze", "0.1.0", "--source", project)
    assert "0.1.0 is frozen, but towncrier could not write CHANGELOG.md" in errors
    (project / "pyproject.toml").write_text(TOWNCRIER, "utf-8")
    invoke.printed("releases", "--freeze", "0.1.0", "--source", project)
    assert "## 0.1.0 (" in (project / "CHANGELOG.md").read_text("utf-8")


def test_an_interrupted_changelog_is_finished(project: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fragments that the changelog has, as a killed command or a locked git index leaves them, are removed."""
    arguments, folder = ("releases", "--freeze", "0.1.0", "--source", project), project / "changes"
    monkeypatch.setattr(release_files, "complete_release", Mock(side_effect=KeyboardInterrupt))
    code, _, errors = invoke(*arguments)
    assert (code, "run holisticbias releases --freeze 0.1.0 to finish" in errors) == (130, True)
    monkeypatch.undo()
    collected = (folder / "+kind.terms.md").read_text("utf-8")
    assert "removed" in invoke.printed(*arguments)
    changelog = (project / "CHANGELOG.md").read_text("utf-8")
    (folder / "+kind.terms.md").write_text(collected, "utf-8")
    (folder / "+later.terms.md").write_text("Adds a later word.\n", "utf-8")
    said = invoke.printed(*arguments)
    assert f"removed {folder / '+kind.terms.md'}" in said
    assert "Write the changelog" not in said
    assert {path.name for path in folder.iterdir()} == {"README.md", "+later.terms.md"}
    assert (project / "CHANGELOG.md").read_text("utf-8") == changelog


def test_the_citation_names_the_newest_published_version(root: Path, catalog: Catalog) -> None:
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    newest = catalog.release(max(catalog.published, key=version_key))
    assert (cited["version"], str(cited["date-released"])) == (newest.version, newest.date)


# withdrawals


def test_a_withdrawn_version_is_what_it_was_and_its_users_are_warned(
    repository: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ("--source", repository)
    only_add(repository)
    invoke.printed("releases", "--freeze", "0.2.0", *source)
    write_release(build_release(load_catalog(repository), "0.2.0"), tmp_path / "built")
    withdrawn = invoke.printed("releases", "--withdraw", "0.2.0", "--reason", "two terms\nwere wrong.", *source)
    date = load_catalog(repository).release("0.2.0").model_dump()["withdrawn"]["date"]
    said = f"version 0.2.0 was withdrawn on {date}: two terms were wrong; use 0.1.0"
    assert said in withdrawn
    again = invoke.refused("releases", "--withdraw", "0.2.0", "--reason", "x", *source)
    assert "version 0.2.0 is withdrawn already" in again
    monkeypatch.setattr(verify, "find_source", lambda _: repository)  # the record of the package
    assert validate_paths([repository]) == ()
    assert "published versions compiled to the recorded digests" in invoke.printed("releases", "--check", *source)
    assert newest_version(load_catalog(repository)) == "0.1.0"
    assert "two terms were wrong.\n" in invoke.printed("releases", *source)
    rows = json.loads(invoke.printed("releases", "--format", "json", *source))
    assert [row["withdrawn"] is None for row in rows] == [True, False, True]
    counts = {"descriptors": 7, "nouns": 2, "templates": 3, "groups": 0, "prompts": 0, "specifications": 0}
    assert {name: rows[0][name] for name in counts} == counts
    with pytest.warns(WithdrawnVersionWarning, match="two terms were wrong; use 0.1.0"):
        open_release(tmp_path / "built")
    code, out, err = invoke("verify", tmp_path / "built")
    assert (code, "is complete" in out, err) == (0, True, f"warning: {said}\n")
    code, _, err = invoke("build", "--version", "0.2.0", "--out", tmp_path / "again", *source)
    assert (code, err) == (0, f"warning: {said}\n")
    with pytest.raises(PublishError, match="which was withdrawn on"):
        publish.publish_release(tmp_path / "built", "organisation/name", dry_run=True)


def test_a_version_in_preparation_is_not_withdrawn_by_hand(repository: Path) -> None:
    path = repository / "releases" / "next.yaml"
    path.write_text(path.read_text("utf-8") + "withdrawn: {date: 2026-01-02, reason: An example.}\n", "utf-8")
    assert [f.rule for f in validate_paths([repository])] == ["withdrawn-version"]
