"""Build a release of sentences with two descriptors, in shards; an interrupted build can be continued."""

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.compile.digest import parts_digest, table_digest, text_digest
from holisticbias.compile.filters import conditions_text, parse_conditions, select
from holisticbias.compile.pair_tables import PairCompiler, Run, even_quotas
from holisticbias.compile.pairs import Pairs, find_pairs
from holisticbias.compile.tables import compile_entries
from holisticbias.output import resumed_folder
from holisticbias.release.build import holds_same
from holisticbias.release.card import render_card
from holisticbias.release.manifest import Manifest, ReleasePart, TableEntry, write_manifest, written_with
from holisticbias.release.parquet import write_parquet, write_shard
from holisticbias.terms.catalog import Catalog

WORKERS = 4
TABLE = "intersections"
_DONE = ".done"


@dataclass(frozen=True, slots=True)
class Request:
    """The intersections to build; for ``axes`` see ``holisticbias.compile.pairs.find_pairs``."""

    version: str
    axes: str
    sample: int | None = None
    seed: int = 0
    where: tuple[str, ...] = ()
    source_commit: str | None = None

    @property
    def drawn(self) -> str | None:
        """Description of the sample; null for all sentences."""
        return None if self.sample is None else f"{self.sample} sentences, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Done:
    """A finished shard: rows, digest of the texts, size of the file."""

    rows: int
    digest: str
    bytes: int


def count_intersections(catalog: Catalog, request: Request) -> tuple[int, int]:
    """Number of pairs of descriptors, and of sentences of all pairs."""
    _, pairs = _selected_pairs(catalog, request)
    return len(pairs.first), pairs.sentences


def write_intersections(catalog: Catalog, request: Request, folder: Path) -> Manifest:
    """Build intersections into a folder, shard by shard in a few threads, and return the manifest.

    On failure the finished shards are kept, and the same request continues the
    build; the folder appears when the build is complete. A sample is spread evenly over
    the pairs. Raises ``UnknownTermError``, ``ReleaseError`` and ``OutputError``.
    """
    selected, pairs = _selected_pairs(catalog, request)
    compiler = _compiler(pairs, request)
    runs = compiler.runs()
    files = tuple(f"data/{TABLE}-{i:05}-of-{len(runs):05}.parquet" for i in range(len(runs)))
    entries = compile_entries(selected, request.version)
    named = ReleasePart(
        version=request.version,
        date=catalog.release(request.version).date,
        where=conditions_text(parse_conditions(request.where)),
        intersections=request.axes,
        sample=request.drawn,
    )
    asked = asdict(replace(request, source_commit=None))  # the commit may change while the terms do not
    plan = json.dumps({"request": asked, "of": _digest(pairs), "shards": len(runs), **written_with()})
    with resumed_folder(folder, plan, lambda old: holds_same(old, named), _DONE) as part:
        for name in ("data", _DONE):
            (part / name).mkdir(exist_ok=True)
        done = _write_shards(compiler, runs, part, files, named.label(TABLE))
        tables = _table_entries(entries, files, done)
        manifest = Manifest.of(named, tables, request.source_commit)
        for name, table in entries.items():
            write_parquet([table], part / manifest.tables[name].files[0], named.label(name))
        (part / "README.md").write_text(render_card(manifest, entries, part), "utf-8")
        for left in (part / "data").glob("*.unfinished"):
            left.unlink()
        return write_manifest(manifest, part)


def _selected_pairs(catalog: Catalog, request: Request) -> tuple[Catalog, Pairs]:
    selected = select(catalog, request.version, parse_conditions(request.where))
    return selected, find_pairs(selected, request.version, request.axes)


def _compiler(pairs: Pairs, request: Request) -> PairCompiler:
    if request.sample is None:
        return PairCompiler(pairs)
    sentences = pairs.phrases.astype(np.int64) * len(pairs.templates)
    return PairCompiler(pairs, even_quotas(sentences, request.sample, request.seed), request.seed)


def _digest(pairs: Pairs) -> str:
    """Digest of the pairs and their entries, so that a build from other terms is not continued."""
    digest = hashlib.sha256()
    for entry in (*(d for _, d in pairs.descriptors), *(n for _, n in pairs.nouns), *pairs.templates):
        digest.update(entry.model_dump_json().encode())
    labels = {axis.axis: axis.label for axis, _ in pairs.descriptors}
    digest.update(json.dumps(labels).encode())
    for array in (pairs.first, pairs.second, pairs.phrases):
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write_shards(
    compiler: PairCompiler, runs: tuple[Run, ...], part: Path, files: tuple[str, ...], label: dict[str, str]
) -> tuple[Done, ...]:
    """Write the missing shards; the first failure stops the rest."""
    with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as threads:
        jobs = [
            threads.submit(_write_shard, compiler, run, part, file, label)
            for run, file in zip(runs, files, strict=True)
        ]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            for job in jobs:
                job.cancel()
    return tuple(job.result() for job in jobs if not job.cancelled())


def _write_shard(compiler: PairCompiler, run: Run, part: Path, file: str, label: dict[str, str]) -> Done:
    path, mark = part / file, part / _DONE / f"{Path(file).stem}.json"
    done = _done(path, mark)
    if done is not None:
        return done
    table = compiler.table(run)
    unfinished = path.with_suffix(".unfinished")
    try:
        write_shard(table, unfinished, label)
    except OSError:
        unfinished.unlink(missing_ok=True)  # frees space on a full disk
        raise
    done = Done(table.num_rows, text_digest(table), unfinished.stat().st_size)
    unfinished.replace(path)
    mark.write_text(json.dumps(asdict(done)), "utf-8")
    return done


def _done(path: Path, mark: Path) -> Done | None:
    """The record of a finished shard; None if it is missing or its file has another size."""
    try:
        done = Done(**json.loads(mark.read_text("utf-8")))
        return done if path.stat().st_size == done.bytes else None
    except (OSError, ValueError, TypeError):
        return None


def _table_entries(
    entries: Mapping[str, pa.Table], files: tuple[str, ...], done: tuple[Done, ...]
) -> dict[str, TableEntry]:
    """The digests and the rows of all tables."""
    digest = parts_digest([shard.digest for shard in done])
    tables = {TABLE: TableEntry(files=files, rows=sum(shard.rows for shard in done), digest=digest)}
    return tables | {name: TableEntry.of(name, table.num_rows, table_digest(table)) for name, table in entries.items()}
