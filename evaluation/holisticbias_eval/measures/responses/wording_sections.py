"""Report sections on the wording of responses."""

from __future__ import annotations

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections import Section


def wording_sections(view: View) -> tuple[Section, ...]:
    """s."""
    return ()


def wording_changes(changes: Figures, view: View) -> tuple[Section, ...]:
    """s."""
    return ()
