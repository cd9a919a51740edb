"""The pages of models: a list, one page per model, one per measure and release, and two models side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from holisticbias_eval.report.leaderboard import REMINDER
from holisticbias_eval.report.report import SCOPE
from holisticbias_eval.report.signature import architecture, signature_rows
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.models_charts import alone, side_by_side
from holisticbias_eval.site.models_compare import comparison_files
from holisticbias_eval.site.models_results import FOLDER, ModelResult, Results, model_key
from holisticbias_eval.site.writer import Writer

Group = tuple[ModelResult, ...]


def write_models(explored: Explored, site: Writer) -> None:
    """Write the pages of models, and the data of the page that compares two of them."""
    measured = explored.results.measured
    groups = [tuple(group) for _, group in groupby(measured, key=lambda result: result.group)]
    models = by_model(measured)
    _write_list(groups, models, explored.results, site)
    for group in groups:
        _write_group(group, site)
    for results in models:
        _write_model(results, site)
    _write_comparison(measured, models, site)


def by_model(measured: Iterable[ModelResult]) -> tuple[Group, ...]:
    """The results of each model, models in alphabetical order."""
    ordered = sorted(measured, key=lambda result: (result.model.lower(), model_key(result.model)))
    return tuple(tuple(group) for _, group in groupby(ordered, key=lambda result: model_key(result.model)))


def _write_list(groups: Sequence[Group], models: Sequence[Group], results: Results, site: Writer) -> None:
    measures = [list(same) for _, same in groupby(groups, key=lambda group: group[0].measure)]
    site.page(
        f"{FOLDER}/index.html", "models.html.jinja", area="models", title="Models", reminder=REMINDER, scope=SCOPE,
        measures=[(same[0][0].info, same) for same in measures], models=_named(models), architecture=architecture,
        references=results.references,
    )  # fmt: skip


def _write_group(group: Group, site: Writer) -> None:
    first = group[0]
    site.page(
        first.group_page, "measure.html.jinja", area="models",
        title=first.title, info=first.info, group=group,
        content=side_by_side(group), signature_rows=signature_rows, models=_named((result,) for result in group),
        reminder=REMINDER, scope=SCOPE,
    )  # fmt: skip


def _write_model(results: Group, site: Writer) -> None:
    site.page(
        results[0].model_page, "model.html.jinja", area="models", title=results[0].model, results=results,
        architecture=architecture, alone=alone, signature_rows=signature_rows, scope=SCOPE,
    )  # fmt: skip


def _write_comparison(measured: Sequence[ModelResult], models: Sequence[Group], site: Writer) -> None:
    site.page(
        f"{FOLDER}/compare.html", "compare.html.jinja", area="models", title="Two models side by side",
        models=_named(models), reminder=REMINDER, scope=SCOPE,
    )  # fmt: skip
    for path, content in comparison_files(measured):
        site.file(f"{FOLDER}/{path}").write_text(content, "utf-8")


def _named(models: Iterable[Group]) -> list[tuple[str, str, Group]]:
    """Each model: the part of its address, its name, its results."""
    return [(model_key(results[0].model), results[0].model, results) for results in models]
