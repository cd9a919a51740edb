"""``sentences.json``: the record of a run that made or imported test sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from holisticbias_eval.figures import Figure, Part, make_figure
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.stereotypes.quality import MEASURE
from holisticbias_eval.stereotypes.requests_log import Returned
from holisticbias_eval.stereotypes.targets import Target

RECORD = "sentences.json"


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
    overall = _share("yield", {"generator": record.generator}, accepted, len(rows))
    by_rule = [_share("refused", {"rule": rule}, count, len(rows)) for rule, count in ordered.items()]
    by_attribute = [
        _share("yield", _keys(record.generator, found), found.accepted, found.texts) for found in attributes
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


def _share(name: str, keys: dict[str, str], count: int, n: int) -> Figure:
    value = count / n if n else np.nan
    return make_figure(MEASURE, name, keys, value, "share", n, interval=wilson(value, n))
