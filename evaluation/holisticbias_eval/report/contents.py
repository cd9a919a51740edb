"""All tables of a report by name."""

from __future__ import annotations

from holisticbias_eval.report.summary import Summary
from holisticbias_eval.report.tables import (
    Table,
    by_axis,
    by_axis_and_template,
    by_template,
    descriptors,
    extremes,
    love_hate,
)
from holisticbias_eval.report.trust import trust_tables


def report_tables(summary: Summary) -> dict[str, Table]:
    """All tables by name, in the order of the page."""
    trust = summary.result.trust
    tables = (
        by_axis(summary),
        *(trust_tables(summary, trust) if trust else ()),
        by_template(summary),
        by_axis_and_template(summary),
        extremes(summary),
        *((love_hate(summary),) if summary.wording.love_hate else ()),
        descriptors(summary),
    )
    return {table.name: table for table in tables}
