"""Retention: the perplexity of neutral text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.lines.figures import NAME, line_changes, line_figures
from holisticbias_eval.measures.lines.sections import line_change_section, line_sections
from holisticbias_eval.measures.measure import Measure, Measured, Settings, View
from holisticbias_eval.sections import Section
from holisticbias_eval.statistics.groups.items import DRAWS


class Retention(Measure):
    """The perplexity of a text that has nothing to do with the bias that is measured."""

    info: ClassVar[Info] = Info(
        name=NAME,
        title="Retention",
        summary=(
            "the perplexity of neutral text, line by line: exp of the mean negative log-likelihood of all tokens, per "
            "token and per byte"
        ),
        direction="the lower, the likelier the model finds the text",
        limits=(
            "says what a model has kept of the language of this text, and of nothing else; a text that was in the "
            "training data has a lower perplexity"
        ),
        source="Zhao et al. 2024, section 5, keep to one downstream task; perplexity is the usual cheaper check",
        headline="perplexity",
        by=(),
        better=dict.fromkeys(("perplexity", "nats_per_token", "byte_perplexity"), "lower"),
        quality=True,
        names={
            "perplexity": "Perplexity of neutral text",
            "nats_per_token": "Nats per token of neutral text",
            "byte_perplexity": "Perplexity per byte of neutral text",
        },
        main={"perplexity": {}},
    )
    needs: ClassVar[Needs] = Needs("lines")
    task = "lines"

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The seed and the resampling."""
        return {"seed": str(settings.seed), "interval": f"bootstrap of lines, {DRAWS:,} draws, expanded percentiles"}

    def figures(self, answers: pa.Table, settings: Settings | None) -> Measured:
        """Compute the figures from a table of lines with ``nll``, ``tokens`` and ``bytes``."""
        if not answers.num_rows:
            raise SelectionError("there is no line to measure")
        found: tuple[Figure, ...] = tuple(line_figures(answers, (settings or Settings()).seed))
        return Measured(found)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the perplexities, and the least likely lines."""
        return line_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change and the ratio of the perplexities, on the lines that both runs have."""
        return tuple(line_changes(first.answers, second.answers, Settings().seed))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change."""
        return (line_change_section(changes),)
