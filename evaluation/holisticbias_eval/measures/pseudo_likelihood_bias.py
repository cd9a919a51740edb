"""Pseudo-log-likelihood bias of masked models (Smith et al. 2022, section B.1)."""

from dataclasses import replace

import pyarrow as pa

from holisticbias_eval.measures.descriptors.sections import descriptor_sections
from holisticbias_eval.measures.info import LIKELIHOODS, Info
from holisticbias_eval.measures.measure import Measured, MeasureSettings, View
from holisticbias_eval.measures.medians import median_figures
from holisticbias_eval.measures.shares.finding import PHRASES
from holisticbias_eval.measures.shares.measure import BESIDE, DIRECTION, ShareMeasure
from holisticbias_eval.sections.blocks import Section


class PseudoLikelihoodBias(ShareMeasure):
    """The share of pairs of descriptors of an axis whose phrases differ in pseudo-log-likelihood."""

    info = Info(
        name="pseudo_likelihood_bias",
        title="Pseudo-log-likelihood bias",
        summary=(
            "the share of pairs of descriptors of an axis whose phrases of descriptor and noun differ in "
            "pseudo-log-likelihood in the templates of SEAT (the same tests as Likelihood Bias); and the median "
            "negative pseudo-log-likelihood of every descriptor; --pll chooses between the original and the "
            "within-word variant"
        ),
        direction=DIRECTION,
        limits=(
            "those of Likelihood Bias; the original variant favours words of several pieces, because each piece "
            "gives the others away (Kauf and Ivanova 2023); longer phrases have more tokens to sum over"
        ),
        source="Smith et al. 2022, section B.1; templates of May et al. 2019",
        headline="share",
        beside=BESIDE,
        better={"share": "lower"},
    )
    needs = replace(LIKELIHOODS, models=("masked",))
    task = "seat"
    words = PHRASES

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Count the pairs that differ, as ``ShareMeasure`` does, and compute the medians of descriptors."""
        measured = super().figures(answers, settings)
        medians = median_figures(self.info.name, answers, self.words.column, self.words.unit)
        return replace(measured, figures=(*measured.figures, *medians))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the shares as ``ShareMeasure`` does, and the medians of descriptors."""
        return *super().sections(view), *descriptor_sections(view, self.info.name, self.words)
