"""The log of requests: every text that a generator returned, accepted or with the rule that refused it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import RunError
from holisticbias_eval.stereotypes.targets import Target

LOG = "requests.parquet"
SENTENCES = "sentences.parquet"
_LOG_FIELDS = (
    ("request", pa.int32()),
    ("specification", pa.string()),
    ("attribute_set", pa.string()),
    ("attribute", pa.string()),
    ("group", pa.string()),
    ("slot", pa.int32()),
    ("term", pa.string()),
    ("sample", pa.int32()),
    ("prompt_sha256", pa.string()),
    ("text", pa.large_string()),
    ("sentence", pa.large_string()),
    ("accepted", pa.bool_()),
    ("rule", pa.string()),
)
LOG_SCHEMA = pa.schema(_LOG_FIELDS)
SENTENCES_SCHEMA = pa.schema(
    [
        ("sentence_id", pa.string()),
        *((name, kind) for name, kind in _LOG_FIELDS[1:4]),
        ("group", pa.string()),
        ("term", pa.string()),
        ("slot", pa.int32()),
        ("sentence", pa.large_string()),
        ("request", pa.int32()),
        ("sample", pa.int32()),
        ("generator", pa.string()),
        ("source", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Returned:
    """A row of the log: a text that was returned, its sentence, and whether it was accepted.

    ``request`` counts from 0 for each attribute, or is the row of an imported file; ``sample`` counts the texts of a
    request. Attribute set, group and slot are null for imported sentences that the specification lacks; the digest
    of the prompt is null for all imported ones. ``sentence`` is null if none was read.
    """

    request: int
    specification: str
    attribute_set: str | None
    attribute: str
    group: str | None
    slot: int | None
    term: str
    sample: int
    prompt_sha256: str | None
    text: str
    sentence: str | None
    accepted: bool
    rule: str | None


def log_table(rows: Sequence[Returned]) -> pa.Table:
    """The log as a table with ``LOG_SCHEMA``."""
    columns = list(zip(*map(astuple, rows), strict=True)) or [()] * len(LOG_SCHEMA)
    arrays = [pa.array(list(values), field.type) for values, field in zip(columns, LOG_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=LOG_SCHEMA)


def sentences_table(rows: Iterable[Returned], generator: str, source: str) -> pa.Table:
    """The accepted sentences as a table with ``SENTENCES_SCHEMA``, in the order of the log.

    An id names specification, attribute set, attribute, request and sample.
    """
    accepted = [row for row in rows if row.accepted]
    made = {
        "sentence_id": [
            "/".join(map(str, (r.specification, r.attribute_set, r.attribute, r.request, r.sample))) for r in accepted
        ],
        "generator": [generator] * len(accepted),
        "source": [source] * len(accepted),
    }
    arrays = [
        pa.array(made.get(field.name) or [getattr(row, field.name) for row in accepted], field.type)
        if accepted
        else pa.array([], field.type)
        for field in SENTENCES_SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=SENTENCES_SCHEMA)


def write_log(rows: Sequence[Returned], folder: Path) -> None:
    """Write the log so far, whole or not at all, into a folder that this process has locked."""
    part = folder / f".{LOG}.part"
    pq.write_table(log_table(rows), part, compression="zstd")
    part.replace(folder / LOG)


Round = Mapping[Target, Sequence[Returned]]
"""The rows of one request of each target."""


def read_rounds(folder: Path) -> Mapping[int, Round]:
    """The rows of an earlier log by number of the request and target; empty without a log.

    Raises ``RunError`` if the log cannot be read.
    """
    path = folder / LOG
    if not path.is_file():
        return {}
    try:
        table = check_parquet(path).read().cast(LOG_SCHEMA)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunError(f"{path} is damaged: remove it to start again") from error
    found: dict[int, dict[Target, list[Returned]]] = defaultdict(lambda: defaultdict(list))
    for row in table.to_pylist():
        target = Target(row["specification"], row["attribute_set"] or "", row["attribute"])
        found[row["request"]][target].append(Returned(**row))
    return found
