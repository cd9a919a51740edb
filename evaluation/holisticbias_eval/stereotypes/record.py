"""``sentences.json``: the record of a run that made or imported test sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Figure, Part, make_figure
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.stereotypes.targets import Target

RECORD = "sentences.json"
MEASURE = "sentences"


class SpecificationRecord(Part):
    """A specification, and a digest of its content."""

    id: str
    title: str
    sha256: str


class AttributeYield(Part):
    """The requests for an attribute, the texts that were returned, and the accepted sentences.

    ``reached`` is whether the attribute has as many sentences as were wanted.
    """

    specification: str
    attribute_set: str
    attribute: str
    requests: int
    texts: int
    accepted: int
    reached: bool


class SentencesRecord(Part):
    """``sentences.json``: what the sentences of a folder depend on, their yield and their quality.

    ``generator`` is the name of the model or of the imported file, and ``model`` is null for a file. ``refused``
    counts texts by the id of the rule that refused them. ``figures`` have the measure ``sentences``: ``yield`` by
    generator and by attribute, ``refused`` by rule, and those of ``quality_figures`` by source.
    """

    schema_version: Literal[1] = 1
    source: Literal["generated", "imported"]
    generator: str
    model: ModelIdentity | None
    specifications: tuple[SpecificationRecord, ...]
    settings: dict[str, str] = Field(description="seed, form of requests, shots, rules, decoding ...")
    classifiers: dict[str, dict[str, str]] = Field(default_factory=dict, description="settings of each, by its id")
    requests: int = 0
    texts: int = 0
    accepted: int = 0
    refused: dict[str, int] = Field(default_factory=dict)
    attributes: tuple[AttributeYield, ...] = ()
    figures: tuple[Figure, ...] = ()
    versions: dict[str, str]
    machine: str

    @property
    def asked(self) -> tuple[object, ...]:
        """The properties that are equal if two folders hold sentences of the same requests."""
        model = self.model and (self.model.weights_sha256 or (self.model.name, self.model.revision), self.model.dtype)
        return self.source, model or self.generator, self.specifications, self.settings, self.classifiers

    @property
    def unreached(self) -> tuple[AttributeYield, ...]:
        """The attributes with fewer sentences than were wanted."""
        return tuple(found for found in self.attributes if not found.reached)


def with_counts(
    record: SentencesRecord, rows: Sequence[Returned], wanted: Iterable[Target], reached: Mapping[Target, bool]
) -> SentencesRecord:
    """The record with the counts of a log and the figures of its yield."""
    attributes = _attributes(rows, wanted, reached)
    refused = Counter(row.rule for row in rows if row.rule is not None)
    ordered = dict(sorted(refused.items(), key=lambda found: (-found[1], found[0])))
    accepted = sum(row.accepted for row in rows)
    overall = share_figure("yield", {"generator": record.generator}, accepted, len(rows))
    by_rule = [share_figure("refused", {"rule": rule}, count, len(rows)) for rule, count in ordered.items()]
    by_attribute = [
        share_figure("yield", _keys(record.generator, found), found.accepted, found.texts) for found in attributes
    ]
    return record.model_copy(
        update={
            "requests": sum(found.requests for found in attributes) if record.source == "generated" else 0,
            "texts": len(rows),
            "accepted": accepted,
            "refused": ordered,
            "attributes": attributes,
            "figures": (overall, *by_rule, *by_attribute),
        }
    )


def _attributes(
    rows: Sequence[Returned], wanted: Iterable[Target], reached: Mapping[Target, bool]
) -> tuple[AttributeYield, ...]:
    texts, accepted = Counter[Target](), Counter[Target]()
    requests: dict[Target, set[int]] = {}
    for row in rows:
        target = Target(row.specification, row.attribute_set or "", row.attribute)
        texts[target] += 1
        accepted[target] += row.accepted
        requests.setdefault(target, set()).add(row.request)
    return tuple(
        AttributeYield(
            specification=target.specification,
            attribute_set=target.attribute_set,
            attribute=target.attribute,
            requests=len(requests.get(target, ())),
            texts=texts[target],
            accepted=accepted[target],
            reached=reached[target],
        )
        for target in wanted
    )


def _keys(generator: str, found: AttributeYield) -> dict[str, str]:
    return {
        "generator": generator,
        "specification": found.specification,
        "attribute_set": found.attribute_set,
        "attribute": found.attribute,
    }


def share_figure(name: str, keys: dict[str, str], count: int, n: int) -> Figure:
    """A share of sentences with its Wilson interval; null if there is no sentence."""
    value = count / n if n else np.nan
    return make_figure(MEASURE, name, keys, value, "share", n, interval=wilson(value, n))


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
