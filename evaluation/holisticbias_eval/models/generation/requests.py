"""Requests and responses: what a model is asked to answer, and what it answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Part
from holisticbias_eval.models.model import Kind, Model, ModelSignature
from holisticbias_eval.models.store.keys import Rows, distinct_rows
from holisticbias_eval.progress import Progress

Finish = Literal["stop", "length", "refused", "filtered"]
"""Why a response ends: the model ended it, it reached the longest length, the model refused in a separate
field, or the server withheld it."""
WITHHELD: tuple[Finish, ...] = ("refused", "filtered")
"""The ends of an answer that the model, or its server, did not give."""


@dataclass(frozen=True, slots=True)
class PromptRequests(Rows):
    """Prompts to answer, one per row; every field has shape ``[rows]``.

    ``prompt[i]`` is what the person says, ``persona[i]`` what the model reads
    before it, empty without a persona. Responses to one prompt and persona
    differ by ``sample[i]``, which counts from 0.
    """

    FIELDS: ClassVar = (("prompt", pa.large_string()), ("persona", pa.large_string()), ("sample", pa.int32()))

    prompt: Sequence[str]
    persona: Sequence[str]
    sample: Int32s


@dataclass(frozen=True, slots=True)
class Responses(Rows):
    """Responses, one per row; every field has shape ``[rows]``.

    ``finish[i]`` says why the response ends, see ``Finish``. ``tokens[i]`` is the
    number of new tokens, 0 if a server does not say. ``reasoning[i]`` is text
    that the model wrote and that is not part of its response: what it wrote before
    it, or a refusal, which leaves the response empty.
    """

    FIELDS: ClassVar = (
        ("response", pa.large_string()),
        ("finish", pa.string()),
        ("tokens", pa.int32()),
        ("reasoning", pa.large_string()),
    )

    text: Sequence[str]
    finish: Sequence[str]
    tokens: Int32s
    reasoning: Sequence[str]


@dataclass(frozen=True, slots=True)
class Endings:
    """The ends of responses; a response that was refused or filtered is neither ``empty`` nor ``answered``."""

    finish: pa.ChunkedArray
    empty: Bools
    answered: Bools


def read_endings(responses: pa.Table) -> Endings:
    """Read how responses end: null is a refusal unless it was filtered, and an empty response without ``finish``."""
    texts = responses["response"].cast(pa.large_string())
    finish = pa.chunked_array([pa.nulls(len(texts), pa.string())])
    if "finish" in responses.column_names:
        finish = responses["finish"].cast(pa.string())
        given = pc.or_(pc.is_valid(texts), pc.is_in(finish, pa.array(WITHHELD)))
        finish = pc.if_else(given, finish, "refused")
    withheld = pc.is_in(finish, pa.array(WITHHELD)).to_numpy()
    blank = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(texts), ""), fill_value=True).to_numpy()
    return Endings(finish, blank & ~withheld, ~blank & ~withheld)


def unique_requests(requests: PromptRequests) -> tuple[PromptRequests, Ints]:
    """The distinct requests, in order of first occurrence, and for each row the position of its distinct request."""
    first, rows = distinct_rows(requests.table())
    return (requests if len(first) == len(requests) else requests.take(first)), rows


class SamenessRecord(Part):
    """How many of ``tried`` responses were the ``same`` when made alone and in a batch with others."""

    tried: int
    same: int


class SampledRecord(SamenessRecord):
    """The same of a server that should sample; ``varies`` is whether a response differed with another seed."""

    varies: bool


class Generator(Model, ABC):
    """Answers prompts with one model, one decoding and one seed.

    Decoding, seed and chat template are among the ``settings``. A response depends on its request alone: never on the
    other requests, their order or their number. ``keeps_blank`` is whether the blank before a
    response is a part of it, because the response goes on in the middle of the prompt's text.
    """

    def __init__(
        self, identity: ModelSignature, kind: Kind, settings: Mapping[str, str], *, keeps_blank: bool = False
    ) -> None:
        super().__init__(identity, kind, settings)
        self.keeps_blank = keeps_blank

    @abstractmethod
    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests; yield the positions and the responses of each batch as it is done, in any order.

        Call ``progress`` with the number of responses made since the last call.
        """

    def probe(self, requests: PromptRequests) -> SamenessRecord | None:
        """Answer a few requests alone and in a batch, and count equal responses; None if this engine cannot."""
        return None

    def lacking(self, requests: PromptRequests) -> Ints:
        """The rows of distinct requests that no store answers."""
        return np.arange(len(requests))

    def attempt(self, requests: PromptRequests) -> None:
        """Answer requests, and keep nothing; raises ``EvaluationError`` for an engine that a trial would cost."""
        raise EvaluationError("a dry run needs the local engine: no other engine can time its work")

    def vectors(self, texts: Sequence[str]) -> Floats | None:
        """The mean input embedding of each text's tokens, shape ``[texts, size]``; None if this engine has none."""
        return None


def respond_all(requests: PromptRequests, generator: Generator, progress: Progress) -> Responses:
    """Answer distinct requests and return the responses in their order."""
    places, parts = [np.zeros(0, np.int64)], [Responses([], [], np.zeros(0, np.int32), []).table()]
    for rows, responses in generator.generate(requests, progress):
        places.append(rows)
        parts.append(responses.table())
    return Responses.of(pa.concat_tables(parts).take(pa.array(np.argsort(np.concatenate(places)))))
