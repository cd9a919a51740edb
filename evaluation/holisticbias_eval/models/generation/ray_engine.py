"""Answer prompts with replicas of a model on a Ray cluster, on one machine or many."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.local import GenerationOptions, load_generator
from holisticbias_eval.models.generation.requests import Generator, Requests, Responses, Sameness
from holisticbias_eval.models.generation.stored import respond_all
from holisticbias_eval.models.model import Kind, ModelIdentity
from holisticbias_eval.models.ray import first_answer, start_replicas
from holisticbias_eval.progress import Notice, Progress

_BLOCKS_PER_REPLICA = 8
_LARGEST_BLOCK = 512  # a replica that dies loses its block


class Replica:
    """One model in its own process, which answers blocks of requests one after the other."""

    def __init__(
        self, name: str | None, decoding: Decoding, seed: int, conversation: ConversationOptions | None,
        options: GenerationOptions,
    ) -> None:  # fmt: skip
        self._notices: list[str] = []
        self._generator = load_generator(name, self._notices.append, decoding, seed, conversation, options)

    def about(self) -> tuple[ModelIdentity, Kind, dict[str, str], bool]:
        """The model's identity and kind, the generator's settings, and whether it keeps the blank of responses."""
        made = self._generator
        return made.identity, made.kind, dict(made.settings), made.keeps_blank

    def process(self) -> int:
        """The id of this process."""
        return os.getpid()

    def probe(self, requests: Requests) -> Sameness | None:
        """Probe the model's generator."""
        return self._generator.probe(requests)

    def respond(self, block: int, requests: Requests) -> tuple[int, Responses, list[str]]:
        """Answer a block; returns its number, its responses in order, and the notices."""
        responses = respond_all(requests, self._generator, lambda _: None)
        notices, self._notices[:] = list(self._notices), []
        return block, responses, notices


class RayGenerator(Generator):
    """Answers blocks of requests on several replicas at once; the block of a replica that dies is answered again."""

    def __init__(
        self, name: str | None, notice: Notice, decoding: Decoding, seed: int,
        conversation: ConversationOptions | None = None, options: GenerationOptions | None = None,
        address: str | None = None, replicas: int = 0,
    ) -> None:  # fmt: skip
        self._notice = notice
        self._said: set[str] = set()
        options = options or GenerationOptions()
        self.replicas = start_replicas(
            Replica, (name, decoding, seed, conversation, options), address, replicas, options.device
        )
        identity, kind, settings, keeps_blank = first_answer(self.replicas[0].about.remote())
        super().__init__(identity, kind, settings, keeps_blank=keeps_blank)

    def probe(self, requests: Requests) -> Sameness | None:
        """Let every replica test itself on the requests; returns the first one's result."""
        import ray

        found: list[Sameness | None] = ray.get([replica.probe.remote(requests) for replica in self.replicas])
        return found[0]

    def respond(self, requests: Requests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests in blocks of neighbours in alphabetical order, which share their beginnings."""
        from ray.util import ActorPool

        pool: Any = ActorPool(self.replicas)
        blocks = self._blocks(requests)
        work = [(i, requests.take(rows)) for i, rows in enumerate(blocks)]
        for i, responses, notices in pool.map_unordered(lambda actor, item: actor.respond.remote(*item), work):
            for message in notices:
                if message not in self._said:
                    self._said.add(message)
                    self._notice(message)
            progress(len(blocks[i]))
            yield blocks[i], responses

    def _blocks(self, requests: Requests) -> list[Ints]:
        """The positions of each block."""
        texts = list(zip(requests.persona, requests.prompt, strict=True))
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        count = max(_BLOCKS_PER_REPLICA * len(self.replicas), -(-len(order) // _LARGEST_BLOCK))
        return [rows for rows in np.array_split(order, count) if len(rows)]
