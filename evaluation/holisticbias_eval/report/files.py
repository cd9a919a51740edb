"""A report written to a file in another format: Markdown, CSV, SVG or PNG."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from holisticbias.output import write_file
from holisticbias_eval.errors import ReportError
from holisticbias_eval.report.charts import Chart, report_charts
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.numbers import INTERVALS, Cell
from holisticbias_eval.report.page import page_environment, render_page
from holisticbias_eval.report.summary import Summary, summarise
from holisticbias_eval.report.tables import Table
from holisticbias_eval.report.words import run_title
from holisticbias_eval.results.run import Run, Signature

PNG_SCALE = 3
_LETTER, _TITLE_LETTER = 5.5, 7.4


def write_report(run: Run, form: str, part: str | None, out: Path) -> Path:
    """Write the report, or with csv, svg and png one table or chart of it, by default the first.

    Raises ``ReportError`` for a part that there is not, and ``OutputError``
    where the file cannot be written. Returns the file's path.
    """
    content = _render(summarise(run), form, part)
    write_file(out, content)
    return out


def _render(summary: Summary, form: str, part: str | None) -> bytes:
    if form in ("html", "md"):
        if part is not None:
            raise ReportError(f"--part goes with csv, svg and png: {form} holds the whole report")
        return (render_page(summary) if form == "html" else render_markdown(summary)).encode()
    if form == "csv":
        return render_csv(_pick(report_tables(summary), part, "table")).encode()
    chart = _pick(report_charts(summary), part, "chart")
    svg = render_svg(chart, chart_heading(summary.result.signature, chart.width))
    return svg.encode() if form == "svg" else _render_png(svg)


T = TypeVar("T")


def _pick(parts: Mapping[str, T], name: str | None, what: str) -> T:
    if name is not None and name not in parts:
        raise ReportError(f"there is no {what} {name!r}; there are: {', '.join(parts)}")
    return parts[name] if name is not None else next(iter(parts.values()))


def render_csv(table: Table) -> str:
    """A table with its columns' keys as header, figures unrounded, missing values empty, an interval in two columns."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    intervals = [column.kind in INTERVALS for column in table.columns]
    writer.writerow(
        key
        for column, wide in zip(table.columns, intervals, strict=True)
        for key in ((f"{column.key}_low", f"{column.key}_high") if wide else (column.key,))
    )
    for row in table.rows:
        writer.writerow(part for cell, wide in zip(row, intervals, strict=True) for part in _parts(cell, wide))
    return file.getvalue()


def _parts(cell: Cell, wide: bool) -> tuple[Cell, ...]:
    if isinstance(cell, tuple):
        return cell
    return (cell, cell) if wide else (cell,)


def chart_heading(signature: Signature, width: int) -> tuple[str, ...]:
    """What a chart outside the page says of itself, in lines: the model and the release, and the model's note."""
    line = int(width / _LETTER)
    return (*textwrap.wrap(run_title(signature), line), *textwrap.wrap(signature.model.note or "", line))


def render_svg(chart: Chart, heading: Sequence[str] = ()) -> str:
    """A chart as a drawing of its own, in the colours of the light page, with lines above it."""
    drawing = (
        page_environment()
        .get_template("chart.svg.jinja")
        .render(chart=chart, title=textwrap.wrap(chart.title, int(chart.width / _TITLE_LETTER)), heading=heading)
    )
    colours = light_colours()
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda found: colours.get(found[1], found[0]), drawing).strip() + "\n"


def light_colours() -> dict[str, str]:
    """The page's colours on a light screen, by name."""
    palette = page_environment().get_template("palette.css").render()
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", palette.partition("@media")[0]))


def _render_png(svg: str) -> bytes:
    import resvg_py

    if resvg_py.svg_to_bytes(svg_string=_PROBE % "M") == resvg_py.svg_to_bytes(svg_string=_PROBE % ""):
        raise ReportError(
            "no font is installed, and a PNG would have no words: install one (fonts-dejavu), or take svg"
        )
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=PNG_SCALE))


_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="16">%s</text></svg>'
