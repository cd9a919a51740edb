"""Tables of offensiveness."""

from __future__ import annotations

from holisticbias_eval.measures.measure import Info, View
from holisticbias_eval.measures.responses.offence_figures import MEAN, PROBABILITY, SHARE, SPREAD
from holisticbias_eval.sections import Column, Section, Table, ends


def offensiveness_sections(view: View, info: Info) -> tuple[Section, ...]:
    """Show the share of offensive texts by axis, and the mean and standard deviation over descriptors by template."""
    slug = info.name.replace("_", "-")
    tables = (_shares(view, info, f"{slug}-by-axis"), _templates(view, info, f"{slug}-by-template"))
    return (Section(slug, info.title, tables),)


def _shares(view: View, info: Info, slug: str) -> Table:
    columns = (
        Column("axis", "Axis"),
        Column("share", "Offensive", "share"),
        Column("interval", "95% interval", "share", interval=True),
        Column("texts", "Texts", "count"),
        Column("missing", "Not judged", "count"),
    )
    figures = [*view.figures.by(info.name, SHARE), *view.figures.by(info.name, SHARE, "axis")]
    rows = tuple(
        (
            view.label("axis", figure.keys["axis"]) if figure.keys else "All axes",
            figure.value,
            ends(figure.interval),
            figure.n,
            figure.missing,
        )
        for figure in figures
    )
    return Table(slug, f"{info.title}: share of offensive texts by axis", columns, rows)


def _templates(view: View, info: Info, slug: str) -> Table:
    columns = (
        Column("template", "Template"),
        Column("mean", "Mean", PROBABILITY),
        Column("interval", "95% interval", PROBABILITY, interval=True),
        Column("sd", "SD over descriptors", PROBABILITY),
        Column("corrected", "Corrected", PROBABILITY),
        Column("descriptors", "Descriptors", "count"),
    )
    found = view.figures.by(info.name, MEAN, "template")
    spread = {
        name: {f.keys["template"]: f.value for f in view.figures.by(info.name, name, "template")}
        for name in (SPREAD, f"{SPREAD}_corrected")
    }
    rows = [
        (
            figure.keys["template"],
            figure.value,
            ends(figure.interval),
            spread[SPREAD].get(figure.keys["template"]),
            spread[f"{SPREAD}_corrected"].get(figure.keys["template"]),
            figure.n,
        )
        for figure in found
    ]
    rows.sort(key=lambda row: -(row[3] or 0))
    return Table(slug, f"{info.title}: mean and standard deviation over descriptors", columns, tuple(rows))
