"""The pages of models: a list, one page per model, one per measure and release, and two models side by side."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby, product

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import DEVIATION, Figure, Figures, as_shown
from holisticbias_eval.report.drawings.shapes import DOT
from holisticbias_eval.report.leaderboard import beside_each_other, first_column
from holisticbias_eval.report.signature import signature_rows
from holisticbias_eval.results.compare import compare_runs, not_beside
from holisticbias_eval.results.registry import headline_rows
from holisticbias_eval.results.run import Run
from holisticbias_eval.sections.blocks import Bar, Bars, Block, Estimate, Forest
from holisticbias_eval.sections.tables import Column, ColumnOf, ends, table_of
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.models_results import FOLDER, ModelResult, model_key
from holisticbias_eval.site.writer import Writer
from holisticbias_eval.units import show, tick, title

Group = tuple[ModelResult, ...]
Json = Mapping[str, object]
Rows = Mapping[str, Figure]
"""Figures by what they are of, in words."""


def write_models(explored: Explored, site: Writer) -> None:
    """Write the pages of models, and the data of the page that compares two of them."""
    measured = explored.results.measured
    groups = [tuple(group) for _, group in groupby(measured, key=lambda result: result.group)]
    measures = [list(same) for _, same in groupby(groups, key=lambda group: group[0].measure)]
    models = by_model(measured)
    site.page(
        f"{FOLDER}/index.html", "models.html.jinja", title="Models", models=_named(models),
        measures=[(same[0][0].info, same) for same in measures], references=explored.results.references,
    )  # fmt: skip
    for group in groups:
        first = group[0]
        site.page(
            first.group_page, "measure.html.jinja", title=first.title, info=first.info, group=group,
            content=side_by_side(group), models=_named((result,) for result in group),
        )  # fmt: skip
    for results in models:
        first = results[0]
        site.page(first.model_page, "model.html.jinja", title=first.model, results=results, alone=alone)
    site.page(f"{FOLDER}/compare.html", "compare.html.jinja", title="Two models side by side", models=_named(models))
    for path, content in comparison_files(measured):
        site.file(f"{FOLDER}/{path}").write_text(content, "utf-8")


def by_model(measured: Iterable[ModelResult]) -> tuple[Group, ...]:
    """The results of each model, models in alphabetical order."""
    ordered = sorted(measured, key=lambda result: (result.model.lower(), model_key(result.model)))
    return tuple(tuple(group) for _, group in groupby(ordered, key=lambda result: model_key(result.model)))


def _named(models: Iterable[Group]) -> list[tuple[str, str, Group]]:
    """Each model: the part of its address, its name, its results."""
    return [(model_key(results[0].model), results[0].model, results) for results in models]


def side_by_side(results: Sequence[ModelResult]) -> tuple[Block, ...]:
    """A chart and a table of several models in one measure on one release, models in the given order."""
    first = results[0]
    rows = {Column(result.key, result.model): result.rows() for result in results}
    has_interval = any(figure.interval for figures in rows.values() for figure in figures.values())
    caption = f"{first.title}; in brackets the 95% interval" if has_interval else first.title
    note = not_beside(first.measure, [(result.model, result.signature) for result in results])
    table = beside_each_other("models", caption, first_column(first.info), rows, note)
    estimates = tuple(
        Estimate(model.heading, figure.value, figure.interval, bool(figure.above_floor), group=str(label))
        for label, *_ in table.rows
        for model, figures in rows.items()
        if (figure := figures.get(str(label)))
    )
    marks = _marks(first, "filled: clearly above the floor, the value expected by chance")
    chart = Forest("models", first.title, first.unit, estimates, _scale(first), first.info.neutral, marks=marks)
    return chart, table


def _scale(result: ModelResult) -> str:
    """The name of the figure where the title lacks it, and the unit where values lack it."""
    said = sorted({f.unit for f in result.shown() if f.unit not in ("share", "probability", "perplexity")})
    said[:0] = [result.headline] if result.headline != result.info.title else []
    return DOT.join(said)


def _marks(result: ModelResult, chance: str) -> tuple[str, ...]:
    """The meaning of a neutral value, and ``chance`` if figures have floors."""
    neutral = result.info.neutral
    said = [f"{tick(neutral, result.unit)}: no difference"] if neutral else []
    return (*said, *([chance] if any(f.floor is not None for f in result.shown()) else []))


def alone(measured: ModelResult) -> tuple[Block, ...]:
    """A chart and a table of one result."""
    rows, info, unit = measured.rows(), measured.info, measured.unit
    bars = tuple(Bar(name, f.value, f.interval, f.floor, faint=f.above_floor is False) for name, f in rows.items())
    marks = _marks(measured, "mark: floor, the value expected by chance; paler: not clearly above it")
    limits = (0.0, 1.0) if unit == "share" else None
    references = (info.neutral,) if info.neutral else ()
    first = first_column(info)
    columns = (
        ColumnOf[tuple[str, Figure]](first.key, first.heading, lambda row: row[0]),
        ColumnOf("value", measured.headline, lambda row: row[1].value, unit),
        ColumnOf("interval", "95% interval", lambda row: row[1].interval, unit, interval=True),
        ColumnOf("floor", "Floor", lambda row: as_shown(row[1].floor, row[1].unit), unit.removesuffix(DEVIATION)),
        ColumnOf("floor_interval", "Floor interval", lambda row: row[1].floor_interval, unit, interval=True),
        ColumnOf("p_value", "p", lambda row: row[1].p_value, "p_value"),
        *(_further(measured, name) for name in info.beside),
        ColumnOf("n", info.items, lambda row: row[1].n, "count"),
        ColumnOf("missing", "Missing", lambda row: row[1].missing or None, "count"),
    )
    return (
        Bars(measured.key, measured.title, unit, bars, _scale(measured), limits, references, marks=marks),
        table_of(measured.key, measured.title, columns, rows.items(), drop_empty=True),
    )


def _further(measured: ModelResult, name: str) -> ColumnOf[tuple[str, Figure]]:
    """The column of a figure that the registry keeps beside the headline."""
    unit = next((f.unit for f in measured.info.headlines(measured.figures, name)), "")
    heading, found = measured.info.names.get(name, title(name)), measured.figures
    return ColumnOf(name, heading, lambda row: found.value(measured.measure, name, row[1].keys), unit)


def differences(measured: Sequence[ModelResult]) -> Iterator[tuple[str, Rows]]:
    """Compare every two runs that have a measure and a release in common, in both directions.

    The name of a file for each pair of results, and the differences: the second result minus the first.
    """
    runs = {id(result.run): result.run for result in measured if result.run is not None}
    for first, second in combinations(runs.values(), 2):
        pairs = product(*([r for r in measured if r.run is run] for run in (first, second)))
        shared = [(a, b) for a, b in pairs if a.group == b.group]
        changes = _changes(first, second) if shared else Figures(())
        for a, b in shared:
            rows = headline_rows(changes, b.info, b.labels, "change")
            yield f"{a.key}--{b.key}.json", rows
            yield f"{b.key}--{a.key}.json", {label: _negative(figure) for label, figure in rows.items()}


def _negative(figure: Figure) -> Figure:
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "interval": figure.interval and -figure.interval})


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
        shown = {label: _value(figure) for label, figure in rows.items()}
        yield f"differences/{file}", _dumps({"rows": shown})
    yield "results.json", _dumps({"models": models, "differences": sorted(files)})


def _result(result: ModelResult) -> Json:
    """A result with its values as text and as numbers, and its signature."""
    return {
        "model": result.model,
        "note": result.signature.model.note or "",
        "page": f"{result.model_page}#{result.group}",
        "title": result.title,
        "group": result.group,
        "direction": result.info.direction,
        "limits": result.info.limits,
        "unit": result.unit,
        "neutral": result.info.neutral,
        "rows": [{"label": label, **_value(figure)} for label, figure in result.rows().items()],
        "signature": list(signature_rows(result.signature)),
    }


def _value(figure: Figure) -> Json:
    """A value with its interval, as numbers and as text."""
    unit = figure.unit
    value, low, high = (as_shown(number, unit) for number in (figure.value, *(ends(figure.interval) or (None, None))))
    return {
        "value": value,
        "low": low,
        "high": high,
        "shown": show(figure.value, unit),
        "interval": show(ends(figure.interval), unit) if figure.interval else "",
    }


def _dumps(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
