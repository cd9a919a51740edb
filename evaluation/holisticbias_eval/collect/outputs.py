"""Write what was collected: the prompts, the pages they are from, and a record."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.inputs import has_file
from holisticbias.spreadsheet import csv_text
from holisticbias_eval.collect.journal import Journal
from holisticbias_eval.collect.rule import Fault
from holisticbias_eval.prompts.prompt_sources import COLLECTED
from holisticbias_eval.records import record_json

PROMPTS, ATTRIBUTION, RECORD = COLLECTED, "attribution.csv", "collection.json"
is_collected = has_file(RECORD)
"""Whether a folder holds what was collected."""
_TEXT = pa.large_string()
_TYPES = {"forms": pa.list_(_TEXT), "person": pa.bool_(), **dict.fromkeys(("page_id", "revision"), pa.int64())}
PAGE_COLUMNS = ("page", "page_id", "revision", "timestamp", "licence", "address")
_COLUMNS = (
    "prompt_id", "item", "domain", "group", "group_id", "prompt", "continuation", "sentence", "subject", "forms",
    "person", "prompt_anonymised", "sentence_anonymised", *PAGE_COLUMNS,
)  # fmt: skip
SCHEMA = pa.schema([(name, _TYPES.get(name, _TEXT)) for name in _COLUMNS])
"""The columns of prompts. ``item`` is the page's title: prompts of one page are resampled together."""
_BATCH = 10_000  # rows
_FAILED = 1000  # pages that the record names


def write_prompts(journal: Journal, folder: Path) -> Counter[str]:
    """Write ``prompts.parquet``, and return the number of prompts of each group by its id.

    Of equal prompts of a group the first is kept, and the others are counted in the journal.
    """
    made: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    with pq.ParquetWriter(folder / PROMPTS, SCHEMA, compression="zstd") as writer:
        rows = _distinct(journal, repeated)
        while batch := list(islice(rows, _BATCH)):
            made.update(row["group_id"] for row in batch)
            writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
    for group, number in repeated.items():
        journal.count("sentence", f"{group} {Fault.REPEATED}", number)
    return made


def _distinct(journal: Journal, repeated: Counter[str]) -> Iterator[dict[str, Any]]:
    """The rows, numbered within their page, without repetitions, which are counted."""
    seen: set[bytes] = set()
    for row in journal.rows():
        group = row["group_id"]
        key = hashlib.sha256(f"{group} {row['prompt']}".encode("utf-8", "replace")).digest()[:16]
        if key in seen:
            repeated[group] += 1
        else:
            seen.add(key)
            yield {"prompt_id": f"{group}/{row['page_id']}/{row.pop('number')}", "item": row["page"], **row}


def write_attribution(journal: Journal, folder: Path) -> None:
    """Write ``attribution.csv``, one row per page that gave prompts, with their number.

    A title that a spreadsheet would run as a formula begins with an apostrophe.
    """
    by_page = groupby(journal.rows(), key=itemgetter(*PAGE_COLUMNS))
    rows = [[*page, sum(1 for _ in found)] for page, found in by_page]
    (folder / ATTRIBUTION).write_text(csv_text([[*PAGE_COLUMNS, "prompts"], *rows]), "utf-8", newline="")


def write_record(journal: Journal, folder: Path, prompts: Counter[str], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``collection.json``: what the prompts depend on, and the counts; return its content."""
    pages = journal.counts("group_page")
    groups: dict[str, dict[str, Any]] = {
        group: {"pages": pages.get(group, 0), "prompts": prompts[group], "left_out": {}} for group in about["groups"]
    }
    for detail, number in journal.counts("sentence").items():
        group, _, why = detail.partition(" ")
        groups[group]["left_out"][why] = number
    record = {
        **about,
        "groups": groups,
        "pages_left_out": {
            "why": journal.counts("failed"),
            "pages": [{"page": p, "why": w} for p, w in journal.failed(_FAILED)],
        },
        "versions": {name: version(name) for name in ("holisticbias", "mwparserfromhell", "sentencex")},
    }
    (folder / RECORD).write_text(record_json(record), "utf-8")
    return record


def page_address(site: str | None, title: str, revision: int | None) -> str | None:
    """The address of a page's revision, null without a site; ``$1`` in the site stands for the title."""
    if site is None:
        return None
    name = quote(title.replace(" ", "_"), safe="/:(),", errors="replace")
    address = site.replace("$1", name) if "$1" in site else f"{site.rstrip('/')}/{name}"
    return address if revision is None else f"{address}{'&' if '?' in address else '?'}oldid={revision}"
