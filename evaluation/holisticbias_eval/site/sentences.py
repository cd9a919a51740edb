"""The sentences of each release as Parquet files that a page reads in parts.

A file has the sentences of one axis with the columns ``template``, ``noun`` (null without a noun) and ``text``, and one
row group per descriptor. A page knows the rows of its descriptor and the size of the footer: it fetches the footer and
one row group.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.compile.columns import strings
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.arrays import Ints
from holisticbias_eval.site.writer import Writer

_COLUMNS = ("template", "noun", "text")
_TAIL = 8  # bytes after the footer: its size, and the end mark


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one descriptor in a file of sentences.

    ``file`` is its path in the site, ``first`` the number of the first row, ``count`` the number of rows, ``size`` the
    bytes of the file, and ``footer`` the bytes at its end that say where each row group is.
    """

    file: str
    first: int
    count: int
    size: int
    footer: int


def write_sentences(release: Release, held: Catalog, site: Writer) -> Mapping[str, Rows]:
    """Write the sentences with a descriptor, one file per axis; returns the rows of each descriptor.

    ``held`` has the terms of the release's version.
    """
    sentences = release.sentences
    order, counts = _by_descriptor(sentences["descriptor_id"], [d.id for a in held.axes for d in a.descriptors])
    found: dict[str, Rows] = {}
    row = 0
    for axis in held.axes:
        own = {d.id: counts[d.id] for d in axis.descriptors}
        rows = order[row : row + sum(own.values())]
        row += len(rows)
        path = f"sentences/{release.version}/{axis.axis}.parquet"
        found |= _write(sentences.select(_COLUMNS).take(pa.array(rows)), own, path, site.file(path))
    return found


def _by_descriptor(column: pa.ChunkedArray, ids: Sequence[str]) -> tuple[Ints, Mapping[str, int]]:
    """The numbers of the rows with a descriptor, sorted by the order of ``ids``; the number of rows of each."""
    found = pc.index_in(column.cast(pa.string()), value_set=strings(ids))
    places = pc.fill_null(found, -1).to_numpy()
    rows = np.flatnonzero(places >= 0)
    order = rows[np.argsort(places[rows], kind="stable")]
    counts = np.bincount(places[rows], minlength=len(ids)).tolist()
    return order, dict(zip(ids, counts, strict=True))


def _write(table: pa.Table, counts: Mapping[str, int], path: str, target: Path) -> Mapping[str, Rows]:
    """Write a file without statistics, which would make the footer several times as large."""
    columns = pa.table({name: table[name].cast(pa.string()) for name in _COLUMNS})
    first: dict[str, int] = {}
    with pq.ParquetWriter(
        target,
        columns.schema,
        compression="snappy",
        use_dictionary=["template", "noun"],
        column_encoding={"text": "DELTA_BYTE_ARRAY"},
        write_statistics=False,
        store_schema=False,
    ) as writer:
        row = 0
        for descriptor, count in counts.items():
            first[descriptor] = row
            if count:
                writer.write_table(columns.slice(row, count), row_group_size=count)
            row += count
    size, footer = target.stat().st_size, _footer_size(target)
    return {d: Rows(path, first[d], count, size, footer) for d, count in counts.items()}


def _footer_size(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(-_TAIL, 2)
        (size,) = struct.unpack("<I", file.read(4))
        return int(size) + _TAIL
