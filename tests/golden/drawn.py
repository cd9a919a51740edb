"""Recorded cases of what is shown: blocks in every form, the page of a report, and the pages of a site."""

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rich.console import Console

from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import LONG, render_page
from holisticbias_eval.report.report import tables
from holisticbias_eval.report.terminal import print_report
from holisticbias_eval.report.write import render
from holisticbias_eval.site.models_results import Results
from tests.evaluation.report.html_reader import HtmlReader
from tests.evaluation.report.invented import every_block, invented_report
from tests.evaluation.site.made_site import made_site

_SKIPPED = {"rect", "line", "circle", "path", "text", "tspan", "style", "script", "html", "body", "head"}
_LONGEST = 300
"""Characters of an element's words that are recorded."""


def _drawings(_: Path) -> Iterator[str]:
    for number, block in enumerate(every_block()):
        drawing = draw(block)
        yield f"block {number}\t{drawing.width} x {drawing.height}: {drawing.description}"
        for i, shape in enumerate(drawing.shapes):
            yield f"block {number} shape {i}\t{shape}"


def _texts(_: Path) -> Iterator[str]:
    report = invented_report(*every_block(), rows=LONG + 1)
    for width in (40, 100):
        file = io.StringIO()
        print_report(report, Console(file=file, width=width, highlight=False))
        yield from (f"terminal {width} {i}\t{line}" for i, line in enumerate(file.getvalue().splitlines()))
    yield from (f"markdown {i}\t{line}" for i, line in enumerate(render_markdown(report).splitlines()))
    for name, _table in tables(report):
        lines = render(report, "csv", name).decode().splitlines()
        yield from (f"csv {name} {i}\t{line}" for i, line in enumerate(lines))


def _page(_: Path) -> Iterator[str]:
    yield from _elements("page", render_page(invented_report(*every_block(), rows=LONG + 1)))


def _site(folder: Path) -> Iterator[str]:
    made = folder / "out" / "site"
    made_site(made, Results())
    for path in sorted(made.rglob("*.html")):
        yield from _elements(str(path.relative_to(made)), path.read_text("utf-8"))


def _elements(name: str, source: str) -> Iterator[str]:
    """The elements of a page with their attributes and words, without those of drawings."""
    shown = (element for element in HtmlReader(source).elements if element[0] not in _SKIPPED)
    for i, (tag, attributes, pieces) in enumerate(shown):
        words = " ".join("".join(pieces).split())[:_LONGEST]
        yield f"{name} {i}\t{tag} {attributes} {words}"


DRAWN: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "drawings": _drawings, "texts": _texts, "page": _page, "site": _site,
}  # fmt: skip
