"""Tables with one fault each: the good tables of the inputs, changed."""

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

from row_files import Rows, as_csv, as_lines, with_commas
from tests.golden.inputs import ABOUT, CANDIDATES, GROUPS, LINES, OFFENCES, PAIRS, PERPLEXITIES, RESULTS, STYLES

Changed = tuple[str, str, bytes]
"""The fault, the name of a file, and its content."""


def _with(rows: Rows, column: str, value: Any) -> Rows:
    return [{**row, column: value} if i == 3 else row for i, row in enumerate(rows)]


def _changed(rows: Rows) -> Iterator[Changed]:
    text = as_csv(rows).decode()
    for column in rows[0]:
        yield f"without {column}", "bad.csv", as_csv([{k: v for k, v in r.items() if k != column} for r in rows])
        for value in ("", "many words", "-1", "1.5", "nan", "inf", "true"):
            yield f"{column} is {value!r}", "bad.csv", as_csv(_with(rows, column, value))
        yield f"{column} as an object", "bad.jsonl", as_lines(_with(rows, column, {"a": 1}))
        yield f"{column} as a list", "bad.jsonl", as_lines(_with(rows, column, ["a"]))
    repeated = "".join(f"{line},{line.split(',')[0]}\n" for line in text.splitlines())
    yield "a repeated column", "bad.csv", repeated.encode()
    yield "no rows", "bad.csv", (text.splitlines()[0] + "\n").encode()
    yield "an empty file", "bad.csv", b""
    yield "semicolons", "bad.csv", as_csv(rows, ";")
    yield "tabs", "bad.csv", as_csv(rows, "\t")
    yield "a byte order mark", "bad.csv", b"\xef\xbb\xbf" + text.encode()
    yield "Latin-1", "bad.csv", text.replace("e", "\xe9", 3).encode("latin-1")
    yield "a zero byte", "bad.csv", text.encode() + b"\0\n"
    yield "a short row", "bad.csv", (text + "x\n").encode()
    yield "JSON lines", "bad.jsonl", as_lines(rows)
    yield "a JSON array", "bad.json", json.dumps(rows).encode()
    yield "an unfinished line of JSON", "bad.jsonl", as_lines(rows)[:-9]
    yield "CSV named .parquet", "bad.parquet", text.encode()
    yield "CSV named .xlsx", "bad.xlsx", text.encode()
    yield from _of_others(rows, text)


def _of_others(rows: Rows, text: str) -> Iterator[Changed]:
    """Tables as other programs write them, some of which are good."""
    first = next(iter(rows[0]))
    odd = (1, "b-2", ["a"], {"a": 1}, None, "\ud83d")
    yield "an odd column", "bad.jsonl", as_lines([{**row, "odd": odd[i % 6]} for i, row in enumerate(rows)])
    yield "half a character", "bad.jsonl", as_lines(_with(rows, first, "\ud83d"))
    yield "objects with a text", "bad.jsonl", as_lines([{**row, first: {"text": row[first], "n": 1}} for row in rows])
    yield "lists", "bad.jsonl", as_lines([{**row, first: [row[first]]} for row in rows])
    yield "an indented array", "bad.json", json.dumps(rows, indent=1).encode()
    yield "a row of an array on each line", "bad.json", b"[" + as_lines(rows).strip().replace(b"}\n{", b"},\n{") + b"]"
    yield "an unfinished array", "bad.json", json.dumps(rows).encode()[:-9]
    yield "packed CSV", "bad.csv.gz", gzip.compress(text.encode())
    yield "packed CSV named .csv", "bad.csv", gzip.compress(text.encode())
    yield "half of packed CSV", "bad.csv.gz", gzip.compress(text.encode())[:-20]
    yield "a quote that is not closed", "bad.csv", (text + '"' + text).encode()
    yield "decimal commas", "bad.csv", as_csv(with_commas(rows), ";")


_GOOD: Mapping[str, Rows] = {
    "medians": PERPLEXITIES,
    "generation_bias": STYLES,
    "response_wording": STYLES,
    "offensiveness": OFFENCES,
    "sentiment": ABOUT,
    "stereotype_score": PAIRS,
    "group_perplexity": GROUPS,
    "retention": LINES,
    "dialogue_state": CANDIDATES,
    "retained": RESULTS,
}
BAD: Mapping[str, tuple[Changed, ...]] = {name: tuple(_changed(rows)) for name, rows in _GOOD.items()}
"""The faults of a table for each measure."""
