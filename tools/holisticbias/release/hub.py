"""Download releases from the Hugging Face Hub: exactly the requested version, checked, or an error."""

import glob
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from holisticbias.errors import HubError, ReleaseError
from holisticbias.release.manifest import CHECKSUMS, LARGEST_MANIFEST, MANIFEST, read_manifest
from holisticbias.release.verify import verify_release
from holisticbias.terms.versions import NUMBER

_ADDRESS = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@v?(?P<version>" + NUMBER + ")", re.ASCII)


_NOT_A_NAME = "{!r} is not the name of a dataset: write organisation/name"


class Address(NamedTuple):
    """A version in a dataset repository, written ``organisation/name@1.0.0``."""

    repo: str
    version: str

    def __str__(self) -> str:
        return f"{self.repo}@{self.version}"


def hub_address(text: str) -> Address | None:
    """Parse an address; None if the text is not an address, or if a folder has that name."""
    match = _ADDRESS.fullmatch(text)
    return None if match is None or Path(text).exists() else Address(match["repo"], match["version"])


def check_name(repo: str) -> None:
    """Raise ``HubError`` unless the name has the form ``organisation/name``."""
    if repo.count("/") != 1:
        raise HubError(_NOT_A_NAME.format(repo))


def tag_of(version: str) -> str:
    """The git tag of a version."""
    return f"v{version}"


def hub_library() -> ModuleType:
    """Import ``huggingface_hub``; ``HubError`` says how to install it if it is missing."""
    try:
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.hf_api
    except ImportError as error:
        raise HubError("this needs huggingface_hub: pip install 'holisticbias[hub]'") from error
    return huggingface_hub


def fetch_release(address: Address) -> Path:
    """Download a version unless it is in the Hub's cache, and return its folder in the cache.

    Checks the version in the manifest and every file. Without a network only
    cached versions are found. Raises ``HubError``, or ``ReleaseError`` if the
    files differ from the release.
    """
    hub = hub_library()
    for again in (False,) if hub.constants.HF_HUB_OFFLINE else (False, True):
        folder = _download(hub, address, again=again)
        findings = verify_release(folder, address.version)
        if not findings:
            return folder
    raise ReleaseError(f"{address}: {findings[0]}")


def _download(hub: ModuleType, address: Address, *, again: bool) -> Path:
    tag = tag_of(address.version)
    with hub_errors(address.repo):
        try:
            names = _listed_files(hub, address, again=again)
            folder = hub.snapshot_download(
                address.repo, repo_type="dataset", revision=tag, allow_patterns=names, force_download=again
            )
        except hub.errors.RevisionNotFoundError as error:
            refs = hub.HfApi().list_repo_refs(address.repo, repo_type="dataset")
            known = ", ".join(sorted(ref.name for ref in refs.tags)) or "none"
            raise HubError(f"{address.repo} has no version {address.version} (tag {tag}); its tags: {known}") from error
        except hub.errors.RemoteEntryNotFoundError as error:
            raise HubError(f"{address} is not a release: the repository has no {MANIFEST}") from error
        except hub.errors.LocalEntryNotFoundError as error:
            message = f"{address} is not complete in the cache, and the Hub cannot be reached to download it"
            raise HubError(message) from error
    return Path(folder)


def _listed_files(hub: ModuleType, address: Address, *, again: bool) -> list[str]:
    """The files of a release by its manifest, which alone is downloaded, as patterns that match nothing else.

    Raises ``ReleaseError`` if a file has another size on the Hub than in the manifest: it is not downloaded.
    """
    sizes = _sizes(hub, address)
    for name in (MANIFEST, CHECKSUMS):
        if sizes.get(name, 0) > LARGEST_MANIFEST:
            raise ReleaseError(f"{address}: {name} has {sizes[name]:,} bytes, more than {LARGEST_MANIFEST:,}")
    path = hub.hf_hub_download(
        address.repo, MANIFEST, repo_type="dataset", revision=tag_of(address.version), force_download=again
    )
    manifest = read_manifest(Path(path).parent)
    for name, entry in manifest.files.items():
        if sizes.get(name, entry.bytes) != entry.bytes:
            raise ReleaseError(f"{address}: {name} has {sizes[name]:,} bytes, not {entry.bytes:,} as in the manifest")
    return [glob.escape(name) for name in (MANIFEST, CHECKSUMS, *manifest.files)]


def _sizes(hub: ModuleType, address: Address) -> Mapping[str, int]:
    """The sizes of the files of a version on the Hub; empty without a network, when only the cache is read."""
    tag = tag_of(address.version)
    try:
        info = hub.HfApi().repo_info(address.repo, repo_type="dataset", revision=tag, files_metadata=True)
    except hub.errors.HfHubHTTPError as error:
        if error.response.status_code < 500:
            raise
        return {}
    except (hub.errors.OfflineModeIsEnabled, hub.errors.HTTPError, ConnectionError):
        return {}
    return {file.rfilename: file.size for file in info.siblings or () if file.size is not None}


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn exceptions of the Hub's client into ``HubError`` with one line that says what to do."""
    hub = hub_library()
    try:
        yield
    except hub.errors.GatedRepoError as error:
        raise HubError(f"{repo} needs your consent: open {hub.constants.ENDPOINT}/datasets/{repo}") from error
    except hub.errors.RepositoryNotFoundError as error:
        raise HubError(f"there is no dataset {repo} on the Hub, or the token has no access to it") from error
    except hub.errors.HfHubHTTPError as error:
        raise HubError(_status_line(repo, error.response.status_code)) from error
    except hub.errors.OIDCError as error:
        raise HubError(f"trusted publishing gave no token: {' '.join(str(error).split())}") from error
    except hub.errors.OfflineModeIsEnabled as error:
        raise HubError("HF_HUB_OFFLINE is set: unset it to reach the Hub") from error
    except (hub.errors.HTTPError, ConnectionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise HubError(f"the Hub at {hub.constants.ENDPOINT} cannot be reached: {reason}") from error
    except hub.errors.HFValidationError as error:
        raise HubError(_NOT_A_NAME.format(repo)) from error
    except OSError as error:
        if error.filename:
            raise
        fix = "set HF_HOME and TMPDIR to folders with room"
        raise HubError(f"cannot store the download: {error.strerror or error}; {fix}") from error
    except json.JSONDecodeError as error:
        raise HubError(f"the Hub at {hub.constants.ENDPOINT} did not answer with JSON: try again later") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:  # its client checks no answer
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise HubError(f"the Hub at {hub.constants.ENDPOINT} gave an answer that cannot be used ({reason})") from error


def _status_line(repo: str, status: int) -> str:
    if status == 401:
        return "the Hub refused the token: make another at https://huggingface.co/settings/tokens, then hf auth login"
    if status == 403:
        return f"the token has no write access to {repo}: ask for access, or make a token with write access"
    if status >= 500:
        return f"the Hub answered with error {status}: try again later"
    return f"the Hub refused a request for {repo} with status {status}"
