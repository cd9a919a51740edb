"""Charts, tables and paragraphs as drawings."""

from __future__ import annotations

from typing import assert_never

from holisticbias_eval.blocks import Paragraph, Table
from holisticbias_eval.report.drawings.bars import draw_bars, draw_stacked_bars
from holisticbias_eval.report.drawings.dot_plot import draw_dot_plot
from holisticbias_eval.report.drawings.forest import draw_forest
from holisticbias_eval.report.drawings.grids import draw_heat_map, draw_paragraph, draw_table
from holisticbias_eval.report.drawings.scatter import draw_scatter
from holisticbias_eval.report.drawings.shapes import VectorDrawing
from holisticbias_eval.sections import Bars, Block, DotPlot, Forest, HeatMap, Scatter, StackedBars


def draw(block: Block) -> VectorDrawing:
    """Draw a block of any kind."""
    match block:
        case Paragraph():
            return draw_paragraph(block)
        case Table():
            return draw_table(block)
        case Bars():
            return draw_bars(block)
        case StackedBars():
            return draw_stacked_bars(block)
        case DotPlot():
            return draw_dot_plot(block)
        case HeatMap():
            return draw_heat_map(block)
        case Forest():
            return draw_forest(block)
        case Scatter():
            return draw_scatter(block)
        case _:
            assert_never(block)
