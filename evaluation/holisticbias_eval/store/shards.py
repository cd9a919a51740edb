"""A folder of rows that survive a run: Parquet shards, each named after its own SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.errors import OutputError
from holisticbias_eval.arrays import Ints
from holisticbias_eval.progress import Notice
from holisticbias_eval.store.keys import matching_rows, missing_rows

_STALE_SECONDS = 3600


def default_folder(stage: str) -> Path:
    """The user's folder for the rows of a stage: ``$HOLISTICBIAS_CACHE/stage`` or ``~/.cache/holisticbias/stage``."""
    return Path(os.environ.get("HOLISTICBIAS_CACHE") or "~/.cache/holisticbias").expanduser() / stage


def fingerprint(content: Mapping[str, object]) -> str:
    """A digest of everything the values depend on besides their keys, as 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ShardStore:
    """The rows in one folder; any number of processes may read and write it at once.

    ``schema`` holds the columns, ``keys`` names the columns that identify a row, and
    ``about`` is written into every shard as metadata. Values that depend on other
    settings belong in another folder; see ``fingerprint``. If two processes write
    the same key, the rows of both are kept, and ``look_up`` reads the first.
    """

    folder: Path
    schema: pa.Schema
    keys: tuple[str, ...]
    about: Mapping[str, str]
    notice: Notice

    def read(self) -> pa.Table:
        """All intact rows; a shard that differs from its checksum is removed, with a notice."""
        self._remove_stale()
        tables = [table for path in sorted(self.folder.glob("*.parquet")) if (table := self._shard(path)) is not None]
        return pa.concat_tables(tables) if tables else self.schema.empty_table()

    def write(self, rows: pa.Table) -> None:
        """Add a shard: either all of it appears, under its checksum, or nothing.

        Raises ``OutputError`` if the folder cannot be written to.
        """
        buffer = BytesIO()
        pq.write_table(rows.cast(self.schema).replace_schema_metadata(self.about), buffer, compression="zstd")
        content = buffer.getvalue()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            made = self.folder / f".{uuid.uuid4().hex}.tmp"
            with made.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            made.replace(self.folder / f"{hashlib.sha256(content).hexdigest()}.parquet")
        except OSError as error:
            raise OutputError(
                f"cannot write to the store {self.folder}: {error.strerror}; free space, or name another folder with "
                "--store or the variable HOLISTICBIAS_CACHE"
            ) from error

    def missing(self, asked: pa.Table, held: pa.Table) -> Ints:
        """The positions of the asked keys that are not held, in order."""
        return missing_rows(asked, held, self.keys)

    def look_up(self, asked: pa.Table, held: pa.Table) -> pa.Table:
        """The held row of each asked key, in the order asked; raises ``KeyError`` if one is missing."""
        return held.take(matching_rows(asked, held, self.keys))

    def _shard(self, path: Path) -> pa.Table | None:
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # another process found it damaged and removed it
            return None
        if hashlib.sha256(content).hexdigest() == path.stem:
            return pq.read_table(BytesIO(content)).replace_schema_metadata(None)
        self.notice(f"{path} differs from its checksum: it is removed, and its rows are computed again")
        path.unlink(missing_ok=True)
        return None

    def _remove_stale(self) -> None:
        """Remove the partial files of killed processes."""
        for path in self.folder.glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
