"""Models on a Ray cluster, on one machine or many: replicas of a model answer blocks at once."""

import logging
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from holisticbias.errors import in_one_line
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses, respond_all
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, no_scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress

INSTALL = "the Ray engine is not installed: pip install 'holisticbias[ray]'"
_WANTED = "; if it wants a token, set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN if ~/.ray/auth_token is not the cluster's"
_BLOCKS_PER_REPLICA = 8
_LARGEST_BLOCK = 512  # requests: a replica that dies loses its block

Start = Callable[[Notice], Scorer | Generator]
"""Loads the model of a replica, in its process."""


class Replica:
    """One model in its own process, which answers blocks one after the other."""

    def __init__(self, start: Start) -> None:
        self._notices: list[str] = []
        self._model = start(self._notices.append)

    def about(self, names: Sequence[str]) -> list[Any]:
        """The values of these attributes of the model."""
        return [getattr(self._model, name) for name in names]

    def probe(self, asked: Any) -> Any:
        """Probe the model."""
        return self._model.probe(asked)

    def answer(self, block: int, asked: Any) -> tuple[int, Any, list[str]]:
        """Answer a block; returns its number, its answers in order, and the notices."""
        model = self._model
        answers: Any = (
            model.score(asked, lambda _: None)
            if isinstance(model, Scorer)
            else respond_all(asked, model, lambda _: None)
        )
        notices, self._notices[:] = list(self._notices), []
        return block, answers, notices


class Cluster:
    """The replicas of a model on a cluster; the block of a replica that dies is answered again."""

    def __init__(self, start: Start, settings: ModelSettings, notice: Notice) -> None:
        self._notice = notice
        self._said: set[str] = set()
        self.replicas = _start_replicas(start, settings)

    def about(self, *names: str) -> list[Any]:
        """The values of these attributes of the model; raises ``ModelError`` if it cannot be loaded."""
        import ray

        try:
            values: list[Any] = ray.get(self.replicas[0].about.remote(names))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            raise ModelError(re.sub(r"^[\w.]+Error: ", "", str(cause).strip().splitlines()[-1])) from error
        return values

    def probe(self, asked: Spans | PromptRequests) -> Any:
        """Let every replica test itself; returns the first one's result."""
        import ray

        with _own_errors():
            return ray.get([replica.probe.remote(asked) for replica in self.replicas])[0]

    def answer(self, blocks: Iterable[Any], progress: Progress) -> Iterator[tuple[int, Any]]:
        """Answer blocks on the replicas; yield each block's position and answers as it is done."""
        from ray.util import ActorPool

        pool: Any = ActorPool(self.replicas)
        done = pool.map_unordered(lambda replica, block: replica.answer.remote(*block), enumerate(blocks))
        while True:
            with _own_errors():
                found = next(done, None)
            if found is None:
                return
            i, answers, notices = found
            for message in dict.fromkeys(notices):
                if message not in self._said:
                    self._said.add(message)
                    self._notice(message)
            progress(len(answers))
            yield i, answers

    def split(self, order: Ints, largest: int | None = None) -> list[Ints]:
        """Rows in blocks of neighbours, several for each replica."""
        count = _BLOCKS_PER_REPLICA * len(self.replicas)
        count = max(count, -(-len(order) // largest)) if largest else count
        return [rows for rows in np.array_split(order, count) if len(rows)]


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise an error of a replica's model as it was raised there: Ray's own has a traceback in its text."""
    from ray.exceptions import RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise (error.cause if isinstance(error.cause, EvaluationError) else error) from None


class RayScorer(Scorer):
    """Scores blocks of texts that share their beginnings on several replicas at once."""

    def __init__(self, start: Start, settings: ModelSettings, notice: Notice) -> None:
        self.cluster = Cluster(start, settings, notice)
        identity, kind, depends, scored = self.cluster.about("identity", "kind", "settings", "first_token_scored")
        super().__init__(identity, kind, depends, first_token_scored=scored)
        vars(self).update(probe=self.cluster.probe)

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Score spans in blocks; see ``Scores``."""
        scores = no_scores(len(spans))
        for rows, found in self.score_blocks(spans, self.cluster.split(spans.order()), progress):
            scores.put(rows, found)
        return scores

    def score_blocks(self, spans: Spans, blocks: Sequence[Ints], progress: Progress) -> Iterator[tuple[Ints, Scores]]:
        """Score blocks on the replicas; yield the rows and the scores of each as it is done."""
        for i, found in self.cluster.answer(map(spans.take, blocks), progress):
            yield blocks[i], found


class RayGenerator(Generator):
    """Answers blocks of requests that share their beginnings on several replicas at once."""

    def __init__(self, start: Start, settings: ModelSettings, notice: Notice) -> None:
        self.cluster = Cluster(start, settings, notice)
        identity, kind, depends, keeps_blank = self.cluster.about("identity", "kind", "settings", "keeps_blank")
        super().__init__(identity, kind, depends, keeps_blank=keeps_blank)
        vars(self).update(probe=self.cluster.probe)

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests in blocks of neighbours in alphabetical order."""
        texts = list(zip(requests.persona, requests.prompt, strict=True))
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        blocks = self.cluster.split(order, _LARGEST_BLOCK)
        for i, responses in self.cluster.answer(map(requests.take, blocks), progress):
            yield blocks[i], responses


def _start_replicas(start: Start, settings: ModelSettings) -> list[Any]:
    """Start replicas and return their handles.

    ``replicas`` 0 takes one per GPU, or else every CPU but one: replicas that
    take every CPU would block the cluster's other tasks. A replica that dies is
    started again, and its task is repeated. Raises ``EvaluationError``.
    """
    ray = _join(settings.ray_address)
    free = ray.cluster_resources()
    gpus = int(free.get("GPU", 0)) if settings.device in {"auto", "cuda"} else 0
    count = settings.replicas or gpus or max(1, int(free.get("CPU", 1)) - 1)
    if not gpus and count >= free.get("CPU", 1) > 1:
        raise EvaluationError(f"{count} replicas would take every CPU of the cluster: leave one free")
    remote = ray.remote(Replica).options(num_cpus=1, num_gpus=1 if gpus else 0, max_restarts=-1, max_task_retries=-1)
    return [remote.remote(start) for _ in range(count)]


def _join(address: str | None) -> Any:
    """Join a Ray cluster, or start Ray on this machine."""
    try:
        import ray
    except ImportError as error:
        raise EvaluationError(INSTALL) from error
    try:
        _refuse_dead(address)
        if not ray.is_initialized():
            ray.init(
                address=address,
                include_dashboard=False if address is None else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        said = f"no Ray cluster at {address or 'this machine'}: {in_one_line(error)}"
        raise EvaluationError(f"{said}{_WANTED if type(error) is ConnectionError else ''}") from error
    return ray


def _refuse_dead(address: str | None) -> None:
    """Raise ``OSError`` if nothing answers at an address: Ray itself would try for minutes."""
    where = urlsplit(address if "//" in (address or "") else f"//{address or ''}")
    if where.hostname and where.port:
        socket.create_connection((str(where.hostname), where.port), timeout=5).close()
