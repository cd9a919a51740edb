"""Publish a release on the Hugging Face Hub: make one commit and one tag, download them and check.

Published versions are never overwritten. Every step first reads the state of
the repository, so the next run finishes an interrupted one.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from holisticbias.errors import PublishError, ReleaseError
from holisticbias.release.hub import check_name, hub_errors, hub_library, tag_of
from holisticbias.release.manifest import CHECKSUMS, MANIFEST, Manifest, file_entry, read_manifest
from holisticbias.release.verify import recorded_version, verify_release
from holisticbias.terms.versions import NEXT, is_number, version_key

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TRIES = 4
Outcome = Literal["published", "finished", "already published", "planned"]


@dataclass(frozen=True, slots=True)
class Publication:
    """Result of publishing: the commit, and the files uploaded and deleted (or planned, in a dry run)."""

    outcome: Outcome
    repo: str
    tag: str
    commit: str | None
    uploaded: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    branch: str = "main"


@dataclass(frozen=True, slots=True)
class _Remote:
    """State of a repository: branch to publish on, its newest commit, commit of the tag, files to upload and to delete.

    The branch is ``main``, or the version's own if a newer version has a tag, so that ``main`` has the newest version.
    """

    branch: str
    head: str
    tagged: str | None
    differing: tuple[str, ...]
    stale: tuple[str, ...]


def publish_release(folder: Path, repo: str, *, private: bool = False, dry_run: bool = False) -> Publication:
    """Publish the release in a folder under the tag of its version, then download and check it.

    Raises ``ReleaseError`` for a damaged release, ``PublishError`` for a part, a
    version in preparation, or a version published with other rows, and
    ``HubError`` if the Hub cannot be reached or refuses a request.
    """
    check_name(repo)
    manifest = _whole(folder)
    hub = hub_library()
    with hub_errors(repo):
        token = hub.get_token()
    if not dry_run and token is None:
        raise PublishError("there is no token for the Hub: run hf auth login, or set HF_TOKEN")
    for tries_left in reversed(range(TRIES)):
        with hub_errors(repo):
            try:
                return _publish(hub.HfApi(), folder, repo, manifest, private=private, dry_run=dry_run)
            except (hub.errors.HTTPError, ConnectionError, json.JSONDecodeError) as error:
                if not tries_left or not _passing(error):
                    raise
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt("run the same command again to finish") from error
        time.sleep(TRIES - tries_left)
    raise AssertionError("the last try returns or raises")


def _whole(folder: Path) -> Manifest:
    findings = verify_release(folder)
    if findings:
        more = f" (and {len(findings) - 1} more: holisticbias verify {folder})" if len(findings) > 1 else ""
        raise ReleaseError(f"{findings[0]}{more}")
    manifest = read_manifest(folder)
    version = manifest.version
    if manifest.part:
        raise PublishError(f"{folder} is a part of version {version} ({manifest.part}): publish the whole version")
    recorded = recorded_version(version)
    if version == NEXT or (recorded is not None and recorded.digest is None):
        fix = f"freeze it first: holisticbias releases --freeze{'' if version == NEXT else f' {version}'}"
        raise PublishError(f"{folder} is version {version}, which is in preparation: {fix}")
    if recorded is not None and recorded.withdrawn is not None:
        raise PublishError(f"{folder} is version {version}, which was withdrawn on {recorded.withdrawn}")
    return manifest


def _passing(error: Exception) -> bool:
    """Whether to try again: a conflict with another publisher (409, 412), or a failure of the Hub or the network."""
    response = getattr(error, "response", None)
    return response is None or response.status_code in (409, 412, 429) or response.status_code >= 500


def _publish(api: HfApi, folder: Path, repo: str, manifest: Manifest, *, private: bool, dry_run: bool) -> Publication:
    version = manifest.version
    tag = tag_of(version)
    ours = {name: folder / name for name in sorted({*manifest.files, MANIFEST, CHECKSUMS})}
    remote = _remote(api, repo, version, ours, create=not dry_run, private=private)
    if remote is None:
        return Publication("planned", repo, tag, None, tuple(ours))
    if remote.tagged is not None:
        _same_rows(api, repo, tag, remote.tagged, manifest)
        _check_published(repo, remote.tagged, manifest)
        return Publication("already published", repo, tag, remote.tagged)
    if dry_run:
        return Publication("planned", repo, tag, None, remote.differing, remote.stale, remote.branch)
    there = not remote.differing and not remote.stale
    commit = remote.head if there else _commit(api, folder, repo, manifest, remote)
    api.create_tag(repo, repo_type="dataset", tag=tag, revision=commit)
    _check_published(repo, commit, manifest)
    outcome: Outcome = "finished" if there else "published"
    return Publication(outcome, repo, tag, commit, remote.differing, remote.stale, remote.branch)


def _remote(
    api: HfApi, repo: str, version: str, ours: Mapping[str, Path], *, create: bool, private: bool
) -> _Remote | None:
    """The state of the repository, which is created if missing; None if missing in a dry run."""
    errors = hub_library().errors
    try:
        info = api.repo_info(repo, repo_type="dataset")
    except errors.RepositoryNotFoundError:
        if not create:
            return None
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        info = api.repo_info(repo, repo_type="dataset")
    if private and not info.private:
        raise PublishError(f"{repo} exists and is public: --private is for a new repository")
    refs = api.list_repo_refs(repo, repo_type="dataset")
    tags, branches = ({ref.name: ref.target_commit for ref in listed} for listed in (refs.tags, refs.branches))
    published = [name.removeprefix("v") for name in tags]
    newer = any(is_number(name) and version_key(name) > version_key(version) for name in published)
    branch = version if newer else "main"
    head = branches.get(branch, branches["main"])
    theirs = _their_files(api, repo, head)
    return _Remote(
        branch,
        head,
        tags.get(tag_of(version)),
        tuple(name for name, path in ours.items() if theirs.get(name) not in (_blob_id(path), file_entry(path).sha256)),
        tuple(name for name in theirs if name not in ours and name != ".gitattributes"),
    )


def _their_files(api: HfApi, repo: str, commit: str) -> Mapping[str, str]:
    """Files of a commit, each with the SHA-256 of its content, or with its blob id if it is stored in git."""
    entries = api.list_repo_tree(repo, repo_type="dataset", revision=commit, recursive=True)
    files = (entry for entry in entries if isinstance(entry, hub_library().hf_api.RepoFile))
    return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in files}


def _blob_id(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _same_rows(api: HfApi, repo: str, tag: str, commit: str, manifest: Manifest) -> None:
    """Raise ``PublishError`` unless the published version has the same rows in every table."""
    with tempfile.TemporaryDirectory() as cache:
        path = api.hf_hub_download(repo, MANIFEST, repo_type="dataset", revision=commit, cache_dir=cache)
        theirs = read_manifest(Path(path).parent)
    if theirs.digests != manifest.digests:
        raise PublishError(
            f"{repo} has {tag} with other content (digest {theirs.digest[:12]}, not {manifest.digest[:12]}): "
            "a published version cannot change; give the changed terms a new version"
        )


def _commit(api: HfApi, folder: Path, repo: str, manifest: Manifest, remote: _Remote) -> str:
    """Make one commit that contains exactly the release; the Hub refuses it if the repository changed meanwhile."""
    hub = hub_library()
    if remote.branch != "main":
        api.create_branch(repo, repo_type="dataset", branch=remote.branch, revision=remote.head, exist_ok=True)
    operations = [
        *(hub.CommitOperationAdd(name, folder / name) for name in remote.differing),
        *(hub.CommitOperationDelete(name) for name in remote.stale),
    ]
    title, digest, head = f"HolisticBias {manifest.version}", f"digest {manifest.digest}", remote.head
    done = api.create_commit(
        repo,
        operations,
        repo_type="dataset",
        revision=remote.branch,
        commit_message=title,
        commit_description=digest,
        parent_commit=head,
    )
    return str(done.oid)


def _check_published(repo: str, commit: str, manifest: Manifest) -> None:
    """Download a commit into an empty cache and check it."""
    with tempfile.TemporaryDirectory() as cache:
        folder = hub_library().snapshot_download(repo, repo_type="dataset", revision=commit, cache_dir=cache)
        for finding in verify_release(Path(folder), manifest.version):
            raise PublishError(f"{repo} does not return what was published: {finding}")
