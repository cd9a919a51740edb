"""Checkpoints of a training: each with the digests of its files, so that only whole ones of our own are read again."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holisticbias_eval.models.loading.source import file_sha256

_RECORD = "digests.json"
_NAME = re.compile(r"checkpoint-(\d+)")
_FULL = (
    "No space left", "os error 28", "disk quota", "os error 122", "File too large", "os error 27",
    "PytorchStreamWriter", "inline_container",
)  # fmt: skip


def record_checkpoint(folder: Path) -> None:
    """Write the digests of a checkpoint's files, when all of them are written."""
    digests = {path.name: file_sha256(path) for path in sorted(folder.iterdir()) if path.is_file()}
    (folder / _RECORD).write_text(json.dumps(digests), "utf-8")


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of a folder; removes incomplete or changed ones.

    An optimizer's state is a pickled file: it is read with torch's ``weights_only``, and only if its digest is the
    one recorded when it was written.
    """
    found = sorted(_checkpoints(folder), key=_step)
    for checkpoint in found:
        if not _is_whole(checkpoint):
            shutil.rmtree(checkpoint)
    kept = [checkpoint for checkpoint in found if checkpoint.exists()]
    return kept[-1] if kept else None


def _checkpoints(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("checkpoint-*") if _NAME.fullmatch(path.name) and path.is_dir())


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _is_whole(checkpoint: Path) -> bool:
    try:
        digests = json.loads((checkpoint / _RECORD).read_text("utf-8"))
        return all(file_sha256(checkpoint / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def full_disk_is_an_os_error(unfinished: Path) -> Iterator[None]:
    """Remove the unfinished folder after an error of writing, and raise it as ``OSError``.

    safetensors and torch do not raise ``OSError`` when a disk is full; torch fails again while it closes the file.
    """
    try:
        yield
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    except Exception as error:
        if not any(sign in str(error) for sign in _FULL):
            raise
        shutil.rmtree(unfinished, ignore_errors=True)
        first = error.__context__ if isinstance(error.__context__, OSError) else None
        raise OSError(errno.ENOSPC, (first and first.strerror) or "No space left on device") from error
