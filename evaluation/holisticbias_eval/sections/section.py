"""A section: paragraphs, tables and charts under one heading."""

from dataclasses import dataclass

from holisticbias_eval.sections.charts import Chart
from holisticbias_eval.sections.tables import Paragraph, Table

Block = Paragraph | Table | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. Details are folded on the page and left out in the terminal.

    Without ``in_terminal`` a section is shown everywhere but in the terminal.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    detail: bool = False
    in_terminal: bool = True

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Its charts."""
        return tuple(block for block in self.blocks if isinstance(block, Chart))
