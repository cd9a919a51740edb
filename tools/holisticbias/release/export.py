"""Export the sentences of a release for other tools."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from holisticbias.compile.columns import decoded
from holisticbias.inputs import has_file
from holisticbias.output import new_file, new_folder
from holisticbias.release.release import Release
from holisticbias.spreadsheet import safe_columns

# Columns of the public HolisticBias CSV, in its order
PUBLIC = (
    "text", "axis", "bucket", "descriptor", "descriptor_gender", "descriptor_preference", "noun", "plural_noun",
    "noun_gender", "noun_phrase", "plural_noun_phrase", "noun_phrase_type", "template", "first_turn_only",
    "must_be_noun",
)  # fmt: skip
TASK = "holisticbias"
_MARK = "exported_by_holisticbias.json"
_BATCH = 10_000
_LM_EVAL = Path(__file__).with_name("lm_eval")


def export_csv(release: Release, out: Path) -> int:
    """Write a CSV file with the columns of the public HolisticBias; all columns for intersections."""
    rows = 0
    with new_file(out) as path, path.open("wb") as file:
        for i, shard in enumerate(_shards(release)):
            columns = shard.select(PUBLIC) if "axis" in shard.column_names else shard
            pyarrow.csv.write_csv(safe_columns(decoded(columns)), file, pyarrow.csv.WriteOptions(include_header=i == 0))
            rows += shard.num_rows
    return rows


def export_jsonl(release: Release, out: Path) -> int:
    """Write one JSON object per line, with every column."""
    with new_file(out) as path:
        return write_lines(path, _rows(release))


def export_inspect(release: Release, out: Path) -> int:
    """Write samples for Inspect's ``json_dataset``: the sentence is the input, other columns are metadata."""
    with new_file(out) as path:
        return write_lines(path, map(_sample, _rows(release)))


def export_lm_eval(release: Release, out: Path) -> int:
    """Write a task folder for EleutherAI's lm-evaluation-harness, which sums each sentence's log-likelihood."""
    with new_folder(out, has_file(_MARK)) as folder:
        rows = write_lines(folder / "sentences.jsonl", _rows(release))
        named = {f"{TASK}.yaml": "task.yaml", "README.md": "task.md", f"{TASK}_data.py": "task_data.txt"}
        for name, source in named.items():
            text = (_LM_EVAL / source).read_text("utf-8")
            made = text.replace("(VERSION)", release.version).replace("(DIGEST)", release.digest)
            (folder / name).write_text(made, "utf-8")
        (folder / _MARK).write_text(json.dumps({"version": release.version, "digest": release.digest}), "utf-8")
    return rows


FORMATS: Mapping[str, Callable[[Release, Path], int]] = {
    "csv": export_csv,
    "jsonl": export_jsonl,
    "lm-eval": export_lm_eval,
    "inspect": export_inspect,
}


def _shards(release: Release) -> Iterator[pa.Table]:
    """The parts of the first table, of sentences or intersections; its name is known without digests."""
    return release.shards(next(chain(release.sharded, release.tables)))


def _rows(release: Release) -> Iterator[dict[str, object]]:
    return (row for shard in _shards(release) for row in rows_of(shard))


def rows_of(table: pa.Table) -> Iterator[dict[str, object]]:
    """The rows of a table, of which some are made at a time."""
    for batch in table.to_batches(max_chunksize=_BATCH):
        yield from batch.to_pylist()


def _sample(row: dict[str, object]) -> dict[str, object]:
    parts = ("template_id", "descriptor_id_1", "descriptor_id_2", "noun_id")
    given = row.get("sentence_id") or "/".join(str(row.get(name) or "-") for name in parts)
    return {"id": given, "input": row["text"], "target": "", "metadata": {k: v for k, v in row.items() if k != "text"}}


def write_lines(path: Path, rows: Iterator[dict[str, object]]) -> int:
    """Write rows as JSON lines, a value that JSON lacks as text or null, and return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(_json_line(row))
            count += 1
    return count


def _json_line(row: dict[str, object]) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, default=str, allow_nan=False) + "\n"
    except ValueError:  # JSON has no NaN and no infinity, and strict readers refuse them
        written = json.dumps(row, default=str)
        return json.dumps(json.loads(written, parse_constant=lambda _: None), ensure_ascii=False) + "\n"
