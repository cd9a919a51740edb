"""``sentences.json``: the record of a run that made or imported test sentences; and the log of its texts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Figure, Part, make_figure
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.records import FolderRecord
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.stereotypes.targets import Target

RECORD, LOG, SENTENCES = "sentences.json", "requests.parquet", "sentences.parquet"
PAIRS = "pairs.parquet"
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


class SentencesRecord(FolderRecord):
    """``sentences.json``: what the sentences of a folder depend on, their yield and their quality.

    ``generator`` is the name of the model or of the imported file, and ``model`` is null for a file. ``refused``
    counts texts by the id of the rule that refused them. ``figures`` have the measure ``sentences``: ``yield`` by
    generator and by attribute, ``refused`` by rule, and those of ``quality_figures`` by source.
    """

    schema_version: Literal[1] = 1
    source: Literal["generated", "imported"]
    generator: str
    model: ModelSignature | None
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
    def asked(self) -> dict[str, Any]:
        """The properties that are equal if two folders hold sentences of the same requests."""
        model = self.model and (self.model.content, self.model.dtype)
        kept = {name: getattr(self, name) for name in ("source", "specifications", "settings", "classifiers")}
        return {**kept, "generator": model or self.generator}

    @property
    def unreached(self) -> tuple[AttributeYield, ...]:
        """The attributes with fewer sentences than were wanted."""
        return tuple(row for row in self.attributes if not row.reached)


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

    @property
    def target(self) -> Target:
        """The attribute that the text was returned for."""
        return Target(self.specification, self.attribute_set or "", self.attribute)


_TYPES = {
    **dict.fromkeys(("request", "slot", "sample"), pa.int32()),
    **dict.fromkeys(("text", "sentence"), pa.large_string()),
    "accepted": pa.bool_(),
}
_COLUMNS = (
    "sentence_id", "specification", "attribute_set", "attribute", "group", "term", "slot", "sentence", "request",
    "sample", "generator", "source",
)  # fmt: skip
LOG_SCHEMA = pa.schema([(field.name, _TYPES.get(field.name, pa.string())) for field in fields(Returned)])
SENTENCES_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in _COLUMNS])
Round = Mapping[Target, Sequence[Returned]]
"""The rows of one request of each target."""


def with_counts(record: SentencesRecord, rows: Sequence[Returned], reached: Mapping[Target, bool]) -> SentencesRecord:
    """The record with the counts of a log and the figures of its yield.

    ``reached`` says of each wanted attribute whether it has enough sentences.
    """
    by_target: dict[Target, list[Returned]] = {target: [] for target in reached}
    for row in rows:
        by_target.setdefault(row.target, []).append(row)
    attributes = tuple(
        AttributeYield(
            **asdict(target),
            requests=len({row.request for row in by_target[target]}),
            texts=len(by_target[target]),
            accepted=sum(row.accepted for row in by_target[target]),
            reached=enough,
        )
        for target, enough in reached.items()
    )
    refused = Counter(row.rule for row in rows if row.rule is not None)
    ordered = dict(sorted(refused.items(), key=lambda item: (-item[1], item[0])))
    accepted, generator = sum(row.accepted for row in rows), {"generator": record.generator}
    figures = [share_figure("yield", generator, accepted, len(rows))]
    figures += [share_figure("refused", {"rule": rule}, count, len(rows)) for rule, count in ordered.items()]
    for target, found in zip(reached, attributes, strict=True):
        figures.append(share_figure("yield", generator | asdict(target), found.accepted, found.texts))
    return record.model_copy(
        update={
            "requests": sum(found.requests for found in attributes) if record.source == "generated" else 0,
            "texts": len(rows),
            "accepted": accepted,
            "refused": ordered,
            "attributes": attributes,
            "figures": tuple(figures),
        }
    )


def share_figure(name: str, keys: dict[str, str], count: int, n: int) -> Figure:
    """A share of sentences with its Wilson interval; null if there is no sentence."""
    value = count / n if n else np.nan
    return make_figure(MEASURE, name, keys, value, "share", n, interval=wilson(value, n))


def sentences_table(rows: Iterable[Returned], generator: str, source: str) -> pa.Table:
    """The accepted sentences as a table with ``SENTENCES_SCHEMA``, in the order of the log.

    An id names specification, attribute set, attribute, request and sample.
    """
    made = []
    for row in (row for row in rows if row.accepted):
        parts = (row.specification, row.attribute_set, row.attribute, row.request, row.sample)
        about = {"sentence_id": "/".join(map(str, parts)), "generator": generator, "source": source}
        made.append(asdict(row) | about)
    return pa.Table.from_pylist(made, SENTENCES_SCHEMA)


def write_log(rows: Iterable[Returned], folder: Path) -> None:
    """Write the log so far, whole or not at all, into a folder that this process has locked."""
    part = folder / f".{LOG}.part"
    pq.write_table(pa.Table.from_pylist([asdict(row) for row in rows], LOG_SCHEMA), part, compression="zstd")
    part.replace(folder / LOG)


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
    rounds: dict[int, dict[Target, list[Returned]]] = defaultdict(lambda: defaultdict(list))
    for row in (Returned(**values) for values in table.to_pylist()):
        rounds[row.request][row.target].append(row)
    return rounds
