"""Run a model: in another precision, in batches that fit into memory, and with its errors in one line."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from holisticbias.errors import in_one_line
from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.progress import Notice

Result = TypeVar("Result")
ALONE = RLock()
"""Held while a model is loaded or asked in this process: transformers' loading and torch's default precision are of all
threads."""
_MULTIPLE = 8.0  # allowed error, as a multiple of plain scoring's own largest error, which varies by text
_NEGLIGIBLE = 1e-5  # nats per text: the sum of a sentence in float32 is hardly more exact
_WITHOUT_FLOAT64 = 1e-4  # nats per text, against plain scoring in float32


def exactly(model: Any, compute: Callable[[], Result]) -> tuple[Result, bool]:
    """Compute in float64 and return the result and True; if that fails, in the model's own precision and False."""
    try:
        with in_float64(model):
            return compute(), True
    except Exception:  # noqa: BLE001 - a device or a kernel may refuse float64 with any error
        return compute(), False


def allowed_error(plain: Floats, reference: Floats, *, float64: bool) -> float:
    """The largest error that can be rounding, in nats, given plain scoring's values and the reference."""
    return max(_MULTIPLE * largest_difference(plain, reference), _NEGLIGIBLE) if float64 else _WITHOUT_FLOAT64


def largest_difference(one: Floats, other: Floats) -> float:
    """The largest absolute difference; infinite if a value is not a number."""
    largest = float(np.abs(one - other).max(initial=0.0))
    return largest if np.isfinite(largest) else np.inf


@contextmanager
def in_float64(model: Any) -> Iterator[None]:
    """Run a model in float64 within the block, whichever precision its code names.

    Weights are converted as they are used and are not changed, so the model
    needs no second copy in memory. ``model.double()`` is less exact: the
    normalisation layers and rotary positions of most architectures convert to
    float32 inside.
    """
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_map

    rounded = {torch.float32, torch.bfloat16, torch.float16}

    def widened(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.double() if value.dtype in rounded else value
        return torch.float64 if isinstance(value, torch.dtype) and value in rounded else value

    class Float64(TorchFunctionMode):
        """Replaces float32 in every call, as a tensor and as the name of a dtype."""

        def __torch_function__(
            self,
            func: Callable[..., Any],
            types: Sequence[Any],
            args: tuple[Any, ...] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            named = dict(kwargs or {})
            if getattr(func, "__name__", "") == "__get__":  # an attribute, such as a shape: nothing is computed
                return func(*args, **named)
            if func in {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}:
                func = torch.Tensor.double
            return func(*tree_map(widened, args), **tree_map(widened, named))

    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Float64(), _plain_experts(model) if hasattr(model, "get_experts_implementation") else nullcontext():
            yield
    finally:
        torch.set_default_dtype(default)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let all libraries draw from this seed within the block; the states that they had before are restored.

    Those of GPUs are if one is in use: to read them would begin to use all.
    """
    import torch
    from transformers import set_seed

    cuda: Any = torch.cuda  # a part has no types
    gpus = range(cuda.device_count()) if cuda.is_initialized() else ()
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(gpus):
            set_seed(seed)
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


@contextmanager
def in_float32(model: Any) -> Iterator[None]:
    """Run a model with rounded weights in float32 within the block, so that small faults show."""
    rounded = [(parameter, parameter.data) for parameter in model.parameters()]
    for parameter, data in rounded:
        parameter.data = data.float()
    try:
        yield
    finally:
        for parameter, data in rounded:
            parameter.data = data


@contextmanager
def _plain_experts(model: Any) -> Iterator[None]:
    """Run a mixture of experts as a plain loop: the grouped kernels have no float64."""
    chosen = model.get_experts_implementation()
    model.set_experts_implementation("eager")
    try:
        yield
    finally:
        model.set_experts_implementation(chosen)


_MESSAGES = ("out of memory", "can't allocate memory", "not enough memory")


def in_batches(total: int, size: int, run: Callable[[int, int], object], notice: Notice) -> None:
    """Call ``run(start, stop)`` on batches of ``size`` from 0 to ``total``; halve the size when memory runs out.

    Raises ``ModelError`` if a single item does not fit.
    """
    for _ in each_batch(total, size, run, notice):
        pass


def each_batch(total: int, size: int, run: Callable[[int, int], Result], notice: Notice) -> Iterator[Result]:
    """Like ``in_batches``; yield what ``run`` returns for each batch."""
    start, size = 0, max(1, size)
    while start < total:
        stop = min(total, start + size)
        try:
            result = run(start, stop)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if stop - start == 1:
                raise ModelError("out of memory, even with the smallest batch: use a larger machine") from error
            size = (stop - start) // 2
            notice(f"out of memory: continuing with batches of {size:,} instead of {stop - start:,}")
            _release_memory()
        else:
            start = stop
            yield result


@contextmanager
def one_line_for_errors(name: str) -> Iterator[None]:
    """Turn any error that a model raises on plain texts into a ``ModelError``, except running out of memory."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = in_one_line(error)
        raise ModelError(f"{name} cannot read a plain text: {reason} ({type(error).__name__})") from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: torch has its own error for a GPU, and a plain ``RuntimeError`` for main memory."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(message in text for message in _MESSAGES)


def _release_memory() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
