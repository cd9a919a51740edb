"""The same rows in all forms of files, and every reader of users' tables with rows that it reads."""

import gzip
import io
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.golden import inputs

from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.prompts.prompt_sources import HUMAN, read_prompts, read_source
from holisticbias_eval.stereotypes.imported import read_sentences, read_source_sentences
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.pair_files import read_pairs
from holisticbias_eval.tasks.response_files import TEXTS, read_responses
from holisticbias_eval.tasks.test_set import read_test_set
from row_files import Rows, as_csv, as_lines, as_parquet, with_commas


def read_others(path: Path) -> pa.Table:
    from holisticbias_eval.tasks.collected import read_given_texts  # needs the tasks, which need it

    requests: pa.Table = read_given_texts(path, None).content.requests
    return requests


PROMPTS = [{"prompt": f"A {name} walks", "group": name, "continuation": "home."} for name in ("blicket", "doff")]
SENTENCES = [
    {"sentence": f"A {term} can {word}.", "attribute": word, "term": term, "specification": "own.x"}
    for term, word in (("blicket", "gimble"), ("wug", "burble"))
]
MADE = [
    {"specification": "own.x", "attribute": "calm", "sentence": f"A wug is {i}.", "other_sentence": f"A dax is {i}.",
     "stereotyped": side}
    for i, side in enumerate(("sentence", "other_sentence"))
]  # fmt: skip
EXAMPLES = [{"dimension": "own.x", "group": "wugs", "text": f"A wug {i}.", "label": i % 2} for i in range(3)]
INTERSECTIONS = [
    {"axis": "age x ability", "intersection_id": f"i{i}", "median_perplexity": 9.5 + i, "stance_difference": 0.1,
     "sentences": 4, "missing": 0}
    for i in range(3)
]  # fmt: skip

Readers = Mapping[str, tuple[Callable[[Any], Any], Rows]]
MEASURED: Readers = {
    "likelihoods": (TASKS["sentences"].tables["likelihoods"], inputs.PERPLEXITIES),
    "labels": (TASKS["responses"].tables["labels"], inputs.STYLES),
    "offensiveness": (TASKS["responses"].tables["offensiveness"], inputs.OFFENCES),
    "responses": (TASKS["responses"].tables["responses"], inputs.RESPONSES),
    "pairs": (TASKS["pairs"].tables["pairs"], inputs.PAIRS),
    "lines": (TASKS["lines"].tables["lines"], inputs.LINES),
    "results": (TASKS["results"].tables["results"], inputs.RESULTS),
    "group_sentences": (TASKS["test_set"].tables["group_sentences"], inputs.GROUPS),
    "candidates": (TASKS["dialogues"].tables["candidates"], inputs.CANDIDATES),
    "texts": (TEXTS.read, inputs.ABOUT),
}
"""Readers of tables that are measured, which also take data frames; what they say of bad files is recorded."""
READERS: Readers = {
    "intersections": (TASKS["intersections"].tables["intersections"], INTERSECTIONS),
    "responses to judge": (read_responses, [{k: v for k, v in row.items() if k != "draw"} for row in inputs.RESPONSES]),
    "texts of others": (read_others, inputs.ABOUT),
    "prompts": (lambda path: read_prompts(path, 2), PROMPTS),
    "prompts about groups": (lambda path: read_source(str(path), keep_faulty=True).table, PROMPTS),
    "continuations": (HUMAN.read, PROMPTS),
    "test set": (read_test_set, inputs.GROUPS),
    "pairs to score": (read_pairs, MADE),
    "sentences": (read_sentences, SENTENCES),
    "sentences of pairs": (read_source_sentences, SENTENCES),
    "examples": (read_examples, EXAMPLES),
}
"""Each other reader of a table, and rows that it reads. The first column of the rows is needed."""


def as_dictionaries(rows: Rows) -> bytes:
    table = pa.Table.from_pylist(list(rows))
    columns = {name: table[name].dictionary_encode() for name in table.column_names}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def as_views(rows: Rows) -> bytes:
    table = pa.Table.from_pylist(list(rows))
    views = [pa.field(f.name, pa.string_view() if pa.types.is_string(f.type) else f.type) for f in table.schema]
    file = io.BytesIO()
    pq.write_table(table.cast(pa.schema(views)), file)
    return file.getvalue()


def in_row_groups(rows: Rows) -> bytes:
    """Parquet in row groups of two rows, with texts in lists and objects."""
    table = pa.Table.from_pylist([{**row, "odd": [{"a": ["b", None], "c": "d"}]} for row in rows])
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=2)
    return file.getvalue()


def as_decimals(rows: Rows) -> bytes:
    numbers = {name for row in rows for name, cell in row.items() if isinstance(cell, float)}
    exact = [{**row, **{name: Decimal(repr(row[name])) for name in numbers}} for row in rows]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(exact), file)
    return file.getvalue()


DEEP = json.loads("[" * 500 + "]" * 500)
FILES: Mapping[str, tuple[str, Callable[[Rows], bytes]]] = {
    "commas": ("t.csv", as_csv),
    "semicolons": ("t.csv", lambda rows: as_csv(rows, ";")),
    "decimal commas": ("t.csv", lambda rows: as_csv(with_commas(rows), ";")),
    "tabs": ("t.tsv", lambda rows: as_csv(rows, "\t")),
    "bars": ("t.csv", lambda rows: as_csv(rows, "|")),
    "a byte order mark": ("t.csv", lambda rows: b"\xef\xbb\xbf" + as_csv(rows, end="\r\n")),
    "carriage returns": ("t.CSV", lambda rows: as_csv(rows, end="\r")),
    "packed": ("t.csv.gz", lambda rows: gzip.compress(as_csv(rows))),
    "packed and not named so": ("t.csv", lambda rows: gzip.compress(as_csv(rows))),
    "JSON lines": ("t.jsonl", as_lines),
    "packed lines": ("t.jsonl.gz", lambda rows: gzip.compress(as_lines(rows))),
    "lines named .json": ("t.json", as_lines),
    "an array": ("t.json", lambda rows: json.dumps(rows).encode()),
    "an indented array": ("t.jsonl", lambda rows: b"\n" + json.dumps(rows, indent=2).encode()),
    "Parquet": ("t.parquet", as_parquet),
    "row groups": ("t.parquet", in_row_groups),
    "decimals": ("t.parquet", as_decimals),
    "dictionaries": ("t.parquet", as_dictionaries),
    "views": ("t.parquet", as_views),
    "an odd column": ("t.jsonl", lambda rows: as_lines([{**row, "odd": odd} for row, odd in odd_cells(rows)])),
    "empty objects": ("t.jsonl", lambda rows: as_lines([{**row, "odd": [{"a": {}}]} for row in rows])),
    "objects with a text": ("t.jsonl", lambda rows: as_lines([
        {**row, name: {"text": row[name]} if i % 2 else row[name]}
        for i, row in enumerate(rows)
        for name in list(row)[:1]
    ])),
    "blank lines before an array": ("t.json", lambda rows: b"\n" * 300_000 + json.dumps(rows).encode()),
    "deep lists": ("t.jsonl", lambda rows: as_lines([{**row, "odd": DEEP} for row in rows])),
    "an odd column of CSV": ("t.csv", lambda rows: as_csv([{**row, "odd": odd} for row, odd in odd_cells(rows)])),
}  # fmt: skip
"""Ways to write rows, all of which are read as the same table."""


def odd_cells(rows: Rows) -> list[tuple[Mapping[str, Any], object]]:
    odd = [1, "b-2", ["a", 2], {"a": 1}, 1.5, None, True, "\ud83d", 10**30]
    return [(row, odd[i % len(odd)]) for i, row in enumerate(rows)]


def write(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name
