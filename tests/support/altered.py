"""A run whose signature says something else, and JSON with another value somewhere."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holisticbias_eval.results.run import Result, Run


def altered(
    run: Run, model: Mapping[str, Any] | None = None, release: Mapping[str, Any] | None = None, **signature: Any
) -> Run:
    """The run with other values in its model, its release and its signature."""
    return replace(run, result=altered_result(run.result, model, release, **signature))


def altered_result(
    result: Result, model: Mapping[str, Any] | None = None, release: Mapping[str, Any] | None = None, **signature: Any
) -> Result:
    """The result with other values in its model, its release and its signature."""
    signed = result.signature
    parts = {"model": signed.model.model_copy(update=model), "release": signed.release.model_copy(update=release)}
    return result.model_copy(update={"signature": signed.model_copy(update={**parts, **signature})})


def set_value(content: Any, path: str, value: object) -> None:
    """Set the value at a path such as ``figures.0.keys.axis`` in JSON."""
    *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in keys:
        content = content[key]
    content[last] = value
