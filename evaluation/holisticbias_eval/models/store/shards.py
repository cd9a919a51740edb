"""A folder of rows that survive a run: Parquet shards, each named after its own SHA-256."""

import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.errors import OutputError
from holisticbias.inputs import refuse_unreadable, require_file
from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.store.keys import KeyPlaces, Rows, distinct_rows, rows_as_table
from holisticbias_eval.progress import Notice, Progress
from holisticbias_eval.settings import Keeping

_STALE_SECONDS = 3600
_MANY_SHARDS = 64
_SMALL_BYTES = 1 << 22
_ROWS_AT_ONCE = 1 << 18


Stage = Literal["scores", "responses", "labels"]


def find_store(keeping: Keeping, stage: Stage) -> Path | None:
    """The folder that keeps the rows of a stage; None if nothing is kept.

    By default it is the user's: ``$HOLISTICBIAS_CACHE/stage`` or ``~/.cache/holisticbias/stage``.
    """
    if keeping.no_store:
        return None
    return keeping.store or Path(os.environ.get("HOLISTICBIAS_CACHE") or "~/.cache/holisticbias").expanduser() / stage


def fingerprint(content: Mapping[str, object]) -> str:
    """A digest of everything the values depend on besides their keys, as 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ShardStore:
    """The rows in one folder; any number of processes may read and write it at once.

    ``schema`` holds the columns, ``keys`` names the columns that identify a row, and
    ``about`` is written into every shard as metadata. Values that depend on other
    settings belong in another folder; see ``fingerprint``. If two processes write
    the same key, the rows of both may be kept, and ``held`` reads the first.

    Reading merges small shards if there are many: the merged shard is complete
    before the others are removed, so a process that is killed meanwhile, or that
    reads at the same time, misses no row.
    """

    folder: Path
    schema: pa.Schema
    keys: tuple[str, ...]
    about: Mapping[str, str]
    notice: Notice

    def read(self) -> pa.Table:
        """All intact rows. A shard that differs from its checksum is removed, with a notice."""
        return pa.concat_tables([self.schema.empty_table(), *self.parts()])

    def parts(self) -> Iterator[pa.Table]:
        """All intact rows, in parts of about 260,000 rows; see ``read``."""
        self._remove_stale()
        seen = set[Path]()
        while paths := sorted(set(self.folder.glob("*.parquet")) - seen):  # another process may merge shards meanwhile
            seen.update(paths)
            sizes = {path: _size(path) for path in paths}
            small = [path for path in paths if sizes[path] < _SMALL_BYTES]
            for read, rows in self._batches(small):
                if len(small) > _MANY_SHARDS and len(read) > 1:
                    seen.update(self._merge(read, rows))
                yield rows
            for _, rows in self._batches([path for path in paths if sizes[path] >= _SMALL_BYTES]):
                yield rows

    def held(self, asked: Rows | pa.Table, known: Bools) -> Iterator[tuple[Ints, pa.Table]]:
        """The places of the asked keys that are held, and their values, part by part; marks them as ``known``.

        The asked keys differ from each other. Of a key that is held several times the first row counts. At most about
        260,000 other rows are in memory at once.
        """
        names = [name for name in self.schema.names if name not in self.keys]
        keys: KeyPlaces | None = None  # of an empty store none is needed
        for rows in self.parts():
            keys = keys or KeyPlaces(asked, self.keys)
            places = keys.find(rows)
            distinct, first = np.unique(places, return_index=True)
            first = first[distinct >= 0]
            new = first[~known[places[first]]]
            known[places[new]] = True
            yield places[new], rows.select(names).take(pa.array(new))

    def lacking(self, asked: Rows | pa.Table) -> Ints:
        """The places of the asked keys that are not held."""
        known = np.zeros(len(asked), np.bool_)
        for _ in self.held(asked, known):
            pass
        return np.flatnonzero(~known)

    def answers(
        self,
        asked: Rows | pa.Table,
        compute: Callable[[Ints], Iterator[tuple[Ints, pa.Table]]],
        progress: Progress,
        kept: Callable[[int], object] = lambda _: None,
    ) -> Iterator[tuple[Ints, pa.Table]]:
        """The values of distinct keys with the places of the keys: first all held values, then the missing ones.

        ``compute`` gives the values of the missing keys, by their places, in parts that are stored as they come, and
        counts its own progress. ``kept`` is called with the number of held values.
        """
        known = np.zeros(len(asked), np.bool_)
        for places, rows in self.held(asked, known):
            progress(len(places))
            yield places, rows
        count = int(known.sum())
        kept(count)
        if not known.all():
            self._refuse_read_only()
        for places, values in compute(np.flatnonzero(~known)):
            keys = rows_as_table(asked, places)
            names = [*keys.column_names, *values.column_names]
            self.write(pa.Table.from_arrays([*keys.columns, *values.columns], names=names).select(self.schema.names))
            count += len(places)
            kept(count)
            yield places, values

    def _batches(self, paths: list[Path]) -> Iterator[tuple[list[Path], pa.Table]]:
        """Read shards in batches of about 260,000 rows."""
        held, rows = dict[Path, pa.Table](), 0
        for path in paths:
            table = self._shard(path)
            if table is not None:
                held[path] = table
                rows += table.num_rows
            if rows >= _ROWS_AT_ONCE:
                yield list(held), pa.concat_tables(held.values())
                held, rows = {}, 0
        if held:
            yield list(held), pa.concat_tables(held.values())

    def _merge(self, read: list[Path], rows: pa.Table) -> tuple[Path, ...]:
        """Write the rows of several shards as one, remove these shards, and return the path of the new one.

        Nothing happens if the folder cannot be written to.
        """
        first, _ = distinct_rows(rows, self.keys)
        try:
            made = self.write(rows.take(pa.array(first)))
        except OutputError:
            return ()
        for path in read:
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
        made = self.folder / f"{hashlib.sha256(content).hexdigest()}.parquet"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return _put(content, made)
        except OSError as error:
            raise self._unwritable(f"{error.strerror}; free space, or name") from error

    def _refuse_read_only(self) -> None:
        """Raise ``OutputError`` before anything is computed that could not be kept."""
        above = next(path for path in (self.folder, *self.folder.parents) if path.exists())
        if not os.access(above, os.W_OK):
            raise self._unwritable("it is read-only; name")

    def _unwritable(self, why: str) -> OutputError:
        where = "another folder with --store or the variable HOLISTICBIAS_CACHE"
        return OutputError(f"cannot write to the store {self.folder}: {why} {where}")

    def _shard(self, path: Path) -> pa.Table | None:
        """The rows of an intact shard; raises ``EvaluationError`` for what cannot be one of this store."""
        with refuse_unreadable(path, EvaluationError, "move it out of the store"):
            try:
                content = require_file(path).read_bytes()
            except FileNotFoundError:  # another process found it damaged and removed it
                return None
            if hashlib.sha256(content).hexdigest() == path.stem:
                rows = pq.ParquetFile(BytesIO(content)).read(use_threads=False).replace_schema_metadata(None)
                if rows.schema != self.schema:
                    raise EvaluationError(f"{path} has other columns than its store: move it out of the store")
                return rows
        self.notice(f"{path} differs from its checksum: it is removed, and its rows are computed again")
        path.unlink(missing_ok=True)
        return None

    def _remove_stale(self) -> None:
        """Remove the partial files of killed processes."""
        for path in self.folder.glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()


def _put(content: bytes, made: Path) -> Path:
    """Write a file that appears whole or not at all; a full disk and Ctrl-C leave no partial file."""
    unfinished = made.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return unfinished.replace(made)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def stored_values(
    store: ShardStore | None,
    asked: pa.Table,
    width: int,
    compute: Callable[[Ints], Iterator[tuple[Ints, Floats]]],
    progress: Progress,
) -> Floats:
    """The values of distinct keys: shape ``[keys, width]``.

    ``compute`` gives the values of the keys that the store does not hold, by their places, in parts that are stored as
    they come, and counts its own progress. The store's columns are its keys and then the values as floats; NaN is
    stored as null. Without a store all are computed. The message of an interruption names the store.
    """
    values = np.full((asked.num_rows, width), np.nan)
    if store is None:
        for places, found in compute(np.arange(asked.num_rows)):
            values[places] = found
        return values

    def missing(rows: Ints) -> Iterator[tuple[Ints, pa.Table]]:
        names = [name for name in store.schema.names if name not in store.keys]
        for places, found in compute(rows):
            columns = [pa.array(column, from_pandas=True) for column in found.T]
            yield places, pa.Table.from_arrays(columns, names=names)

    try:
        for places, rows in store.answers(asked, missing, progress):
            values[places] = np.column_stack([column.to_numpy() for column in rows.columns])
    except KeyboardInterrupt as error:
        kept = f"what is finished is kept in {store.folder}; run the same command again to continue"
        raise KeyboardInterrupt(kept if store.folder.is_dir() else "") from error
    return values
