"""Whether text can be drawn as pixels on this machine."""

import pytest

from holisticbias_eval.errors import ReportError
from holisticbias_eval.report.svg import render_png

_TEXT = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15">a</text></svg>'


def _is_drawn() -> bool:
    try:
        return bool(render_png(_TEXT))
    except ReportError:
        return False


needs_font = pytest.mark.skipif(not _is_drawn(), reason="no font on this machine")
