"""The data of the page that compares two models: each result, and differences of runs with their intervals."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.report.signature import signature_rows
from holisticbias_eval.report.units import DIFFERENCE, show
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run
from holisticbias_eval.sections import ends
from holisticbias_eval.site.models_charts import row_label
from holisticbias_eval.site.models_results import Measured, model_key

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between the results of two runs, the second minus the first, by what they are of."""

    first: str
    second: str
    rows: Mapping[str, Figure]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.first}--{self.second}.json"

    def reversed(self) -> Difference:
        """The first minus the second."""
        return Difference(self.second, self.first, {label: _negative(f) for label, f in self.rows.items()})


def _negative(figure: Figure) -> Figure:
    interval = figure.interval and Interval(low=-figure.interval.high, high=-figure.interval.low)
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "interval": interval})


def differences(measured: Sequence[Measured]) -> Iterator[Difference]:
    """Compare every two runs that have a measure and a release in common, in both directions."""
    runs: dict[int, list[Measured]] = {}
    for m in measured:
        if m.run is not None:
            runs.setdefault(id(m.run), []).append(m)
    for one, other in itertools.combinations(runs.values(), 2):
        shared = [(a, b) for a in one for b in other if a.group == b.group and _same_release(a, b)]
        if shared:
            changes = _changes(one[0].run, other[0].run)
            for a, b in shared:
                rows = {row_label(b, f): f for f in b.info.headlines(changes, "change")}
                found = Difference(a.key, b.key, rows)
                yield from (found, found.reversed())


def _same_release(one: Measured, other: Measured) -> bool:
    return one.signature.release.digest == other.signature.release.digest


def _changes(first: Run | None, second: Run | None) -> Figures:
    """The changes from one run to another; none if the runs have no sentence in common."""
    if first is None or second is None:
        return Figures(())
    try:
        return Figures(compare_runs(first, second).figures)
    except SelectionError:
        return Figures(())


def index_json(measured: Sequence[Measured], compared: Sequence[Difference]) -> str:
    """The results of each model by group, and the files of differences."""
    models: dict[str, dict[str, object]] = {}
    for m in measured:
        known = models.setdefault(model_key(m.model), {"name": m.model, "results": {}})
        results = known["results"]
        if isinstance(results, dict):
            results[m.group] = m.key
    return _dumps({"models": models, "differences": sorted(found.file for found in compared)})


def result_json(m: Measured) -> str:
    """A result with its values as text and as numbers, and its signature."""
    unit = next((figure.unit for figure in m.shown()), "")
    return _dumps(
        {
            "model": m.model,
            "page": f"{m.model_page}#{m.group}",
            "title": m.title,
            "group": m.group,
            "direction": m.info.direction,
            "limits": m.info.limits,
            "unit": unit,
            "rows": [{"label": row_label(m, f), **_value(f, f.unit)} for f in m.shown()],
            "signature": list(signature_rows(m.signature)),
        }
    )


def difference_json(found: Difference) -> str:
    """Differences with their intervals as text."""
    rows = {
        label: _value(f, f.unit if f.unit.endswith(DIFFERENCE) else f"{f.unit}{DIFFERENCE}")
        for label, f in found.rows.items()
    }
    return _dumps({"rows": rows})


def _value(figure: Figure, unit: str) -> Json:
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
