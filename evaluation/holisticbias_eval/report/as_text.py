"""Sections for readers of text: charts become tables of their values."""

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Column, Paragraph, Table
from holisticbias_eval.report.drawings.dots import spread
from holisticbias_eval.sections import Bars, Chart, DotPlot, Forest, Scatter, Section, StackedBars


def text_blocks(section: Section, known: Sequence[Table] = ()) -> Iterator[Paragraph | Table]:
    """The blocks of a section, each chart as a table unless one of the ``known`` tables has all its values."""
    for block in section.blocks:
        if isinstance(block, (Paragraph, Table)):
            yield block
        elif not any(_covers(table, block) for table in known):
            yield chart_table(block)


def chart_table(chart: Chart) -> Table:
    """The values of a chart; for a dot plot the ends and the median of each row."""
    return _spreads(chart) if isinstance(chart, DotPlot) else chart.table()


def _covers(table: Table, chart: Chart) -> bool:
    """Whether a table has a row for each bar, estimate or point of a chart, with its value and its mark."""
    if isinstance(chart, Forest) and any(e.marked for e in chart.estimates):
        return False
    rows = {row[0]: row for row in table.rows}
    match chart:
        case Bars(bars=values) | Forest(estimates=values):
            return all(v.label in rows and v.value in rows[v.label] for v in values)
        case StackedBars():
            return all(label in rows and {*values} <= set(rows[label]) for label, values in chart.rows)
        case Scatter():
            return all(p.label in rows and {p.x, p.y} <= set(rows[p.label]) for p in chart.points)
        case _:
            return False


def _spreads(chart: DotPlot) -> Table:
    columns = (
        Column("label", "Name"),
        Column("values", "Values", "count"),
        Column("lowest", "Lowest", chart.unit),
        Column("median", "Median", chart.unit),
        Column("highest", "Highest", chart.unit),
    )
    rows = []
    for row in chart.rows:
        found = spread(row, log=chart.log)
        ends = (found.values[0], found.box[1], found.values[-1]) if found else (None, None, None)
        rows.append((row.label, len(row.values), *ends))
    return Table(chart.name, chart.title, columns, tuple(rows))
