"""Charts, tables and paragraphs as drawings."""

from collections.abc import Callable, Mapping
from typing import Any

from holisticbias_eval.report.drawings.bars import draw_bars, draw_forest, draw_stacked_bars
from holisticbias_eval.report.drawings.dots import draw_dot_plot, draw_scatter
from holisticbias_eval.report.drawings.grids import draw_heat_map, draw_paragraph, draw_table
from holisticbias_eval.report.drawings.shapes import VectorDrawing
from holisticbias_eval.sections.blocks import Bars, Block, DotPlot, Forest, HeatMap, Scatter, StackedBars
from holisticbias_eval.sections.tables import Paragraph, Table


def draw(block: Block) -> VectorDrawing:
    """Draw a block of any kind."""
    return _DRAWN[type(block)](block)


_DRAWN: Mapping[type[Block], Callable[[Any], VectorDrawing]] = {
    Paragraph: draw_paragraph,
    Table: draw_table,
    Bars: draw_bars,
    StackedBars: draw_stacked_bars,
    DotPlot: draw_dot_plot,
    HeatMap: draw_heat_map,
    Forest: draw_forest,
    Scatter: draw_scatter,
}
