"""Write what was collected: the prompts, the pages they are from, and a record."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.spreadsheet import safe_cell
from holisticbias_eval.collect.journal import Journal
from holisticbias_eval.collect.rule import Fault
from holisticbias_eval.prompts.prompt_sources import COLLECTED

PROMPTS, ATTRIBUTION, RECORD = COLLECTED, "attribution.csv", "collection.json"
_TEXT = pa.large_string()
SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("prompt_id", "item", "domain", "group", "group_id", "prompt", "continuation")),
        *((name, _TEXT) for name in ("sentence", "subject")),
        ("forms", pa.list_(_TEXT)),
        ("person", pa.bool_()),
        *((name, _TEXT) for name in ("prompt_anonymised", "sentence_anonymised", "page")),
        ("page_id", pa.int64()),
        ("revision", pa.int64()),
        *((name, _TEXT) for name in ("timestamp", "licence", "address")),
    ]
)
"""The columns of prompts. ``item`` is the page's title: prompts of one page are resampled together."""
PAGE_COLUMNS = ("page", "page_id", "revision", "timestamp", "licence", "address")
_BATCH = 10_000  # rows
_FAILED = 1000  # pages that the record names


@dataclass(frozen=True, slots=True)
class WrittenPrompts:
    """The prompts of each group by its id, and how many of them repeat others."""

    prompts: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)


def write_prompts(journal: Journal, folder: Path) -> WrittenPrompts:
    """Write ``prompts.parquet``; of equal prompts of a group the first is kept."""
    made = WrittenPrompts()
    with pq.ParquetWriter(folder / PROMPTS, SCHEMA, compression="zstd") as writer:
        rows = _distinct(journal, made)
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
    return made


def _distinct(journal: Journal, made: WrittenPrompts) -> Iterator[dict[str, Any]]:
    """The rows without repetitions, counted, and numbered within their page."""
    seen: set[bytes] = set()
    for row in journal.rows():
        group = row["group_id"]
        key = hashlib.sha256(f"{group} {row['prompt']}".encode("utf-8", "replace")).digest()[:16]
        if key in seen:
            made.repeated[group] += 1
            continue
        seen.add(key)
        made.prompts[group] += 1
        yield {"prompt_id": f"{group}/{row['page_id']}/{row.pop('number')}", "item": row["page"], **row}


def write_attribution(journal: Journal, folder: Path) -> None:
    """Write ``attribution.csv``, one row per page that gave prompts, with their number.

    A title that a spreadsheet would run as a formula begins with an apostrophe.
    """
    with (folder / ATTRIBUTION).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*PAGE_COLUMNS, "prompts"])
        for page, rows in groupby(journal.rows(), key=itemgetter(*PAGE_COLUMNS)):
            cells = [safe_cell(cell) if isinstance(cell, str) else cell for cell in page]
            writer.writerow([*cells, sum(1 for _ in rows)])


def write_record(journal: Journal, folder: Path, made: WrittenPrompts, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``collection.json``: what the prompts depend on, and the counts; return its content."""
    pages = journal.counts("group_page")
    groups: dict[str, dict[str, Any]] = {
        group: {"pages": pages.get(group, 0), "prompts": made.prompts[group], "left_out": {}}
        for group in about["groups"]
    }
    for detail, number in journal.counts("sentence").items():
        group, _, why = detail.partition(" ")
        groups[group]["left_out"][why] = number
    for group, number in made.repeated.items():
        groups[group]["left_out"][Fault.REPEATED] = number
    record = {
        **about,
        "groups": groups,
        "pages_left_out": {
            "why": journal.counts("failed"),
            "pages": [{"page": p, "why": w} for p, w in journal.failed(_FAILED)],
        },
        "versions": {name: version(name) for name in ("holisticbias", "mwparserfromhell", "sentencex")},
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8", "replace")
    return record


def page_address(site: str | None, title: str, revision: int | None) -> str | None:
    """The address of a page's revision, null without a site; ``$1`` in the site stands for the title."""
    if site is None:
        return None
    name = quote(title.replace(" ", "_"), safe="/:(),", errors="replace")
    address = site.replace("$1", name) if "$1" in site else f"{site.rstrip('/')}/{name}"
    return address if revision is None else f"{address}{'&' if '?' in address else '?'}oldid={revision}"
