"""Replicas of a model on a Ray cluster, on one machine or many."""

from __future__ import annotations

import logging
import re
import socket
from typing import Any
from urllib.parse import urlsplit

from holisticbias_eval.errors import EvaluationError, ModelError

INSTALL = "the Ray engine is not installed: pip install 'holisticbias[ray]'"


def start_replicas(actor: type, arguments: tuple[Any, ...], address: str | None, count: int, device: str) -> list[Any]:
    """Start replicas of an actor, each made from the same arguments, and return their handles.

    ``address`` is that of a cluster, or None to start Ray on this machine.
    ``count`` 0 takes one replica per GPU, or else every CPU but one: replicas that
    take every CPU would block the cluster's other tasks. A replica that dies is
    started again, and its task is repeated. Raises ``EvaluationError``.
    """
    ray = _start(address)
    free = ray.cluster_resources()
    gpus = int(free.get("GPU", 0)) if device in {"auto", "cuda"} else 0
    count = count or gpus or max(1, int(free.get("CPU", 1)) - 1)
    if not gpus and count >= free.get("CPU", 1) > 1:
        raise EvaluationError(f"{count} replicas would take every CPU of the cluster: leave one free")
    remote = ray.remote(actor).options(num_cpus=1, num_gpus=1 if gpus else 0, max_restarts=-1, max_task_retries=-1)
    return [remote.remote(*arguments) for _ in range(count)]


def first_answer(task: Any) -> Any:
    """Wait for a task of a replica; raises ``ModelError`` with the reason if the replica cannot be made."""
    import ray

    try:
        return ray.get(task)
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise ModelError(re.sub(r"^[\w.]+Error: ", "", str(cause).strip().splitlines()[-1])) from error


def _refuse_dead(address: str | None) -> None:
    """Raise ``OSError`` if nothing answers at an address: Ray itself would try for minutes."""
    where = urlsplit(address if "//" in (address or "") else f"//{address or ''}")
    if where.hostname and where.port:
        socket.create_connection((str(where.hostname), where.port), timeout=5).close()


def _start(address: str | None) -> Any:
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
    except (OSError, RuntimeError, ValueError) as error:
        raise EvaluationError(f"no Ray cluster at {address or 'this machine'}: {str(error).splitlines()[0]}") from error
    return ray
