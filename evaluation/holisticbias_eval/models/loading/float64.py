"""Run a model in float64 or float32, whatever its own precision, to distinguish rounding from faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np

from holisticbias_eval.arrays import Floats

Result = TypeVar("Result")
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
