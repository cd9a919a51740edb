"""Whether text can be drawn as pixels on this machine."""

import pytest

from holisticbias_eval.errors import ReportError
from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.svg import render_png, render_svg
from holisticbias_eval.sections.blocks import Bar, Bars


def _is_drawn() -> bool:
    try:
        return bool(render_png(render_svg([draw(Bars("a", "a", "share", (Bar("a", 1.0),), ""))])))
    except ReportError:
        return False


needs_font = pytest.mark.skipif(not _is_drawn(), reason="no font on this machine")
