"""Revisions of the terms: folders, commits, the default branch, and files that cannot be read."""

import subprocess
from pathlib import Path

import pytest

from folders import replaced
from holisticbias.contribute.diff import compare
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.revisions import Revision, folder_files, named_files, open_sides
from holisticbias.errors import SourceError
from holisticbias.rules.validate import load_catalog
from invoking import Invoke
from repositories import commit_all, git
from small_terms import add_term

NONCE = "descriptors/nonce.yaml"


def open_revision(name: str, root: Path) -> Revision:
    files = named_files(name, root)
    return open_sides(files, files).new


@pytest.fixture
def git_terms(terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of terms, with one commit, around the current folder."""
    commit_all(terms_copy)
    monkeypatch.chdir(terms_copy)
    return terms_copy


def test_a_revision_and_the_folder_around_the_current_one(
    git_terms: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(git_terms / NONCE, "text: blicket", "text: blickett")
    said = invoke.printed("diff", "HEAD", git_terms, "--source", git_terms)
    assert "nonce.blicket: blickett\n    text: blicket -> blickett" in said
    assert "version bump: major" in said
    monkeypatch.chdir(git_terms / "descriptors")
    assert invoke.printed("diff", "HEAD").split("\n")[0].split(" -> ")[1][:2] == ".."
    invoke.printed("preview")


def test_a_commit_cannot_hide_files(git_terms: Path) -> None:
    """Attributes that leave files out of an archive, and the other ending of YAML."""
    whole = open_revision("HEAD", git_terms)
    (git_terms / NONCE).rename((git_terms / NONCE).with_suffix(".yml"))
    (git_terms / ".gitattributes").write_text("descriptors/*.yaml export-ignore\n* export-subst\n", "utf-8")
    commit_all(git_terms)
    assert open_revision("HEAD", git_terms).catalog == whole.catalog


def test_a_large_file_in_a_commit_is_not_read(git_terms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the terms are read, and they have a limit."""
    monkeypatch.setattr("holisticbias.contribute.revisions._LARGEST", 640_000)
    for name in ("large.bin", "descriptors/large.bin"):
        (git_terms / name).write_bytes(bytes(700_000))
    (git_terms / "descriptors" / "linked.yaml").symlink_to("/etc/passwd")
    commit_all(git_terms)
    assert open_revision("HEAD", git_terms).catalog.axes
    (git_terms / "descriptors" / "large.yaml").write_bytes(b"#" * 700_000)
    commit_all(git_terms)
    with pytest.raises(SourceError, match=r"more than 640,000 bytes; the largest file is descriptors/large\.yaml"):
        open_revision("HEAD", git_terms)


def test_retired_entry_names_what_takes_its_place(git_terms: Path) -> None:
    """The older revision does not have the replacement yet."""
    gone = "    text: blicket\n    until: next\n    replaced_by: nonce.stad\n"
    replaced(git_terms / NONCE, "    text: blicket\n", gone)
    found = compare(open_revision("HEAD", git_terms), open_revision(str(git_terms), git_terms))
    assert [(e.id, e.change, e.replaced_by) for e in found.entries] == [("nonce.blicket", "retired", "nonce.stad")]
    assert "| `nonce.blicket` | `blicket` | retired |  | `nonce.stad` |" in render_difference(found, "md")
    assert "nonce.blicket: blicket (replaced by nonce.stad)" in render_difference(found, "text")


def test_names_that_mean_nothing(git_terms: Path, invoke: Invoke) -> None:
    for name in ("no-such-revision", "--output=x", "HEAD:descriptors", "", "a\x1bb"):
        with pytest.raises(SourceError, match="is not a version in releases/, a folder, or a git revision"):
            open_revision(name, git_terms)
    assert "'no-such' is not a commit of" in invoke.refused("preview", "HEAD", "no-such", "--merge")
    assert "--merge needs two commits" in invoke.refused("preview", "HEAD", "--merge")
    git(git_terms, "branch", "-M", "mine")
    said = "no commit in common with a default branch, such as origin/main: name a version"
    assert said in invoke.refused("preview"), "the user names what to compare with"
    (git_terms / ".git").rename(git_terms / "downloaded")
    assert "has no git commits: name a version (holisticbias releases lists them)" in invoke.refused("diff")


def test_terms_that_break_rules_can_be_compared(git_terms: Path, invoke: Invoke) -> None:
    """A file that cannot be read does not count as a difference."""
    path = git_terms / "templates" / "dialogue.yaml"
    before = path.read_text("utf-8")
    replaced(path, '"I\'m {noun_phrase}."', '"{noun_phrase.__class__}"')
    sides = open_sides(named_files("HEAD", git_terms), folder_files(git_terms))
    assert (compare(sides.old, sides.new).entries, sides.unread) == ((), ())
    path.write_text(before, "utf-8")
    for name in ("descriptors/ability.yaml", "templates/dialogue.yaml", "releases/2.0.0.yaml"):
        path = git_terms / name
        before = path.read_text("utf-8")
        path.write_text(f"{before}x: [\n", "utf-8")
        code, out, err = invoke("diff", "HEAD")
        assert (code, "sentences: 0 added, 0 changed, 0 gone" in out) == (1, True)
        assert err.startswith(f"not compared: {name}:")
        shown = invoke.printed("preview", "HEAD")
        assert ("## Not ready yet: 1 to fix" in shown, "Missing reviews" in shown) == (True, False)
        path.write_text(before, "utf-8")


def test_a_contribution_is_what_its_branch_adds(git_terms: Path, tmp_path: Path, invoke: Invoke) -> None:
    """The default branch has another term since then; a commit is previewed without a checkout."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(git_terms), str(clone))
    git(clone, "switch", "-qc", "mine")
    for folder, word in ((git_terms, "theirs"), (clone, "mine")):
        entry = f"\n  - id: nonce.{word}\n    text: {word}\n    sources: [smith-2022]\n    since: next\n"
        path = folder / NONCE
        path.write_text(path.read_text("utf-8") + entry, "utf-8")
        commit_all(folder)
    git(clone, "fetch", "-q")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone)
        said = invoke.printed("diff")
        assert said.startswith("origin/main")
        assert "\nadded: 1\n  nonce.mine: mine\n" in said
        assert "version bump: minor" in said
        shown = invoke.printed("preview")
        assert ("| `nonce` | 1 |" in shown, "nonce.theirs" in shown) == (True, False)
        replaced(clone / NONCE, "text: mine", "text: 'mine '")
        head = commit_all(clone)
        git(clone, "switch", "-q", "--detach", "origin/main")
        shown = invoke.printed("preview", git(clone, "merge-base", "HEAD", head), head)
        assert "## Not ready yet: 1 to fix" in shown, "its findings are those of the commit, not of the folder"
        assert ("`descriptors/nonce.yaml:" in shown, f"to `{head[:9]} (" in shown) == (True, True)


def test_a_version_in_preparation_whose_number_is_too_low_is_named(git_terms: Path, invoke: Invoke) -> None:
    major, minor, _ = load_catalog(git_terms).published[-1].split(".")
    number = f"{major}.{int(minor) + 1}.0"
    invoke.printed("releases", "--fix", number, "--source", git_terms)
    commit_all(git_terms)
    gone = f"    text: blicket\n    until: {number}\n    replaced_by: nonce.stad\n"
    replaced(git_terms / NONCE, "    text: blicket\n", gone)
    said = "is a minor version after"
    assert said in invoke("diff", "HEAD")[2]
    assert said in invoke("preview", "HEAD")[1]


def test_a_commit_cannot_name_files_outside_its_folder(git_terms: Path) -> None:
    blob = git(git_terms, "hash-object", "-w", NONCE)
    inner = b"100644 outside.yaml\0" + bytes.fromhex(blob)
    up = write_tree(git_terms, b"40000 ..\0" + bytes.fromhex(write_tree(git_terms, inner)))
    names = {name: git(git_terms, "rev-parse", f"HEAD:{name}") for name in ("nouns", "templates", "releases")}
    content = b"40000 descriptors\0" + bytes.fromhex(up)
    content += b"".join(b"40000 %s\0" % n.encode() + bytes.fromhex(h) for n, h in sorted(names.items()))
    head = git(git_terms, "commit-tree", "-m", "x", write_tree(git_terms, content))
    with pytest.raises(SourceError, match="has no terms"):
        open_revision(head, git_terms)


def write_tree(folder: Path, content: bytes) -> str:
    command = ["git", "-C", str(folder), "hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
    return subprocess.run(command, input=content, check=True, capture_output=True).stdout.decode().strip()


def test_commits_are_merged_without_a_checkout(repository: Path, invoke: Invoke) -> None:
    """The preview is of the merged terms, or of one side alone if both sides changed the same line."""
    command = ("preview", "main", "mine", "--merge", "--source", repository)
    commit_all(repository)
    git(repository, "branch", "mine")
    for branch, word in (("main", "calm"), ("mine", "brave")):
        git(repository, "switch", "-q", branch)
        add_term(repository, word)
        commit_all(repository)
    said = invoke.printed(*command)
    assert "### `main (next)` to `mine, merged (next)`" in said
    assert ("`ability.brave` | `brave` | added" in said, "ability.calm" in said) == (True, False)
    for branch, text in (("main", "deaf"), ("mine", "DEAF")):
        git(repository, "switch", "-q", branch)
        replaced(repository / "descriptors" / "ability.yaml", "text: Deaf", f"text: {text}")
        commit_all(repository)
    said = invoke.printed(*command)
    assert "| merge | `descriptors/ability.yaml` changed here and on the default branch: " in said
    assert ("`Deaf` | `DEAF` |" in said, "ability.calm" in said) == (True, False), "compared with where it began"


def test_without_git_or_without_a_version(repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ("--source", repository)
    for path in (repository / "releases").glob("*.yaml"):
        path.unlink()
    assert f"holisticbias: {repository} has no version in releases/\n" == invoke.refused("diff", repository, repository)
    monkeypatch.setenv("PATH", "")
    assert "git is not installed, so no revision can be read" in invoke.refused("diff", "HEAD", *source)
