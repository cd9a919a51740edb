"""Every kind of block in every renderer, with values that are empty, missing, infinite, hostile or very long."""

import csv
import io
import re
from collections.abc import Callable
from functools import partial
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
import resvg_py
from rich.cells import cell_len
from rich.console import Console

from fonts import needs_font
from holisticbias_eval.errors import ReportError
from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.markdown import markdown_section, render_markdown
from holisticbias_eval.report.page import render_block, render_page
from holisticbias_eval.report.svg import render_png, render_svg
from holisticbias_eval.report.terminal import print_section
from holisticbias_eval.report.write import render_csv
from holisticbias_eval.sections.blocks import Block, Section
from holisticbias_eval.sections.tables import Paragraph

from .html_reader import HtmlReader, sound_page
from .invented import HOSTILE, awkward_blocks, bars, empty_blocks, every_block, invented_report

SETS: dict[str, Callable[[], tuple[Block, ...]]] = {
    "usual": every_block, "empty": empty_blocks, "awkward": awkward_blocks,
}  # fmt: skip
HIDDEN_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\u202a-\u202e]")
NAMES = [(name, type(block).__name__, i) for name, blocks in SETS.items() for i, block in enumerate(blocks())]
each_block = pytest.mark.parametrize(
    "block", [SETS[n]()[i] for n, _, i in NAMES], ids=[f"{n}-{t}-{i}" for n, t, i in NAMES]
)


def read_svg(source: str) -> ET.Element:
    return ET.fromstring(source)  # noqa: S314 - what we drew ourselves


def test_the_blocks_are_of_every_kind() -> None:
    assert [{type(block) for block in SETS[name]()} for name in SETS] == [{*get_args(Block)}] * 3
    assert len(get_args(Block)) == 8


@pytest.mark.parametrize("name", SETS)
def test_the_page_shows_it_as_text_alone(name: str) -> None:
    blocks = SETS[name]()
    source = render_page(invented_report(*blocks))
    assert "<img" not in source
    assert "<b>" not in source
    page = sound_page(source)
    words = page.all("body")[0][1]
    assert not HIDDEN_CHARACTERS.search(words)
    assert name != "awkward" or HOSTILE in words
    for i, block in enumerate(blocks):
        assert len(HtmlReader(f"<p>{render_block(block, str(i))}</p>").elements) > 1, "the block has elements"


@each_block
@pytest.mark.parametrize("width", [40, 100])
def test_the_terminal_shows_it_within_its_width(block: Block, width: int) -> None:
    file = io.StringIO()
    print_section(Section("s", "S", (block,)), Console(file=file, width=width, highlight=False))
    said = file.getvalue()
    assert not HIDDEN_CHARACTERS.search(said)
    assert max(map(cell_len, said.splitlines()), default=0) <= width


@each_block
def test_markdown_keeps_its_tables_whole(block: Block) -> None:
    lines = "\n".join(markdown_section(Section("s", "S", (block,)))).split("\n")
    assert not any("<" in line.replace("\\\\", "").replace("\\<", "") for line in lines)
    rows = [line.replace("\\\\", "").replace("\\|", "") for line in lines if line.startswith("|")]
    assert len({row.count("|") for row in rows}) <= 1
    assert all(row.endswith("|") for row in rows)


@each_block
def test_csv_is_rectangular(block: Block) -> None:
    if not isinstance(block, Paragraph):
        rows = list(csv.reader(io.StringIO(render_csv(block))))
        assert len({len(row) for row in rows}) == 1
        assert "nan" not in {cell for row in rows for cell in row}


@each_block
def test_a_drawing_has_no_markup_of_others_and_every_place_is_a_number(block: Block) -> None:
    source = render_svg([draw(block)], (HOSTILE,))
    assert "var(" not in source
    drawing = read_svg(source)
    for element in drawing.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in {
            "svg", "title", "desc", "style", "text", "tspan", "rect", "line", "circle", "path",
        }  # fmt: skip
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "d"):
            assert not re.search("nan|inf", element.get(name, ""))
        assert float(element.get("width", "0").rstrip("%")) >= 0


@needs_font
def test_a_section_is_one_drawing_that_becomes_a_png_if_there_is_a_font(monkeypatch: pytest.MonkeyPatch) -> None:
    source = render_svg([draw(block) for block in (bars(), *awkward_blocks()[:5])], (HOSTILE,))
    assert render_png(source).startswith(b"\x89PNG")
    monkeypatch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
    with pytest.raises(ReportError, match="no font is installed"):
        render_png(source)


def test_hostile_text_is_text_in_drawings_and_in_markdown() -> None:
    drawing = read_svg(render_svg([draw(block) for block in awkward_blocks()]))
    assert any(HOSTILE[:20] in (element.text or "") for element in drawing.iter())
    assert "<img" not in render_markdown(invented_report(*awkward_blocks())).replace("\\<", "")
