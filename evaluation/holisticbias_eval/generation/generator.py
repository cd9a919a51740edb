"""The interface of generators: engines that answer prompts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.generation.requests import Requests, Responses
from holisticbias_eval.models.identity import ModelIdentity
from holisticbias_eval.models.kinds import Kind
from holisticbias_eval.progress import Progress


@dataclass(frozen=True, slots=True)
class Sameness:
    """How many of ``tried`` responses were the ``same`` when made alone and in a batch with others."""

    tried: int
    same: int


class Generator(ABC):
    """Answers prompts with one model, one decoding and one seed.

    ``identity`` is the model, ``kind`` its kind, and ``settings`` everything else
    that responses depend on: decoding, seed, chat template. They are recorded in
    the run and are part of the store's key. A response depends on its request
    alone: never on the other requests, their order or their number. ``keeps_blank`` is whether the blank before a
    response is a part of it, because the response goes on in the middle of the prompt's text.
    """

    def __init__(
        self, identity: ModelIdentity, kind: Kind, settings: Mapping[str, str], *, keeps_blank: bool = False
    ) -> None:
        self.identity = identity
        self.kind = kind
        self.settings = settings
        self.keeps_blank = keeps_blank

    @abstractmethod
    def respond(self, requests: Requests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests; yield the positions and the responses of each batch as it is done, in any order.

        Call ``progress`` with the number of responses made since the last call.
        """

    def probe(self, requests: Requests) -> Sameness | None:
        """Answer a few requests alone and in a batch, and count equal responses; None if this engine cannot."""
        return None

    def vectors(self, texts: Sequence[str]) -> Floats | None:
        """The mean input embedding of each text's tokens, shape ``[texts, size]``; None if this engine has none."""
        return None
