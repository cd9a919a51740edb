"""Find a model's source, a folder, a GGUF file or a Hub repository, and check what its files ask for."""

import json
import mmap
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np

from holisticbias.inputs import file_sha256, refuse_unreadable, require_file
from holisticbias_eval.errors import ModelError
from holisticbias_eval.units import is_path

MOST_LAYERS = 10_000
MOST_LABELS = 1_000_000
LARGEST_SIZE = 100_000_000
ATTENTION = frozenset({None, "eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3"})
"""The attention that transformers itself implements; another name is a repository whose code would be run."""

_ATTENTION_KEY = re.compile(r"_?attn_implementation(_internal)?")
_LIMITS = (
    (re.compile(r"^layers?$"), MOST_LAYERS),
    (re.compile(r"^labels$"), MOST_LABELS),
    (re.compile(r"size|dim|d_model|d_ff|d_kv|embd|inner|heads?|experts"), LARGEST_SIZE),
)


def check_config(name: str, config: object) -> None:
    """Raise ``ModelError`` if a configuration, as read from its file, is absurdly large or names code to download."""
    if not isinstance(config, Mapping):
        raise ModelError(f"{name}: its configuration is not a JSON object")
    _check_architectures(name, config.get("architectures"))
    for key, value in _nested(config):
        if _ATTENTION_KEY.fullmatch(key):
            _check_attention(name, key, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            words = key.rpartition("_")[2] if key not in ("d_model", "d_ff", "d_kv") else key
            limits = (number for form, number in _LIMITS if form.search(words))
            limit = next(limits, None)
            if limit is not None and value > limit:
                raise ModelError(f"{name}: its configuration has {key} {value:,}; at most {limit:,} is accepted")


def _check_architectures(name: str, architectures: object) -> None:
    names = architectures if isinstance(architectures, list) else [] if architectures is None else [None]
    if not all(isinstance(one, str) for one in names):
        raise ModelError(f"{name}: its configuration has architectures that are not a list of names")


def _check_attention(name: str, key: str, value: object) -> None:
    for part in value.values() if isinstance(value, Mapping) else (value,):
        if not isinstance(part, str | None) or part not in ATTENTION:
            raise ModelError(
                f"{name}: its configuration names the attention {str(part)[:80]!r} in {key}, whose code is never run "
                "here: remove the key, or write sdpa or eager"
            )


def _nested(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        yield str(key), value
        if isinstance(value, Mapping) and not _ATTENTION_KEY.fullmatch(str(key)):
            yield from _nested(value)


MOST_VALUES = 5_000_000
"""Values and tensors of a header; a vocabulary of 262,144 tokens takes 1.3 million."""
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9
_CUT = "its header ends in the middle"
_DEEPEST = 4  # lists within lists
_MOST_DIMENSIONS = 8


def check_header(path: Path) -> None:
    """Raise ``ModelError`` if a header declares more than its file has bytes for, or than a model needs."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _GgufHeader(content).check()
    except struct.error as error:
        raise ModelError(f"{path} cannot be read as GGUF: {_CUT}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read as GGUF: {error}") from error


class _GgufHeader:
    """Reads a header from its beginning; raises ``ValueError`` or ``struct.error`` if it cannot be right."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content, self._place, self._values, self._order = content, 4, 0, "<"

    def check(self) -> None:
        version = self._number("I")
        self._order = "<" if version & 0xFFFF else ">"
        tensors, pairs = self._number("Q"), self._number("Q")
        self._count(tensors + pairs)
        for _ in range(pairs):
            self._skip_text()
            self._skip_value(self._number("I"), 0)
        for _ in range(tensors):
            self._skip_text()
            dimensions = self._number("I")
            if dimensions > _MOST_DIMENSIONS:
                raise ValueError(f"it has a tensor of {dimensions:,} dimensions")
            self._skip(8 * dimensions + 4 + 8)

    def _number(self, kind: str) -> int:
        number: int = struct.unpack_from(self._order + kind, self._content, self._place)[0]
        self._place += struct.calcsize(self._order + kind)
        return number

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise ValueError(f"its header declares more than {MOST_VALUES:,} values")

    def _skip(self, size: int) -> None:
        self._place += size
        if self._place > len(self._content):
            raise ValueError(_CUT)

    def _skip_text(self) -> None:
        self._skip(self._number("Q"))

    def _skip_value(self, kind: int, depth: int) -> None:
        if kind == _TEXT:
            self._skip_text()
        elif kind == _LIST and depth < _DEEPEST:
            inner, count = self._number("I"), self._number("Q")
            self._count(count)
            if inner in _SIZES:
                self._skip(count * _SIZES[inner])
            else:
                for _ in range(count):
                    self._skip_value(inner, depth + 1)
        elif kind in _SIZES:
            self._skip(_SIZES[kind])
        else:
            raise ValueError(f"its header has a value of kind {kind}")


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


def find_source(name: str, revision: str | None = None) -> ModelFiles:
    """Find the source of the model that a user names; ``revision`` is a commit of a Hub repository.

    Raises ``ModelError`` if a folder holds no model, a file is not GGUF, a
    revision is given for either, or the packages that read GGUF are missing.
    """
    if not name.strip():
        raise ModelError("the model has no name: give a folder, a GGUF file or a Hub repository")
    path = Path(name)
    if revision is not None and path.exists():
        raise ModelError(f"{name} is on this machine: a revision is for a Hub repository")
    if path.is_file():
        return _gguf_file(path)
    if path.is_dir():
        _refuse_incomplete(path)
    elif is_path(name):
        if name.startswith(("http://", "https://")):
            raise ModelError(f"{name}: of a server, give --engine api, --api-base URL and the model's name")
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
    _refuse_damaged(folder / "generation_config.json")


def _refuse_damaged(path: Path) -> None:
    """Raise ``ModelError`` if a file with settings is there and not a JSON object: transformers passes over it.

    A byte order mark is refused too, which ``read_json`` accepts: transformers does not read such a file either.
    """
    if not path.exists():
        return
    remedy = "download it again, or remove it"
    with refuse_unreadable(path, ModelError, remedy):
        content = require_file(path).read_bytes()
    try:
        settings = json.loads(content.decode())
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise ModelError(f"{path} is not a JSON object in UTF-8: {remedy}")


def _gguf_file(path: Path) -> ModelFiles:
    with refuse_unreadable(path, ModelError), path.open("rb") as file:
        start = file.read(4)
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

    types = Counter(tensor.tensor_type.name for tensor in GGUFReader(str(path)).tensors)
    return ", ".join(f"{name} ({count})" for name, count in types.most_common()), file_sha256(path)


@contextmanager
def one_gguf_parse(source: object) -> Iterator[None]:
    """Parse a GGUF file and map its names of tensors once within the block, however often transformers does it.

    Each parse takes seconds, and transformers reads the header five times, maps the names for each part of the model,
    and reads the tokens again where it needs only the weights.
    """
    if not isinstance(source, str) or not Path(source).is_file() or not find_spec("gguf"):
        yield
        return
    import gguf
    from transformers import modeling_gguf_pytorch_utils as reading

    class PlainReader(gguf.GGUFReader):  # type: ignore[misc] # it ships no types
        """Reads a plain array: a slice of a mapped one takes five times as long, and each token has several."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

    loaded = reading.load_gguf_checkpoint
    header = cache(loaded)

    def load(path: str, return_tensors: bool = False, **more: Any) -> Any:
        if return_tensors:
            reader = gguf.GGUFReader(path)
            reader.fields = {key: field for key, field in reader.fields.items() if not key.startswith("tokenizer.")}
            return loaded(path, return_tensors, **more)
        return {part: dict(values) for part, values in header(path).items()}

    replaced = {"GGUFReader": gguf.GGUFReader, "get_tensor_name_map": gguf.get_tensor_name_map}
    gguf.GGUFReader, gguf.get_tensor_name_map = cache(PlainReader), cache(gguf.get_tensor_name_map)
    reading.load_gguf_checkpoint = load
    try:
        yield
    finally:
        vars(gguf).update(replaced)
        reading.load_gguf_checkpoint = loaded


@cache
def hub_has_address() -> bool:
    """Whether the Hub's host has an address, or there is a proxy; a busy name server is asked twice."""
    from huggingface_hub.constants import ENDPOINT

    for pause in (0.0, 1.0):
        time.sleep(pause)
        with suppress(OSError):
            return bool(getproxies() or socket.getaddrinfo(urlsplit(ENDPOINT).hostname, None))
    return False
