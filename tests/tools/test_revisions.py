"""Revisions of the terms: folders, commits, the default branch, and files that cannot be read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias.contribute.authoring import next_version
from holisticbias.contribute.diff import compare
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.revisions import Revision, folder_files, named_files, open_sides
from holisticbias.errors import SourceError
from holisticbias.rules.validate import load_catalog


def open_revision(name: str, root: Path) -> Revision:
    files = named_files(name, root)
    return open_sides(files, files).new


@pytest.fixture
def git_terms(terms_copy: Path) -> Path:
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(terms_copy), *arguments], check=True, capture_output=True)
    return terms_copy


def test_revisions(git_terms: Path, invoke: Callable[..., tuple[int, str, str]]) -> None:
    path = git_terms / "descriptors" / "nonce.yaml"
    path.write_text(path.read_text("utf-8").replace("text: blicket", "text: blickett"), "utf-8")
    code, out, _ = invoke("diff", "HEAD", git_terms, "--source", git_terms)
    assert code == 0
    assert "nonce.blicket: blickett\n    text: blicket -> blickett" in out
    assert "version bump: major" in out


def commit(folder: Path) -> None:
    for arguments in (("add", "-A"), ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_a_commit_cannot_hide_files(git_terms: Path) -> None:
    """Attributes that leave files out of an archive."""
    whole = open_revision("HEAD", git_terms)
    (git_terms / ".gitattributes").write_text("descriptors/*.yaml export-ignore\n* export-subst\n", "utf-8")
    commit(git_terms)
    assert open_revision("HEAD", git_terms).catalog == whole.catalog


def test_a_large_file_in_a_commit_is_not_read(git_terms: Path) -> None:
    """Only the terms are read, and they have a limit."""
    (git_terms / "large.bin").write_bytes(bytes(70_000_000))
    (git_terms / "descriptors" / "large.bin").write_bytes(bytes(70_000_000))
    (git_terms / "descriptors" / "linked.yaml").symlink_to("/etc/passwd")
    commit(git_terms)
    assert open_revision("HEAD", git_terms).catalog.axes
    (git_terms / "descriptors" / "large.yaml").write_bytes(b"#" * 70_000_000)
    commit(git_terms)
    with pytest.raises(SourceError, match=r"more than 64,000,000 bytes; the largest file is descriptors/large\.yaml"):
        open_revision("HEAD", git_terms)


def test_retired_entry_names_what_takes_its_place(git_terms: Path) -> None:
    """The older revision does not have the replacement yet."""
    path = git_terms / "descriptors" / "nonce.yaml"
    version = next_version(load_catalog(git_terms))
    (git_terms / "releases" / f"{version}.yaml").write_text(
        f"version: {version}\ndate: 2026-01-01\nsummary: An example.\narticle_rule: sound\nlayout: 5\n", "utf-8"
    )
    gone = f"    text: blicket\n    until: {version}\n    replaced_by: nonce.stad\n"
    path.write_text(path.read_text("utf-8").replace("    text: blicket\n", gone), "utf-8")
    found = compare(open_revision("HEAD", git_terms), open_revision(str(git_terms), git_terms))
    assert [(e.id, e.change, e.replaced_by) for e in found.entries] == [("nonce.blicket", "retired", "nonce.stad")]
    assert "| `nonce.blicket` | `blicket` | retired |  | `nonce.stad` |" in render_difference(found, "md")
    assert "nonce.blicket: blicket (replaced by nonce.stad)" in render_difference(found, "text")


@pytest.mark.parametrize("name", ["no-such-revision", "--output=x", "HEAD:descriptors", "", "a\x1bb"])
def test_name_that_means_nothing(git_terms: Path, name: str) -> None:
    with pytest.raises(SourceError, match="is not a version in releases/, a folder, or a git revision"):
        open_revision(name, git_terms)


def test_invalid_terms_can_be_compared(git_terms: Path) -> None:
    path = git_terms / "templates" / "dialogue.yaml"
    path.write_text(path.read_text("utf-8").replace('"I\'m {noun_phrase}."', '"{noun_phrase.__class__}"'), "utf-8")
    sides = open_sides(named_files("HEAD", git_terms), folder_files(git_terms))
    assert (compare(sides.old, sides.new).entries, sides.unread) == ((), ())


def test_a_file_that_cannot_be_read_is_no_difference(
    git_terms: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_terms)
    for name in ("descriptors/ability.yaml", "templates/dialogue.yaml", "releases/2.0.0.yaml"):
        path = git_terms / name
        before = path.read_text("utf-8")
        path.write_text(f"{before}x: [\n", "utf-8")
        code, out, err = invoke("diff", "HEAD")
        assert (code, "sentences: 0 added, 0 changed, 0 gone" in out) == (1, True)
        assert err.startswith(f"not compared: {name}:")
        code, out, _ = invoke("preview", "HEAD")
        assert (code, "## Not ready yet: 1 to fix" in out, "Missing reviews" in out) == (0, True, False)
        path.write_text(before, "utf-8")


@pytest.fixture
def contribution(git_terms: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a branch that adds a term; the default branch has another term since then."""
    git(git_terms, "branch", "-M", "main")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(git_terms), str(clone)], check=True, capture_output=True)
    git(clone, "switch", "-qc", "mine")
    for folder, word in ((git_terms, "theirs"), (clone, "mine")):
        version = next_version(load_catalog(folder))
        path = folder / "descriptors" / "nonce.yaml"
        entry = f"\n  - id: nonce.{word}\n    text: {word}\n    sources: [smith-2022]\n    since: {version}\n"
        path.write_text(path.read_text("utf-8") + entry, "utf-8")
        head = f"version: {version}\ndate: 2026-01-01\nsummary: An example.\narticle_rule: sound\nlayout: 5\n"
        (folder / "releases" / f"{version}.yaml").write_text(head, "utf-8")
        commit(folder)
    git(clone, "fetch", "-q")
    monkeypatch.chdir(clone)
    return clone


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_default_is_where_the_branch_left_the_default_branch(
    contribution: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(contribution)
    code, out, _ = invoke("diff")
    assert (code, out.split("\n")[0].split(" ")[0]) == (0, "origin/main")
    assert "\nadded: 1\n  nonce.mine: mine\n" in out
    assert "version bump: minor" in out
    code, out, _ = invoke("preview")
    assert (code, "| `nonce` | 1 |" in out, "nonce.theirs" in out) == (0, True, False)


def test_a_commit_is_previewed_without_a_checkout(
    contribution: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its findings are those of the commit, not those of the folder."""
    path = contribution / "descriptors" / "nonce.yaml"
    path.write_text(path.read_text("utf-8").replace("text: mine", "text: 'mine '"), "utf-8")
    commit(contribution)
    head = git(contribution, "rev-parse", "HEAD")
    git(contribution, "switch", "-q", "--detach", "origin/main")
    monkeypatch.chdir(contribution)
    code, out, _ = invoke("preview", git(contribution, "merge-base", "HEAD", head), head)
    assert (code, "## Not ready yet: 1 to fix" in out, "`descriptors/nonce.yaml:" in out) == (0, True, True)
    assert f"to `{head[:9]} (" in out


def test_without_a_default_branch_the_user_names_what_to_compare_with(
    git_terms: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    git(git_terms, "branch", "-M", "mine")
    monkeypatch.chdir(git_terms)
    code, _, err = invoke("preview")
    assert (code, "no commit in common with a default branch, such as origin/main: name a version" in err) == (2, True)


def test_a_version_in_preparation_whose_number_is_too_low_is_named(
    git_terms: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_terms)
    catalog = load_catalog(git_terms)
    major, minor, _ = map(int, catalog.published[-1].split("."))
    for prepared in set(catalog.versions) - set(catalog.published):
        (git_terms / "releases" / f"{prepared}.yaml").unlink()
        for path in git_terms.rglob("*.yaml"):
            path.write_text(path.read_text("utf-8").replace(prepared, f"{major}.{minor + 1}.0"), "utf-8")
    head = f"version: {major}.{minor + 1}.0\ndate: 2026-01-01\nsummary: An example.\narticle_rule: sound\nlayout: 5\n"
    (git_terms / "releases" / f"{major}.{minor + 1}.0.yaml").write_text(head, "utf-8")
    commit(git_terms)
    path = git_terms / "descriptors" / "nonce.yaml"
    gone = f"    text: blicket\n    until: {major}.{minor + 1}.0\n    replaced_by: nonce.stad\n"
    path.write_text(path.read_text("utf-8").replace("    text: blicket\n", gone), "utf-8")
    said = "is a minor version after"
    assert said in invoke("diff", "HEAD")[2]
    assert said in invoke("preview", "HEAD")[1]


def test_a_commit_cannot_name_files_outside_its_folder(git_terms: Path, tmp_path: Path) -> None:
    blob = git(git_terms, "hash-object", "-w", "descriptors/nonce.yaml")
    inner = b"100644 outside.yaml\0" + bytes.fromhex(blob)
    tree = write_tree(git_terms, inner)
    up = write_tree(git_terms, b"40000 ..\0" + bytes.fromhex(tree))
    names = {name: git(git_terms, "rev-parse", f"HEAD:{name}") for name in ("nouns", "templates", "releases")}
    content = b"40000 descriptors\0" + bytes.fromhex(up)
    content += b"".join(b"40000 %s\0" % n.encode() + bytes.fromhex(h) for n, h in sorted(names.items()))
    head = git(
        git_terms,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b.c",
        "commit-tree",
        "-m",
        "x",
        write_tree(git_terms, content),
    )
    with pytest.raises(SourceError, match="has no terms"):
        open_revision(head, git_terms)


def write_tree(folder: Path, content: bytes) -> str:
    command = ["git", "-C", str(folder), "hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
    return subprocess.run(command, input=content, check=True, capture_output=True).stdout.decode().strip()


def test_default_is_the_folder_of_terms_around_the_current_one(
    git_terms: Path, invoke: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_terms / "descriptors")
    code, out, _ = invoke("diff", "HEAD")
    assert (code, out.split("\n")[0].split(" -> ")[1][:2]) == (0, "..")
    assert invoke("preview")[0] == 0
