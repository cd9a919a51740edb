"""The data of the page that compares two models: each result, and differences of runs with their intervals."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.blocks import ends
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import DEVIATION, Figure, Figures, Interval
from holisticbias_eval.report.signature import signature_rows
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run
from holisticbias_eval.site.models_results import ModelResult, model_key
from holisticbias_eval.units import DIFFERENCE, show

Json = Mapping[str, object]
Rows = Mapping[str, Figure]
"""Figures by what they are of, in words."""


def differences(measured: Sequence[ModelResult]) -> Iterator[tuple[str, Rows]]:
    """Compare every two runs that have a measure and a release in common, in both directions.

    The name of a file for each pair of results, and the differences: the second result minus the first.
    """
    runs = {id(result.run): result.run for result in measured if result.run is not None}
    for first, second in itertools.combinations(runs.values(), 2):
        pairs = itertools.product(*([r for r in measured if r.run is run] for run in (first, second)))
        shared = [(a, b) for a, b in pairs if a.group == b.group and a.release == b.release]
        changes = _changes(first, second) if shared else Figures(())
        for a, b in shared:
            rows = {b.row_label(figure): figure for figure in b.info.headlines(changes, "change")}
            yield f"{a.key}--{b.key}.json", rows
            yield f"{b.key}--{a.key}.json", {label: _negative(figure) for label, figure in rows.items()}


def _negative(figure: Figure) -> Figure:
    interval = figure.interval and Interval(low=-figure.interval.high, high=-figure.interval.low)
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "interval": interval})


def _changes(first: Run, second: Run) -> Figures:
    """The changes from one run to another; none if the runs have no sentence in common."""
    try:
        return Figures(compare_runs(first, second).figures)
    except SelectionError:
        return Figures(())


def comparison_files(measured: Sequence[ModelResult]) -> Iterator[tuple[str, str]]:
    """The files that the page reads, by their path: all results by model, each result, and each difference."""
    models: dict[str, dict[str, object]] = {}
    by_group: dict[str, dict[str, str]] = {}
    for result in measured:
        key = model_key(result.model)
        models[key] = {"name": result.model, "results": by_group.setdefault(key, {})}
        by_group[key][result.group] = result.key
        yield f"results/{result.key}.json", _dumps(_result(result))
    files = []
    for file, rows in differences(measured):
        files.append(file)
        shown = {label: _value(f, f.unit.removesuffix(DIFFERENCE) + DIFFERENCE) for label, f in rows.items()}
        yield f"differences/{file}", _dumps({"rows": shown})
    yield "results.json", _dumps({"models": models, "differences": sorted(files)})


def _result(result: ModelResult) -> Json:
    """A result with its values as text and as numbers, and its signature."""
    return {
        "model": result.model,
        "page": f"{result.model_page}#{result.group}",
        "title": result.title,
        "group": result.group,
        "direction": result.info.direction,
        "limits": result.info.limits,
        "unit": result.unit,
        "rows": [{"label": result.row_label(figure), **_value(figure, figure.unit)} for figure in result.shown()],
        "signature": list(signature_rows(result.signature)),
    }


def _value(figure: Figure, unit: str) -> Json:
    """A value with its interval, as numbers and as text."""
    numbers = (figure.value, *(ends(figure.interval) or (None, None)))
    if unit.endswith(DEVIATION):  # shown as in reports: a value below 0 as none
        numbers = tuple(max(number, 0.0) if number is not None else None for number in numbers)
    value, low, high = numbers
    return {
        "value": value,
        "low": low,
        "high": high,
        "shown": show(figure.value, unit),
        "interval": show(ends(figure.interval), unit) if figure.interval else "",
    }


def _dumps(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
