"""A folder of rows that survive a run: Parquet shards, each named after its own SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.errors import OutputError
from holisticbias_eval.arrays import Ints
from holisticbias_eval.free_memory import free_memory
from holisticbias_eval.models.store.key_places import KeyPlaces, Keys
from holisticbias_eval.models.store.keys import distinct_rows, held_rows, matching_rows, missing_rows
from holisticbias_eval.progress import Notice

_STALE_SECONDS = 3600
_MANY_SHARDS = 64
_SMALL_BYTES = 1 << 22
_ROWS_AT_ONCE = 1 << 18


def default_folder(stage: str) -> Path:
    """The user's folder for the rows of a stage: ``$HOLISTICBIAS_CACHE/stage`` or ``~/.cache/holisticbias/stage``."""
    return Path(os.environ.get("HOLISTICBIAS_CACHE") or "~/.cache/holisticbias").expanduser() / stage


def fingerprint(content: Mapping[str, object]) -> str:
    """A digest of everything the values depend on besides their keys, as 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The rows of the shards that were ``read``; ``gone`` if another disappeared meanwhile, ``merge`` to merge them."""

    rows: pa.Table
    read: list[Path]
    gone: bool
    merge: bool


@dataclass(frozen=True, slots=True)
class ShardStore:
    """The rows in one folder; any number of processes may read and write it at once.

    ``schema`` holds the columns, ``keys`` names the columns that identify a row, and
    ``about`` is written into every shard as metadata. Values that depend on other
    settings belong in another folder; see ``fingerprint``. If two processes write
    the same key, the rows of both may be kept, and ``look_up`` reads the first.

    Reading merges small shards if there are many: the merged shard is complete
    before the others are removed, so a process that is killed meanwhile, or that
    reads at the same time, misses no row.
    """

    folder: Path
    schema: pa.Schema
    keys: tuple[str, ...]
    about: Mapping[str, str]
    notice: Notice

    def read(self, asked: pa.Table | None = None) -> pa.Table:
        """All intact rows, or those with an asked key; at most about 260,000 others are in memory at once.

        A shard that differs from its checksum is removed, with a notice.
        """
        found = [
            rows if asked is None else rows.take(pa.array(held_rows(rows, asked, self.keys))) for rows in self.parts()
        ]
        return pa.concat_tables(found) if found else self.schema.empty_table()

    def parts(self) -> Iterator[pa.Table]:
        """All intact rows, in parts of about 260,000 rows; see ``read``."""
        self._remove_stale()
        seen, gone = set[Path](), True
        while gone:  # another process merged shards meanwhile: their rows are in a new one
            paths = [path for path in self.folder.glob("*.parquet") if path not in seen]
            seen.update(paths)
            gone = False
            for batch in self._batches(paths):
                gone = gone or batch.gone
                if batch.merge:
                    seen.update(self._merge(batch))
                yield batch.rows

    def find(self, asked: Keys) -> Iterator[tuple[Ints, pa.Table]]:
        """The held rows with an asked key, part by part, each with the places of their keys in ``asked``.

        The asked keys differ from each other. A key that is held several times may be found several times.
        """
        known = KeyPlaces(asked, self.keys)
        for rows in self.parts():
            places = known.find(rows)
            asked_for = places >= 0
            free_memory()
            yield (places, rows) if asked_for.all() else (places[asked_for], rows.filter(pa.array(asked_for)))

    def _batches(self, paths: list[Path]) -> Iterator[_Batch]:
        """Read shards in batches of about 260,000 rows, small ones first if there are many."""
        sizes = {path: _size(path) for path in sorted(paths)}
        small = [path for path, size in sizes.items() if size < _SMALL_BYTES]
        merge = len(small) > _MANY_SHARDS
        for names, merged in ((small, merge), ([path for path in sizes if sizes[path] >= _SMALL_BYTES], False)):
            held: list[pa.Table] = []
            read: list[Path] = []
            gone, rows = False, 0
            for path in names:
                table = self._shard(path)
                gone = gone or (table is None and not path.exists())
                if table is not None:
                    held.append(table)
                    read.append(path)
                    rows += table.num_rows
                if rows >= _ROWS_AT_ONCE:
                    yield _Batch(pa.concat_tables(held), read, gone, merged and len(read) > 1)
                    held, read, rows = [], [], 0
            if held or gone:
                yield _Batch(pa.concat_tables([self.schema.empty_table(), *held]), read, gone, merged and len(read) > 1)

    def _merge(self, batch: _Batch) -> tuple[Path, ...]:
        """Write the rows of several shards as one, remove these shards, and return the path of the new one.

        Nothing happens if the folder cannot be written to.
        """
        first, _ = distinct_rows(batch.rows, self.keys)
        try:
            made = self.write(batch.rows.take(pa.array(first)))
        except OutputError:
            return ()
        for path in batch.read:
            if path != made:
                path.unlink(missing_ok=True)
        return (made,)

    def write(self, rows: pa.Table) -> Path:
        """Add a shard, and return its path: either all of it appears, under its checksum, or nothing.

        Raises ``OutputError`` if the folder cannot be written to.
        """
        buffer = BytesIO()
        pq.write_table(rows.cast(self.schema).replace_schema_metadata(self.about), buffer, compression="zstd")
        content = buffer.getvalue()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = self.folder / f".{uuid.uuid4().hex}.tmp"
            with unfinished.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            made = self.folder / f"{hashlib.sha256(content).hexdigest()}.parquet"
            return unfinished.replace(made)
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
            return pq.ParquetFile(BytesIO(content)).read(use_threads=False).replace_schema_metadata(None)
        self.notice(f"{path} differs from its checksum: it is removed, and its rows are computed again")
        path.unlink(missing_ok=True)
        return None

    def _remove_stale(self) -> None:
        """Remove the partial files of killed processes."""
        for path in self.folder.glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
