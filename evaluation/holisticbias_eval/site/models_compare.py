"""The data of the page that compares two models: each result, and differences of runs with their intervals."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias_eval.blocks import ends
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.report.signature import signature_rows
from holisticbias_eval.report.units import DIFFERENCE, show
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run
from holisticbias_eval.site.models_charts import row_label
from holisticbias_eval.site.models_results import ModelResult, model_key

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """The differences between the results of two runs, the second minus the first, by what they are of."""

    first: str
    second: str
    rows: Mapping[str, Figure]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.first}--{self.second}.json"

    def reversed(self) -> ModelDifference:
        """The first minus the second."""
        rows = {label: _negative(figure) for label, figure in self.rows.items()}
        return ModelDifference(self.second, self.first, rows)


def _negative(figure: Figure) -> Figure:
    interval = figure.interval and Interval(low=-figure.interval.high, high=-figure.interval.low)
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "interval": interval})


def differences(measured: Sequence[ModelResult]) -> Iterator[ModelDifference]:
    """Compare every two runs that have a measure and a release in common, in both directions."""
    runs: dict[int, list[ModelResult]] = {}
    for result in measured:
        if result.run is not None:
            runs.setdefault(id(result.run), []).append(result)
    for first, second in itertools.combinations(runs.values(), 2):
        shared = [(a, b) for a in first for b in second if a.group == b.group and _same_release(a, b)]
        if shared:
            changes = _changes(first[0].run, second[0].run)
            for a, b in shared:
                rows = {row_label(b, figure): figure for figure in b.info.headlines(changes, "change")}
                difference = ModelDifference(a.key, b.key, rows)
                yield from (difference, difference.reversed())


def _same_release(first: ModelResult, second: ModelResult) -> bool:
    return first.signature.release.digest == second.signature.release.digest


def _changes(first: Run | None, second: Run | None) -> Figures:
    """The changes from one run to another; none if the runs have no sentence in common."""
    if first is None or second is None:
        return Figures(())
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
    for difference in differences(measured):
        files.append(difference.file)
        yield f"differences/{difference.file}", _dumps({"rows": dict(_differing(difference))})
    yield "results.json", _dumps({"models": models, "differences": sorted(files)})


def _result(result: ModelResult) -> Json:
    """A result with its values as text and as numbers, and its signature."""
    figures = result.shown()
    return {
        "model": result.model,
        "page": f"{result.model_page}#{result.group}",
        "title": result.title,
        "group": result.group,
        "direction": result.info.direction,
        "limits": result.info.limits,
        "unit": figures[0].unit if figures else "",
        "rows": [{"label": row_label(result, figure), **_value(figure, figure.unit)} for figure in figures],
        "signature": list(signature_rows(result.signature)),
    }


def _differing(difference: ModelDifference) -> Iterator[tuple[str, Json]]:
    for label, figure in difference.rows.items():
        yield label, _value(figure, figure.unit.removesuffix(DIFFERENCE) + DIFFERENCE)


def _value(figure: Figure, unit: str) -> Json:
    """A value with its interval, as numbers and as text."""
    low, high = ends(figure.interval) or (None, None)
    return {
        "value": figure.value,
        "low": low,
        "high": high,
        "shown": show(figure.value, unit),
        "interval": show(ends(figure.interval), unit) if figure.interval else "",
    }


def _dumps(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
