"""Publish to and load from a local Hub, with the real clients."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub.constants
import huggingface_hub.errors
import pytest
from tests.tools.releases.conftest import Build

from folders import contents
from full_disk import full_disk
from holisticbias import build_release, open_release, write_release
from holisticbias.cli import main
from holisticbias.errors import HubError, PublishError, ReleaseError
from holisticbias.release import publish
from holisticbias.release.hub import hub_address
from holisticbias.release.publish import publish_release
from holisticbias.release.release import Release
from holisticbias.release.verify import verify_release
from holisticbias.terms.catalog import Catalog
from invoking import Invoke
from loopback_hub import Fault, Hub, RefusedError, Repository, Stored
from processes import python

REPO = "org/holisticbias"


def held(hub: Hub, tag: str) -> dict[str, bytes]:
    repository = hub.repositories[REPO]
    files = repository.commits[repository.tags[tag]]
    return {name: file.content for name, file in files.items() if name != ".gitattributes"}


def few_files(folder: Path) -> Path:
    """The same release with four tables only, to need fewer requests."""
    release = open_release(folder)
    names = ("sentences", "descriptors", "nouns", "templates")
    tables = {name: release.manifest.tables[name] for name in names}
    manifest = release.manifest.model_copy(update={"tables": tables})
    few = Release(manifest, {name: release.tables[name] for name in names})
    write_release(few, folder.parent / "few")
    return folder.parent / "few"


def test_publish_commits_tags_and_reads_back(hub: Hub, build: Build) -> None:
    folder = build(version="0.1.0")
    planned = publish_release(folder, REPO, dry_run=True)
    assert planned.outcome == "planned"
    assert not hub.repositories
    done = publish_release(folder, REPO)
    assert done.outcome == "published"
    assert held(hub, "v0.1.0") == contents(folder)
    assert len(hub.repositories[REPO].log) == 2
    again = publish_release(folder, REPO)
    assert (again.outcome, again.commit) == ("already published", done.commit)
    assert len(hub.repositories[REPO].log) == 2


def test_the_next_version_replaces_all_files_and_leaves_the_last_as_it_was(hub: Hub, build: Build) -> None:
    first, second = build("first", "0.1.0"), build("second", "0.2.0")
    publish_release(first, REPO)
    repository = hub.repositories[REPO]
    repository.add({**repository.commits[repository.log[-1]], "data/old.parquet": Stored(b"x", False)}, "by hand")
    planned = publish_release(second, REPO, dry_run=True)
    assert (planned.outcome, planned.deleted) == ("planned", ("data/old.parquet",))
    assert len(repository.log) == 3, "a dry run commits nothing"
    publish_release(second, REPO)
    assert held(hub, "v0.1.0") == contents(first)
    assert held(hub, "v0.2.0") == contents(second)
    assert len(repository.log) == 4


def test_an_older_version_leaves_the_newer_one_on_main(hub: Hub, build: Build, invoke: Invoke) -> None:
    """Its own branch continues after an interruption; publishing it again does nothing."""
    older, newer = build("older", "0.1.0"), build("newer", "0.2.0")
    publish_release(newer, REPO)
    repository = hub.repositories[REPO]
    main = repository.branches["main"]
    assert "on the branch 0.1.0: main keeps a newer version" in invoke.printed("publish", older, REPO, "--dry-run")
    hub.fault = lambda number, method, path: "500" if "/tag/" in path else None
    with pytest.raises(HubError):
        publish_release(older, REPO)
    hub.fault = lambda number, method, path: None
    assert publish_release(older, REPO).outcome == "finished"
    assert publish_release(older, REPO).outcome == "already published"
    assert (held(hub, "v0.1.0"), held(hub, "v0.2.0")) == (contents(older), contents(newer))
    assert repository.branches == {"main": main, "0.1.0": repository.tags["v0.1.0"]}
    assert len(repository.log) == 3


def test_a_published_version_is_never_written_over(hub: Hub, build: Build, catalog: Catalog, tmp_path: Path) -> None:
    folder = build("first", "0.2.0")
    publish_release(folder, REPO)
    before = dict(hub.repositories[REPO].tags)
    fewer = [a for a in catalog.axes if a.axis != "ability"]
    other = Catalog(tuple(fewer), catalog.genders, catalog.families, catalog.releases, catalog.sources)
    write_release(build_release(other, "0.2.0"), tmp_path / "other")
    with pytest.raises(PublishError, match=r"has v0\.2\.0 with other content"):
        publish_release(tmp_path / "other", REPO)
    rewritten = open_release(folder)
    again = rewritten.manifest.model_copy(update={"source_commit": "0" * 40})
    write_release(Release(again, rewritten.tables), tmp_path / "again")
    assert publish_release(tmp_path / "again", REPO).outcome == "already published"
    assert hub.repositories[REPO].tags == before


def test_only_a_whole_and_frozen_release_is_published(
    hub: Hub, build: Build, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PublishError, match="a part of version"):
        publish_release(build("small", subset="small"), REPO)
    folder = build()
    with monkeypatch.context() as patch:
        patch.setattr(publish, "recorded_version", catalog.release)
        with pytest.raises(PublishError, match=r"is in preparation: freeze it first: .* --freeze 0\.2\.0"):
            publish_release(folder, REPO)
    (folder / "data" / "nouns.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"nouns\.parquet is missing"):
        publish_release(folder, REPO)
    assert hub.requests == []


REFUSALS: dict[str, tuple[str | None, str, str]] = {
    "no token": (None, REPO, "there is no token"),
    "wrong token": ("hf_forged", REPO, "refused the token"),
    "no rights": ("hf_bob", REPO, "has no write access"),
    "not a name": ("hf_ann", "a/b/c", "is not the name of a dataset"),
    "no organisation": ("hf_ann", "holisticbias", "is not the name of a dataset: write organisation/name"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_one_line(
    hub: Hub, build: Build, monkeypatch: pytest.MonkeyPatch, invoke: Invoke, case: str
) -> None:
    token, repo, expected = REFUSALS[case]
    if token is None:
        monkeypatch.delenv("HF_TOKEN")
    else:
        monkeypatch.setenv("HF_TOKEN", token)
    errors = invoke.refused("publish", build(), repo).splitlines()
    (line,) = (line for line in errors if line.startswith("holisticbias:"))
    assert expected in line


def test_no_network_is_one_line(build: Build, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubError, match=r"the Hub at http://127\.0\.0\.1:9 cannot be reached"):
        publish_release(build(), REPO)


def test_what_keeps_a_client_from_the_hub_is_one_line(
    hub: Hub, build: Build, monkeypatch: pytest.MonkeyPatch, invoke: Invoke, tmp_path: Path
) -> None:
    folder = build()
    hub.repositories[REPO] = Repository(REPO, tags={"v0.2.0": "1"}, commits={"1": {}})
    said = f"{REPO}@0.2.0 is not a release: the repository has no manifest.json"
    assert invoke.refused("verify", f"{REPO}@0.2.0") == f"holisticbias: {said}\n"
    for error, said in (
        (RefusedError(403, "GatedRepo"), f"{REPO} needs your consent: open http://127.0.0.1:"),
        (RefusedError(418), f"the Hub refused a request for {REPO} with status 418\n"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr("loopback_hub._Handler._user", Mock(side_effect=error))
            assert invoke.refused("verify", f"{REPO}@0.2.0").startswith(f"holisticbias: {said}")
    with monkeypatch.context() as patch:
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        assert "HF_HUB_OFFLINE is set: unset it to reach the Hub\n" in invoke.refused("publish", folder, REPO)
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.get_token", Mock(side_effect=huggingface_hub.errors.OIDCError("no\nrights")))
        assert "trusted publishing gave no token: no rights\n" in invoke.refused("publish", folder, REPO)
    publish_release(folder, "org/terms")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder / "manifest.json"))
    assert "manifest.json/datasets--org--terms: Not a directory\n" in invoke.refused("verify", "org/terms@0.2.0")


def test_private_is_private_and_a_public_repository_is_not_taken_for_one(
    hub: Hub, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_release(build(), REPO, private=True)
    assert hub.repositories[REPO].private
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    with pytest.raises(HubError, match="there is no dataset"):
        open_release(f"{REPO}@0.2.0")
    monkeypatch.setenv("HF_TOKEN", "hf_ann")
    assert open_release(f"{REPO}@0.2.0").version == "0.2.0"
    hub.repositories["ann/public"] = Repository("ann/public")
    hub.repositories["ann/public"].add({}, "initial commit")
    with pytest.raises(PublishError, match="exists and is public"):
        publish_release(build(), "ann/public", private=True)


def test_open_release_is_exact_online_and_offline(hub: Hub, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("0.1.0", "0.2.0"):
        publish_release(build(version, version), REPO)
    assert open_release(f"{REPO}@0.1.0").sentences.equals(open_release(build("0.1.0", "0.1.0")).sentences)
    assert main(["verify", f"{REPO}@v0.1.0"]) == 0
    with pytest.raises(HubError, match=r"has no version 9\.9\.9 \(tag v9\.9\.9\); its tags: v0\.1\.0, v0\.2\.0"):
        open_release(f"{REPO}@9.9.9")
    verified = Mock(wraps=verify_release)
    monkeypatch.setattr("holisticbias.release.hub.verify_release", verified)
    hub.fault = lambda number, method, path: "500"
    assert open_release(f"{REPO}@0.1.0").version == "0.1.0", "of the cache"
    verified.reset_mock()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert open_release(f"{REPO}@0.1.0").version == "0.1.0"
    assert verified.call_count == 1, "it reads every row"
    for version in ("0.2.0", "9.9.9"):
        with pytest.raises(HubError, match=rf"@{version} is not complete in the cache"):
            open_release(f"{REPO}@{version}")


def test_a_tag_that_holds_another_version_does_not_open(hub: Hub, build: Build) -> None:
    publish_release(build(version="0.1.0"), REPO)
    repository = hub.repositories[REPO]
    repository.tags["v0.2.0"] = repository.tags["v0.1.0"]
    with pytest.raises(ReleaseError, match=r"is a release of version 0\.1\.0, not of 0\.2\.0"):
        open_release(f"{REPO}@0.2.0")
    assert main(["verify", f"{REPO}@0.2.0"]) == 1


def test_a_damaged_cache_is_fetched_again_and_fails_offline(
    hub: Hub, build: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publish_release(build(), REPO)
    rows = open_release(f"{REPO}@0.2.0").sentences.num_rows
    damage(tmp_path / "hub-cache")
    assert open_release(f"{REPO}@0.2.0").sentences.num_rows == rows
    damage(tmp_path / "hub-cache")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ReleaseError, match=r"sentences\.parquet differs from the manifest"):
        open_release(f"{REPO}@0.2.0")


def damage(cache: Path) -> None:
    (file,) = cache.rglob("snapshots/*/data/sentences.parquet")
    file = file.resolve()
    file.write_bytes(b"PAR0" + file.read_bytes()[4:])


def test_an_address_is_a_repository_and_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert hub_address("org/name@1.10.0") == ("org/name", "1.10.0")
    assert hub_address("org/name@v0.1.0") == ("org/name", "0.1.0")
    for text in ("org/name", "name@0.1.0", "org/name@1.0", "org/name@main", "a/b/c@0.1.0", "../x@0.1.0x"):
        assert hub_address(text) is None
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "name@0.1.0").mkdir()
    assert hub_address("org/name@0.1.0") is None


FAULTS: dict[Fault, Callable[[str, str], bool]] = {
    "cut after": lambda method, path: method in ("POST", "PUT"),
    "cut within": lambda method, path: method == "GET",
    "500": lambda method, path: True,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_request_is_survived(hub: Hub, build: Build, fault: Fault) -> None:
    """The first request of each kind, and the download of the first file."""
    folder = few_files(build())
    publish_release(folder, REPO)
    kinds = {(m, path.partition("/resolve/")[0]): i for i, (m, path) in reversed(list(enumerate(hub.requests)))}
    chosen = sorted(number for kind, number in kinds.items() if FAULTS[fault](*kind))
    assert len(chosen) >= 4
    failing = -1
    hub.fault = lambda number, method, path: fault if number == failing else None
    for failing in chosen:
        hub.repositories.clear()
        hub.blobs.clear()
        hub.requests.clear()
        publish_release(folder, REPO)
        assert held(hub, "v0.2.0") == contents(folder), hub.requests[failing]
        assert len(hub.repositories[REPO].log) == 2, hub.requests[failing]


@pytest.mark.parametrize("versions", [("0.2.0", "0.2.0"), ("0.1.0", "0.2.0")])
def test_two_publishers_at_once_both_end_well(hub: Hub, build: Build, versions: tuple[str, str]) -> None:
    folders = [build(f"{i}", version) for i, version in enumerate(versions)]
    both = threading.Barrier(2, timeout=20)
    waited: set[int] = set()

    def meet(method: str, path: str) -> None:
        if "/commit/" in path and len(waited) < 2:
            waited.add(len(waited))
            both.wait()

    hub.before = meet
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda folder: publish_release(folder, REPO), folders))  # raises what a publisher raises
    for folder, version in zip(folders, versions, strict=True):
        assert held(hub, f"v{version}") == contents(folder)
    assert len(hub.repositories[REPO].log) == 1 + len(set(versions))


def test_a_disk_without_room_for_what_the_hub_returns_is_one_line(hub: Hub, build: Build, invoke: Invoke) -> None:
    folder = few_files(build())
    publish_release(folder, REPO)
    for arguments in (("publish", folder, REPO), ("verify", f"{REPO}@0.2.0")):
        with full_disk(1_000):
            error = invoke.refused(*arguments)
        assert "holisticbias: cannot store the download: File too large; set HF_HOME and TMPDIR" in error


def test_the_tag_is_on_the_release_whoever_commits_after_it(hub: Hub, build: Build) -> None:
    folder = build()

    def commit_another(method: str, path: str) -> None:
        if "/tag/" in path:
            hub.repositories[REPO].add({"README.md": Stored(b"of somebody else", large=False)}, "by hand")

    hub.before = commit_another
    publish_release(folder, REPO)
    assert held(hub, "v0.2.0") == contents(folder)


@pytest.mark.parametrize("later", [False, True])
def test_a_hub_that_returns_other_bytes_is_noticed(hub: Hub, build: Build, later: bool) -> None:
    """While the version is published, or when it is published again."""
    folder = build()

    def spoil(method: str, path: str) -> None:
        repository = hub.repositories.get(REPO)
        if repository is not None and (later or "/tag/" in path):
            repository.commits[repository.log[-1]]["README.md"] = Stored(b"other", large=False)

    if later:
        publish_release(folder, REPO)
    hub.before = spoil
    with pytest.raises(PublishError, match="does not return what was published"):
        publish_release(folder, REPO)


@pytest.mark.parametrize("place", ["/commit/", "/tag/"])
def test_a_killed_publisher_is_finished_by_the_next(
    hub: Hub, build: Build, client_environment: dict[str, str], place: str
) -> None:
    folder = build()
    command = [sys.executable, "-m", "holisticbias", "publish", str(folder), REPO]
    process = subprocess.Popen(command, env=client_environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(method: str, path: str) -> None:
        if place in path and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()

    hub.before = kill
    hub.fault = lambda number, method, path: "cut before" if place in path else None
    assert process.wait() == -signal.SIGKILL
    assert "v0.2.0" not in hub.repositories[REPO].tags
    hub.before = lambda method, path: None
    hub.fault = lambda number, method, path: None
    assert publish_release(folder, REPO).outcome == ("finished" if place == "/tag/" else "published")
    assert held(hub, "v0.2.0") == contents(folder)
    assert len(hub.repositories[REPO].log) == 2


LOAD = """
import sys
from datasets import load_dataset
repo, revision, config = sys.argv[1:]
data = load_dataset(repo, config, revision=revision, split="test")
print(data.num_rows, sorted({axis for axis in data["axis"] if axis}), data["text"][0])
stream = load_dataset(repo, config, revision=revision, split="test", streaming=True)
assert [row["text"] for row in stream] == data["text"][:]
"""


def test_load_dataset_reads_a_published_version(hub: Hub, build: Build, client_environment: dict[str, str]) -> None:
    for version in ("0.1.0", "0.2.0"):
        publish_release(build(version, version), REPO)
    done = python("-c", LOAD, REPO, "v0.1.0", "sentences", environment=client_environment)
    assert done.returncode == 0, done.stderr
    expected = open_release(f"{REPO}@0.1.0").sentences
    axes = ["ability", "characteristics", "race_ethnicity"]
    assert done.stdout.strip() == f"{expected.num_rows} {axes} {expected['text'][0]}"
