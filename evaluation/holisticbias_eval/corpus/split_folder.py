"""Folders with a split of examples: written whole, and read again."""

from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.inputs import has_file, refuse_unreadable
from holisticbias.output import new_folder, refuse_target
from holisticbias.release.bounded import check_parquet
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.splitting import SCHEMA, Split, split_examples
from holisticbias_eval.errors import CorpusError, about_rows_of
from holisticbias_eval.progress import Display
from holisticbias_eval.records import record_json
from holisticbias_eval.stereotypes.specifications import read_specification

RECORD = "split.json"
is_split = has_file(RECORD)
"""Whether a path is a folder with a split."""
_AGAIN = "make the split again with holisticbias corpus split"
PARTS = ("train", "validation", "test")


def make_split(examples: Path, name: str, out: Path, settings: SplitSettings, display: Display) -> Split:
    """Split the examples of a file for the specification with this name, and write the folder.

    Raises ``CorpusError``, ``SpecificationError`` and ``OutputError``.
    """
    refuse_target(out, is_split, [examples])
    specification = read_specification(name)
    with display.step("Reading examples"):
        table = read_examples(examples, specification)
    with (
        display.step(f"Rewriting {len(table):,} examples for {len(specification.groups)} groups"),
        about_rows_of(examples),
    ):
        split = split_examples(table, specification, settings)
    write_split(split, out, specification, settings, examples.name)
    return split


def write_split(
    split: Split, folder: Path, specification: Specification, settings: SplitSettings, source: str | None
) -> None:
    """Write the three parts and ``split.json``; an earlier split in the folder is replaced. Raises ``OutputError``.

    ``source`` names the examples.
    """
    counts = {field.name: getattr(split, field.name) for field in fields(split) if field.name not in PARTS}
    record = {
        "specification": specification.id,
        "source": source,
        "seed": settings.seed,
        **{name: counts[name] for name in ("labelled", "originals", "groups")},
        "held_out": [group.name for group in specification.groups if group.held_out],
        **counts,
    }
    with new_folder(folder, is_split) as target:
        for name in PARTS:
            pq.write_table(getattr(split, name), target / f"{name}.parquet", compression="zstd")
        (target / RECORD).write_text(record_json(record), "utf-8")


def read_part(folder: Path, part: str) -> pa.Table:
    """One part of a split: train, validation or test. Raises ``CorpusError``."""
    path = folder / f"{part}.parquet"
    with refuse_unreadable(path, CorpusError, _AGAIN):
        table = check_parquet(path).read()
    missing = [name for name in SCHEMA.names if name not in table.column_names]
    if missing:
        raise CorpusError(f"{path} has no column {', '.join(missing)}: {_AGAIN}")
    return table.select(SCHEMA.names).cast(SCHEMA)
