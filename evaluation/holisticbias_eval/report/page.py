"""A report as one HTML page that needs no network and no other file."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.drawings.grids import heat_level, heat_limits, heat_scale, heat_text
from holisticbias_eval.report.report import LETTERS, Chapter, Report
from holisticbias_eval.report.signature import NOT_RUN
from holisticbias_eval.report.svg import render_inline
from holisticbias_eval.sections.blocks import Block, DotPlot, HeatMap, has_values
from holisticbias_eval.sections.tables import Paragraph, Table
from holisticbias_eval.settings import listed
from holisticbias_eval.units import PREFERENCES, WORDS, printable, show

LONG = 30
"""A table with more rows can be searched and sorted."""


def render_page(report: Report) -> str:
    """The page. All text is escaped: anyone may name models and terms."""
    ids = _ids(report.chapters)
    chapters = [
        (next(ids), chapter.info, [(next(ids), section) for section in chapter.sections]) for chapter in report.chapters
    ]
    template = _environment().get_template("page.html.jinja")
    return template.render(report=report, chapters=chapters, script_digest=inline_digest(_environment(), "tables.js"))


def render_blocks(blocks: Iterable[Block], key: str) -> Markup:
    """Blocks one after the other, dot plots side by side, without charts that have no value.

    ``key`` makes the ids of charts unique.
    """
    shown = ((i, b) for i, b in enumerate(blocks, 1) if isinstance(b, Paragraph | Table) or has_values(b))
    groups = []
    for side_by_side, group in groupby(shown, key=lambda item: isinstance(item[1], DotPlot)):
        parts = Markup("\n").join(render_block(block, f"{key}-{i}") for i, block in group)
        groups.append(Markup('<div class="charts">{}</div>').format(parts) if side_by_side else parts)
    return Markup("\n").join(groups)


def render_block(block: Block, key: str) -> Markup:
    """A block as HTML."""
    if isinstance(block, Paragraph):
        return Markup('<p class="{}">{}</p>').format(_CLASSES[block.role], printable(block.text))
    if isinstance(block, Table):
        return _macro("data_table", block, key)
    if isinstance(block, HeatMap):
        return _macro("heat_map", block)
    drawn = render_inline(draw(block), key)
    return Markup("<figure><figcaption>{}</figcaption>{}</figure>").format(printable(block.title), drawn)


_CLASSES = {"text": "said", "finding": "finding", "caveat": "caveat", "note": "how"}


def _macro(name: str, *arguments: object) -> Markup:
    found: Markup = getattr(_environment().get_template("blocks.html.jinja").module, name)(*arguments)
    return found


def _breakable(text: str) -> Markup:
    """A title that can break after each comma, between the words of a filter as in ``axis=age,ability``."""
    return Markup(",<wbr>").join(re.split(r",(?=[^\s\d])", printable(text)))


@cache
def _environment() -> Environment:
    environment = page_environment("holisticbias_eval.report")
    environment.filters.update(sentence=lambda text: text.rstrip(".") + ".", listed=listed, breakable=_breakable)
    environment.globals.update(
        heat_level=heat_level, heat_limits=heat_limits, heat_scale=heat_scale, heat_text=heat_text, letters=LETTERS,
        long=LONG, not_run=NOT_RUN, words=WORDS,
    )  # fmt: skip
    return environment


def page_environment(*packages: str) -> Environment:
    """Jinja with the templates of these packages: everything escaped, nothing undefined, no hidden characters."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else printable(value),
    )
    environment.filters.update(shown=show, blocks=render_blocks)
    environment.globals.update(preferences=PREFERENCES)
    return environment


def inline_digest(environment: Environment, name: str) -> str:
    """The digest of an inline script or style sheet, as a content security policy names it."""
    text = environment.get_template(name).render()
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _ids(chapters: Iterable[Chapter]) -> Iterator[str]:
    """An id for every chapter, followed by those of its sections: readable in an address, and all different."""
    used: set[str] = set()
    for chapter in chapters:
        for prefix, name in (("m", chapter.info.name), *(("s", section.name) for section in chapter.sections)):
            found = f"{prefix}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"
            found = found if found not in used else f"{found}-{len(used)}"
            used.add(found)
            yield found
