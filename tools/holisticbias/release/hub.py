"""Releases on the Hugging Face Hub: the exact version asked for, checked, or an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from holisticbias.errors import HubError, ReleaseError
from holisticbias.release.verify import verify_release

_ADDRESS = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@v?(?P<version>\d+\.\d+\.\d+)", re.ASCII)


_NO_NAME = "{!r} is no name of a dataset: write organisation/name"


class Address(NamedTuple):
    """A version in a dataset repository, written ``organisation/name@1.0.0``."""

    repo: str
    version: str

    def __str__(self) -> str:
        return f"{self.repo}@{self.version}"


def hub_address(text: str) -> Address | None:
    """The address that a text is; missing where it is none, or where a folder has that name."""
    match = _ADDRESS.fullmatch(text)
    return None if match is None or Path(text).exists() else Address(match["repo"], match["version"])


def check_name(repo: str) -> None:
    """``HubError`` unless a text names an organisation and a dataset of it."""
    if repo.count("/") != 1:
        raise HubError(_NO_NAME.format(repo))


def tag_of(version: str) -> str:
    """The tag under which a version is published."""
    return f"v{version}"


def hub_library() -> ModuleType:
    """``huggingface_hub``; ``HubError`` says how to install it where it is missing."""
    try:
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.hf_api
    except ImportError as error:
        raise HubError("this needs huggingface_hub: pip install 'holisticbias[hub]'") from error
    return huggingface_hub


def fetch_release(address: Address) -> Path:
    """The folder in the Hub's cache that holds exactly that version, downloaded where it is not there yet.

    The version in the manifest and every file are checked. Without a network a
    version that was fetched before is found again; any other is an error.
    Raises ``HubError``, or ``ReleaseError`` where the files are not those of the release.
    """
    hub = hub_library()
    folder = _download(hub, address, again=False)
    if verify_release(folder, address.version) and not hub.constants.HF_HUB_OFFLINE:
        folder = _download(hub, address, again=True)
    for finding in verify_release(folder, address.version):
        raise ReleaseError(f"{address}: {finding}")
    return folder


def _download(hub: ModuleType, address: Address, *, again: bool) -> Path:
    tag = tag_of(address.version)
    with hub_errors(address.repo):
        try:
            folder = hub.snapshot_download(address.repo, repo_type="dataset", revision=tag, force_download=again)
        except hub.errors.RevisionNotFoundError as error:
            refs = hub.HfApi().list_repo_refs(address.repo, repo_type="dataset")
            known = ", ".join(sorted(ref.name for ref in refs.tags)) or "none"
            raise HubError(f"{address.repo} has no version {address.version} (tag {tag}); its tags: {known}") from error
        except hub.errors.LocalEntryNotFoundError as error:
            message = f"{address} is not in the cache, whole, and the Hub cannot be reached to fetch it"
            raise HubError(message) from error
    return Path(folder)


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turns what the Hub's client raises into one line that says what to do."""
    hub = hub_library()
    try:
        yield
    except hub.errors.GatedRepoError as error:
        raise HubError(f"{repo} asks for consent first: open {hub.constants.ENDPOINT}/datasets/{repo}") from error
    except hub.errors.RepositoryNotFoundError as error:
        raise HubError(f"there is no dataset {repo} on the Hub, or the token does not see it") from error
    except hub.errors.HfHubHTTPError as error:
        raise HubError(_status_line(repo, error.response.status_code)) from error
    except hub.errors.OIDCError as error:
        raise HubError(f"no token by trusted publishing: {' '.join(str(error).split())}") from error
    except hub.errors.OfflineModeIsEnabled as error:
        raise HubError("HF_HUB_OFFLINE is set: unset it to reach the Hub") from error
    except (hub.errors.HTTPError, ConnectionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise HubError(f"the Hub at {hub.constants.ENDPOINT} cannot be reached: {reason}") from error
    except hub.errors.HFValidationError as error:
        raise HubError(_NO_NAME.format(repo)) from error
    except OSError as error:
        if error.filename:
            raise
        where = "HF_HOME and TMPDIR say where it goes"
        raise HubError(f"cannot keep what the Hub returned: {error.strerror or error}; {where}") from error
    except json.JSONDecodeError as error:
        raise HubError(f"the Hub at {hub.constants.ENDPOINT} answered with no JSON: run this again later") from error


def _status_line(repo: str, status: int) -> str:
    if status == 401:
        return "the Hub refused the token: make another at https://huggingface.co/settings/tokens, then hf auth login"
    if status == 403:
        return f"the token has no right to do this in {repo}: ask for write access, or make a token that has it"
    if status >= 500:
        return f"the Hub answered with error {status}: run this again later"
    return f"the Hub refused a request for {repo} with status {status}"
