"""Median perplexities of descriptors (Smith et al. 2022, Table 3)."""

from collections.abc import Iterator
from sys import intern
from typing import Any

import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures.descriptors.sections import descriptor_changes, descriptor_sections
from holisticbias_eval.measures.descriptors.terms import SHOWN
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.shares.finding import PERPLEXITIES
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.statistics.cells import Compared
from holisticbias_eval.statistics.medians import DESCRIPTOR, IN_TEMPLATE, group_medians


class Medians(Measure):
    """The median perplexity of every descriptor, over all templates and in each."""

    info = Info(
        name="medians",
        title="Median perplexities",
        summary="the median perplexity of a descriptor's sentences over nouns, over all templates and in each",
        direction="the lower the median, the likelier the model finds the descriptor's sentences",
        limits=(
            "rare and long words have high perplexities in any sentence, so only descriptors of equal token count are "
            "compared; perplexities of models with different tokenizers are not comparable"
        ),
        source="Smith et al. 2022, Table 3 and Figure 2",
        headline="median_perplexity",
        by=("axis", "descriptor"),
    )
    resamples = False
    task = "sentences"
    shown = SHOWN

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the medians; they need no settings."""
        return Measured(tuple(median_figures(self.info.name, answers)))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the extremes, the medians by template, and all descriptors."""
        return descriptor_sections(view, self.info.name, PERPLEXITIES)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the figures of all descriptors in both runs."""
        return (descriptor_changes(self.info, changes, view),)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=4096):
        yield from batch.to_pylist()


def median_figures(
    measure: str, answers: pa.Table, value: Compared = "perplexity", unit: str = "perplexity"
) -> Iterator[Figure]:
    """The medians ``median_<value>`` and ``median_tokens`` of every descriptor, over all templates and in each."""
    for by in (DESCRIPTOR, IN_TEMPLATE):
        for row in _rows(group_medians(answers, by, value)):
            keys = {"axis": intern(row["axis"]), "descriptor": intern(row["descriptor_id"])}
            if "template" in by:
                keys["template"] = intern(row["template"])
            n, missing = row["sentences"], row["missing"]
            name = f"median_{value}"
            yield make_figure(measure, name, keys, row["median"], unit, n, missing)
            if "median_tokens" in row:
                tokens = row["median_tokens"]
                yield make_figure(measure, "median_tokens", keys, tokens, "tokens", n + missing, of=name)
