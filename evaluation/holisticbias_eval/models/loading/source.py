"""Find a model's source: a folder, a GGUF file, or a Hugging Face Hub repository."""

from __future__ import annotations

import hashlib
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.loading.limits import check_header

GGUF = ".gguf"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The arguments of ``from_pretrained``: the folder or repository, and how to read it.

    ``options`` never allow a repository's own code. They do not allow the Hub if
    its host has no address, because its client would retry for most of a minute.
    """

    place: str
    options: dict[str, Any]
    file: Path | None = None

    @property
    def weights(self) -> dict[str, bool]:
        """The option that allows safetensors only, if the source is not a GGUF file."""
        return {} if self.file else {"use_safetensors": True}


def find_source(name: str, revision: str | None = None) -> ModelFiles:
    """Find the source of the model that a user names; ``revision`` is a commit of a Hub repository.

    Raises ``ModelError`` if a folder holds no model, a file is not GGUF, a
    revision is given for either, or the packages that read GGUF are missing.
    """
    if not name.strip():
        raise ModelError("no model is named: give a folder, a GGUF file or a Hub repository, or omit --model")
    path = Path(name)
    if revision is not None and path.exists():
        raise ModelError(f"{name} is on this machine: a revision is for a Hub repository")
    if path.is_file():
        return _gguf_file(path)
    if path.is_dir():
        _refuse_incomplete(path)
    elif name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith(GGUF):
        raise ModelError(f"{name}: no such model {'file' if name.endswith(GGUF) else 'folder'}")
    options = {"trust_remote_code": False, "local_files_only": path.is_dir() or not hub_has_address()}
    return ModelFiles(name, options if revision is None else {**options, "revision": revision})


def _refuse_incomplete(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        files = sorted(folder.glob(f"*{GGUF}"))
        hint = f"; for its GGUF file, --model {files[0]}" if files else ""
        raise ModelError(f"{folder} is not a model: the folder has no config.json{hint}")
    if not any(folder.glob("tokenizer*")) and not any(folder.glob("vocab*")):
        raise ModelError(f"{folder} has no tokenizer: save it with tokenizer.save_pretrained({str(folder)!r})")


def _gguf_file(path: Path) -> ModelFiles:
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    if start != b"GGUF":
        raise ModelError(f"{path} is not a GGUF file: give a model's folder, a GGUF file or a Hub repository")
    if not find_spec("gguf") or not find_spec("accelerate"):
        raise ModelError("reading GGUF files needs two more packages: pip install 'holisticbias[gguf]'")
    check_header(path)
    options = {"trust_remote_code": False, "local_files_only": True, "gguf_file": path.name}
    return ModelFiles(str(path.parent), options, path)


def describe_gguf(path: Path) -> tuple[str, str]:
    """The tensor types of a GGUF file with their counts, the commonest first, and the file's SHA-256."""
    from gguf import GGUFReader

    try:
        types = Counter(tensor.tensor_type.name for tensor in GGUFReader(str(path)).tensors)
        digest = file_sha256(path)
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{path} cannot be read as GGUF: {error}") from error
    return ", ".join(f"{name} ({count})" for name, count in types.most_common()), digest


@contextmanager
def one_gguf_parse(source: object) -> Iterator[None]:
    """Parse a GGUF file once within the block, however often transformers reads it: each parse takes seconds."""
    if not isinstance(source, str) or not Path(source).is_file() or not find_spec("gguf"):
        yield
        return
    import gguf

    reader = gguf.GGUFReader
    gguf.GGUFReader = cache(reader)
    try:
        yield
    finally:
        gguf.GGUFReader = reader


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def hub_has_address() -> bool:
    """Whether the Hub's host has an address, or there is a proxy; a busy name server is asked twice."""
    from huggingface_hub.constants import ENDPOINT

    for pause in (0.0, 1.0):
        time.sleep(pause)
        with suppress(OSError):
            return bool(getproxies() or socket.getaddrinfo(urlsplit(ENDPOINT).hostname, None))
    return False
