"""Answer prompts with a model behind an OpenAI-compatible server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.noise import request_seed
from holisticbias_eval.models.generation.requests import Generator, Requests, Responses, Sameness
from holisticbias_eval.models.model import server_identity
from holisticbias_eval.models.server.answers import Answer
from holisticbias_eval.models.server.chat import ChatClient
from holisticbias_eval.models.server.http import one_line
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress

_TRIED = 4


class ApiGenerator(Generator):
    """Asks a server for one response per request, with a seed that depends on the request alone.

    Whether a server gives the same response to the same seed is up to the server: ``probe`` tries it.
    """

    hold = 1.0  # seconds: responses that arrive in this time make one batch, so that a store has few files

    def __init__(
        self, name: str, base: str, notice: Notice, decoding: Decoding, seed: int,
        conversation: ConversationOptions | None = None, settings: ModelSettings | None = None,
        response_format: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        settings = settings or ModelSettings()
        self._client = ChatClient(
            name, base, decoding, conversation or ConversationOptions(), settings, response_format
        )
        self._threads, self._seed, self._notice = settings.api_concurrency, seed, notice
        self._fingerprints: list[str] = []
        if self._client.leaves_out:
            notice(f"{base} does not take {self._client.leaves_out}: its own defaults apply")
        depends = {"generator": "api", **decoding.settings, "seed": str(seed), **self._client.settings}
        super().__init__(
            server_identity(name, self._client.base), "causal", depends, keeps_blank=self._client.keeps_blank
        )

    def generate(self, requests: Requests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests, several at once; see ``Generator.generate``.

        If a request fails, those under way are finished and yielded before the error is raised.
        """
        rows, running = iter(range(len(requests))), dict[Future[Answer], int]()
        ready: dict[int, Answer] = {}
        failed: BaseException | None = None
        threads, yielded = ThreadPoolExecutor(self._threads), time.monotonic()
        try:
            while True:
                room = 0 if failed else 2 * self._threads - len(running)
                running |= {threads.submit(self._ask, requests, row): row for row in islice(rows, room)}
                if not running:
                    break
                left = max(0.0, yielded + self.hold - time.monotonic())
                for job in wait(running, left if ready else None, FIRST_COMPLETED).done:
                    row, error = running.pop(job), job.exception()
                    failed = failed or error
                    if error is None:
                        ready[row] = job.result()
                if failed:
                    running = {job: row for job, row in running.items() if not job.cancel()}
                if ready and time.monotonic() >= yielded + self.hold:
                    yield self._batch(ready, progress)
                    ready, yielded = {}, time.monotonic()
            if ready:
                yield self._batch(ready, progress)
            if failed:
                raise failed
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def probe(self, requests: Requests) -> Sameness:
        """Answer a few requests one by one, and again all at once."""
        few = range(min(_TRIED, len(requests)))
        alone = [self._ask(requests, row).text for row in few]
        with ThreadPoolExecutor(len(few) or 1) as threads:
            together = [answer.text for answer in threads.map(lambda row: self._ask(requests, row), few)]
        return Sameness(len(few), sum(one == other for one, other in zip(alone, together, strict=True)))

    def _ask(self, requests: Requests, row: int) -> Answer:
        prompt, persona = requests.prompt[row], requests.persona[row]
        return self._client.ask(persona, prompt, request_seed(self._seed, prompt, persona, int(requests.sample[row])))

    def _batch(self, answers: Mapping[int, Answer], progress: Progress) -> tuple[Ints, Responses]:
        progress(len(answers))
        batch = list(answers.values())
        for answer in batch:
            self._watch(answer.fingerprint)
        tokens = np.array([answer.tokens for answer in batch], np.int32)
        texts, ends = [answer.text for answer in batch], [answer.finish for answer in batch]
        return np.array(list(answers), np.int64), Responses(texts, ends, tokens, [answer.reasoning for answer in batch])

    def _watch(self, fingerprint: str | None) -> None:
        """Say so if the server names a configuration that it has not named before."""
        if fingerprint is None or fingerprint in self._fingerprints:
            return
        if self._fingerprints:
            changed = f"from {one_line(self._fingerprints[-1])} to {one_line(fingerprint)}"
            self._notice(f"the server's configuration has changed {changed}: responses before and after may differ")
        self._fingerprints.append(fingerprint)
