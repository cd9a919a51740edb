"""Columns of a table of judged responses."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.statistics.responses.cells import ResponseCells, arrange_responses

PREFIX = "p:"
"""The prefix of a column with the probabilities of a style."""


def style_names(answers: pa.Table) -> tuple[str, ...]:
    """The styles that a table has probabilities of; ``SelectionError`` if there are none."""
    found = tuple(name.removeprefix(PREFIX) for name in answers.column_names if name.startswith(PREFIX))
    if not found:
        raise SelectionError(f"the responses have no column {PREFIX}STYLE: judge them with a style classifier")
    return found


def arrange_styles(answers: pa.Table, styles: Sequence[str] | None = None) -> ResponseCells:
    """Arrange the responses in cells, with the probabilities of these styles, by default of all."""
    chosen = style_names(answers) if styles is None else styles
    return arrange_responses(answers, {style: PREFIX + style for style in chosen})
