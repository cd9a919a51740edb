"""The version ``next``: it gets its number when it is frozen, whatever interrupts that; fixes come before it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias.contribute.freeze import freeze
from holisticbias.contribute.release_files import complete_release
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.folder import term_files
from killed import killed_before

Invoke = Callable[..., tuple[int, str, str]]

TODAY = "2026-11-25"
HISTORY = "    history:\n      - {until: next, plural: persons of color, reason: people is the usual plural}\n"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new), "utf-8")


def written(folder: Path) -> str:
    """All that the files of terms say."""
    return "".join(path.read_text("utf-8") for path in term_files(folder))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def only_add(folder: Path) -> None:
    """Take back that ``next`` rewords an entry."""
    path = folder / "descriptors" / "race_ethnicity.yaml"
    edit(path, HISTORY, "")
    edit(path, "plural: people of color", "plural: persons of color")


def only_judge(folder: Path) -> None:
    """Take back all that ``next`` changes, and add a judgement."""
    only_add(folder)
    (folder / "templates" / "seat.yaml").unlink()
    path = folder / "descriptors" / "characteristics.yaml"
    path.write_text("".join(x for x in path.open(encoding="utf-8") if "since: next" not in x), "utf-8")
    judged = "      - {judgement: accepted, source: made-up, date: 2026-01-02"
    edit(folder / "descriptors" / "ability.yaml", f"{judged}}}\n", f"{judged}}}\n{judged}, since: next}}\n")


def test_a_version_in_preparation_that_has_a_number_becomes_next(data: Path, tmp_path: Path, invoke: Invoke) -> None:
    folder = tmp_path / "terms"
    shutil.copytree(data / "two-versions", folder)
    assert invoke("releases", "--freeze", "0.1.0", "--source", folder)[0] == 0
    code, out, err = invoke("releases", "--next", "--source", folder)
    assert (code, err, "next is in preparation." in out) == (0, "", True)
    assert "0.2.0" not in written(folder)
    assert {path.name for path in (folder / "releases").glob("*.yaml")} == {"0.1.0.yaml", "next.yaml"}
    assert validate_paths([folder]) == ()
    before = files(folder)
    assert invoke("releases", "--next", "--source", folder)[0] == 0
    assert files(folder) == before


@pytest.mark.parametrize(
    ("change", "number"),
    [(lambda _: None, "1.0.0"), (only_add, "0.2.0"), (only_judge, "0.1.1")],
    ids=["reworded", "added", "judged"],
)
def test_the_number_follows_from_the_changes(
    repository: Path, invoke: Invoke, change: Callable[[Path], None], number: str
) -> None:
    change(repository)
    code, out, err = invoke("releases", "--freeze", "--source", repository)
    assert (code, err, f"{number}: digest " in out) == (0, "", True)
    catalog = load_catalog(repository)
    assert catalog.versions == ("0.1.0", number, "next")
    assert catalog.published == ("0.1.0", number)
    assert "next" not in written(repository).replace((repository / "releases/next.yaml").read_text("utf-8"), "")
    assert validate_paths([repository]) == ()
    code, _, err = invoke("releases", "--freeze", "--source", repository)
    assert (code, f"nothing has changed since {number}; to repeat its last steps: --freeze {number}" in err) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("0.2.0", "0.2.0 is a minor version after 0.1.0, but its changes need a major version, such as 1.0.0"),
        ("0.1.0", None),
        ("0.0.9", "the next version comes after 0.1.0, so 0.0.9 cannot be its number"),
        ("next", "'next' is not a version number such as 4.0.0"),
        ("3.1", "'3.1' is not a version number such as 4.0.0"),
        ("2.0.0", None),
    ],
)
def test_a_number_can_be_given(repository: Path, invoke: Invoke, number: str, message: str | None) -> None:
    before = files(repository)
    code, _, err = invoke("releases", "--freeze", number, "--source", repository)
    if message is None:
        assert (code, err) == (0, "")
        assert number in load_catalog(repository).published
    else:
        assert (code, message in err) == (2, True), err
        assert files(repository) == before


def test_what_is_not_valid_is_not_frozen(repository: Path, invoke: Invoke) -> None:
    edit(repository / "releases" / "next.yaml", "summary: For the tests.", "summary: In preparation.")
    before = files(repository)
    code, _, err = invoke("releases", "--freeze", "--source", repository)
    assert (code, "the summary in releases/next.yaml still says 'In preparation'" in err) == (2, True), err
    assert files(repository) == before
    edit(repository / "descriptors" / "race_ethnicity.yaml", "until: next", "until: 9.9.9")
    before = files(repository)
    code, _, err = invoke("releases", "--freeze", "--source", repository)
    assert (code, "The version 9.9.9 has no file in releases/" in err) == (2, True), err
    assert files(repository) == before


def test_freezing_continues_wherever_it_is_killed(repository: Path, tmp_path: Path, invoke: Invoke) -> None:
    """Killed before each of its changes to files, it leaves a state that a second call completes to the same files."""
    whole = tmp_path / "whole"
    shutil.copytree(repository, whole)
    freeze(whole, None, TODAY)
    complete_release(whole, "1.0.0")
    seen: set[str] = set()
    step = 0
    while True:
        folder = tmp_path / f"killed-{step}"
        shutil.copytree(repository, folder)

        def work(folder: Path = folder) -> None:
            version, _ = freeze(folder, None, TODAY)
            complete_release(folder, version)

        if not killed_before(step, work):
            break
        seen.update(f.rule for f in validate_paths([folder]))
        code, _, err = invoke("releases", "--freeze", "--source", folder)
        if "to repeat its last steps: --freeze 1.0.0" in err:  # it was killed after its last change
            code, _, err = invoke("releases", "--freeze", "1.0.0", "--source", folder)
        assert (code, err) == (0, ""), step
        left = {name: text.replace(_today(folder), TODAY.encode()) for name, text in files(folder).items()}
        assert left == files(whole), step
        step += 1
    assert step > 10
    assert "version-file" in seen, "one of the kills was between the first change and the last"


def _today(folder: Path) -> bytes:
    date = load_catalog(folder).release("1.0.0").date
    assert date is not None
    return date.encode()


def test_another_number_does_not_continue_an_interrupted_one(repository: Path, invoke: Invoke) -> None:
    (repository / "releases" / "next.yaml").rename(repository / "releases" / "1.0.0.yaml")
    code, _, err = invoke("releases", "--freeze", "2.0.0", "--source", repository)
    assert (code, "freezing 1.0.0 was interrupted: finish it with holisticbias releases --freeze 1.0.0" in err) == (
        2,
        True,
    )
    assert invoke("releases", "--freeze", "1.0.0", "--source", repository)[0] == 0
    assert load_catalog(repository).published == ("0.1.0", "1.0.0")


def test_a_fix_comes_before_next(repository: Path, invoke: Invoke) -> None:
    """0.2.0 adds one term that 1.0.0, which follows, has too; 0.2.0 has nothing else of it."""
    assert invoke("releases", "--fix", "0.1.1", "--source", repository)[0] == 0
    term = ("--text", "with a test", "--axis", "ability", "--bucket", "mobility", "--from", "made-up", "--yes")
    assert invoke("add", *term, "--version", "0.1.1", "--source", repository)[0] == 0
    code, _, err = invoke("releases", "--freeze", "--source", repository)
    assert (code, "0.1.1 is in preparation and comes before next: freeze it first" in err) == (2, True)
    code, _, err = invoke("releases", "--freeze", "0.1.1", "--source", repository)
    assert (code, "in releases/0.1.1.yaml still says 'In preparation'" in err) == (2, True), err
    edit(repository / "releases" / "0.1.1.yaml", "In preparation.", "A term that was missing.")
    code, _, err = invoke("releases", "--freeze", "0.1.1", "--source", repository)
    assert (code, "its changes need a minor version, such as 0.2.0" in err) == (2, True), err
    assert invoke("releases", "--fix", "0.2.0", "--source", repository)[0] == 0
    assert "0.1.1" not in written(repository)
    assert invoke("releases", "--freeze", "0.2.0", "--source", repository)[0] == 0
    catalog = load_catalog(repository)
    assert (catalog.versions, catalog.published) == (("0.1.0", "0.2.0", "next"), ("0.1.0", "0.2.0"))
    held = {v: {d.id for a in catalog.at(v).axes for d in a.descriptors} for v in catalog.versions}
    assert held["0.2.0"] - held["0.1.0"] == {"ability.with-a-test"}
    assert held["0.2.0"] < held["next"]
    assert invoke("releases", "--freeze", "--source", repository)[0] == 0
    assert load_catalog(repository).published == ("0.1.0", "0.2.0", "1.0.0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("releases", "--fix", "0.1.0"), "a fix comes after 0.1.0, so 0.1.0 cannot be its number"),
        (("releases", "--fix", "next"), "'next' is not a version number"),
        (("releases", "--fix", "0.1.1", "--next"), "one of --check, --freeze, --next, --fix and --withdraw"),
        (("assess", "ability.deaf", "--version", "0.1.0"), "version 0.1.0 is published and cannot change"),
        (("assess", "ability.deaf", "--version", "0.1.1"), "begin a fix with holisticbias releases --fix 0.1.1"),
    ],
)
def test_a_fix_that_cannot_be_made(repository: Path, invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    before = files(repository)
    judged = ("--judgement", "accepted", "--reviewer", "rv-0001") if arguments[0] == "assess" else ()
    code, _, err = invoke(*arguments, *judged, "--source", repository)
    assert (code, message in err) == (2, True), err
    assert files(repository) == before


def test_a_contribution_that_names_the_number_to_come_is_told_to_write_next(repository: Path) -> None:
    path = repository / "descriptors" / "characteristics.yaml"
    path.write_text(path.read_text("utf-8").replace("since: next", "since: 1.0.0"), "utf-8")
    found = {(f.rule, f.message, f.fix) for f in validate_paths([repository])}
    assert found == {
        (
            "known-version",
            "The version 1.0.0 has no file in releases/.",
            "write next, which is the version in preparation.",
        )
    }


def test_the_project_prepares_next(root: Path) -> None:
    """No entry has the number of a version to come."""
    catalog = load_catalog(root)
    assert catalog.versions[-1] == "next"
    assert set(catalog.versions) - set(catalog.published) == {"next"}
