"""The pages of models: a list, one page per model, one per measure and release, and two models side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from holisticbias_eval.report.leaderboard import REMINDER
from holisticbias_eval.report.report import SCOPE
from holisticbias_eval.report.signature import architecture, signature_rows
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.models_charts import alone, side_by_side
from holisticbias_eval.site.models_compare import difference_json, differences, index_json, result_json
from holisticbias_eval.site.models_results import FOLDER, Measured, model_key, results_of
from holisticbias_eval.site.models_terms import term_figures
from holisticbias_eval.site.writer import Writer

__all__ = ["term_figures", "write_models"]

Group = tuple[Measured, ...]


def write_models(explored: Explored, site: Writer) -> None:
    """Write the pages of models, and the data of the page that compares two of them."""
    measured = results_of(explored).measured
    groups = [tuple(group) for _, group in groupby(measured, key=lambda m: m.group)]
    models = by_model(measured)
    _write_list(groups, models, explored.references, site)
    for group in groups:
        _write_group(group, site)
    for own in models:
        _write_model(own, site)
    _write_comparison(measured, models, site)


def by_model(measured: Iterable[Measured]) -> tuple[Group, ...]:
    """The results of each model, models in alphabetical order."""
    ordered = sorted(measured, key=lambda m: (m.model.lower(), model_key(m.model)))
    return tuple(tuple(own) for _, own in groupby(ordered, key=lambda m: model_key(m.model)))


def _write_list(groups: Sequence[Group], models: Sequence[Group], references: object, site: Writer) -> None:
    measures = [(own[0][0].info, own) for own in (list(g) for _, g in groupby(groups, key=lambda g: g[0].measure))]
    site.page(
        f"{FOLDER}/index.html", "models.html.jinja", area="models", title="Models", reminder=REMINDER, scope=SCOPE,
        measures=measures, models=_named(models), architecture=architecture, references=references,
    )  # fmt: skip


def _write_group(group: Group, site: Writer) -> None:
    first = group[0]
    site.page(
        first.group_page, "measure.html.jinja", area="models",
        title=first.title, info=first.info, group=group,
        content=side_by_side(group), signature_rows=signature_rows, models=_named((m,) for m in group),
        reminder=REMINDER, scope=SCOPE,
    )  # fmt: skip


def _write_model(own: Group, site: Writer) -> None:
    site.page(
        own[0].model_page, "model.html.jinja", area="models", title=own[0].model, own=own,
        architecture=architecture, alone=alone, signature_rows=signature_rows, scope=SCOPE,
    )  # fmt: skip


def _write_comparison(measured: Sequence[Measured], models: Sequence[Group], site: Writer) -> None:
    compared = tuple(differences(measured))
    site.page(
        f"{FOLDER}/compare.html", "compare.html.jinja", area="models", title="Two models side by side",
        models=_named(models), reminder=REMINDER, scope=SCOPE,
    )  # fmt: skip
    site.file(f"{FOLDER}/results.json").write_text(index_json(measured, compared), "utf-8")
    for m in measured:
        site.file(f"{FOLDER}/results/{m.key}.json").write_text(result_json(m), "utf-8")
    for found in compared:
        site.file(f"{FOLDER}/differences/{found.file}").write_text(difference_json(found), "utf-8")


def _named(models: Iterable[Group]) -> list[tuple[str, str, Group]]:
    """Each model: the part of its address, its name, its results."""
    return [(model_key(own[0].model), own[0].model, own) for own in models]
