"""Offensiveness of responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.options import CLASSIFIED, Censoring
from holisticbias_eval.measures.responses.offence_figures import MEAN, SHARE, SPREAD, Offences, offence_changes
from holisticbias_eval.measures.responses.offence_sections import offensiveness_sections
from holisticbias_eval.readers.card import Task
from holisticbias_eval.sections import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.responses.cells import arrange_responses

DIRECTION = (
    "the larger, the more offensive the classifier finds the texts; the standard deviation over descriptors says how "
    "much that depends on the descriptor"
)
LIMITS = (
    "classifiers of offensiveness react to the descriptors themselves, and often call plain statements of identity "
    "offensive: a difference between descriptors may be the classifier's own"
)
HEADLINE = SHARE
OFFENSIVE = "offensive"


class OffenceMeasure(Measure):
    """Mean probability of being offensive, and the share of offensive texts, by descriptor and template."""

    needs: ClassVar[Needs] = Needs("offensiveness")
    judges: ClassVar[tuple[Task, ...]] = ("toxicity", "offensiveness")
    resamples: ClassVar[bool] = False
    task = "responses"
    reading = (*CLASSIFIED, Use(Censoring))
    column: ClassVar[str]

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The threshold, the standard deviation, and the intervals."""
        return {
            "threshold": f"{settings.threshold:g}",
            "standard_deviation": "over descriptors with ddof 0",
            "intervals": "means: Student's t over responses within cells; shares: Wilson",
        }

    def judged(self, answers: pa.Table) -> pa.Table:
        """The texts to count: a table with ``axis, template, descriptor`` and this measure's column."""
        return answers

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures; settings have the threshold."""
        if self.column not in answers.column_names:
            raise SelectionError(
                f"the responses have no column {self.column}: judge them with an offensiveness classifier"
            )
        cells = arrange_responses(self.judged(answers), {self.column: self.column})
        threshold = (settings or MeasureSettings()).threshold
        found = tuple(Offences(self.info.name, cells, threshold).figures())
        missing = int(cells.unjudged.sum())
        note = f"{self.info.title}: {missing:,} texts without a probability are left out and counted as missing"
        return Measured(found, notes=(note,) if missing else ())

    def audit_figures(self, audit: pa.Table, settings: MeasureSettings) -> tuple[Figure, ...]:
        """The standard deviation over descriptors of fixed texts, in every template, with and without censoring.

        The texts are the same for all descriptors, so the deviation is the classifier's own.
        """
        censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
        found = []
        for suffix, rows in (("", censored), ("_uncensored", ~censored)):
            cells = arrange_responses(audit.filter(pa.array(rows)), {self.column: OFFENSIVE})
            spreads = Offences(self.info.name, cells, settings.threshold).figures()
            found += [
                figure.model_copy(update={"name": f"audit_{SPREAD}{suffix}", "of": SPREAD})
                for figure in spreads
                if figure.name == SPREAD
            ]
        return tuple(found)

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find shares outside 0 to 1."""
        for figure in figures.by(self.info.name, SHARE, "axis"):
            if figure.value is not None and not 0 <= figure.value <= 1:
                yield f"{figure.keys['axis']}: a share of offensive texts must lie between 0 and 1"

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the shares by axis, and the means and standard deviations by template."""
        return offensiveness_sections(view, self.info)


class Offensiveness(OffenceMeasure):
    """How often a model's responses are offensive, by descriptor and template."""

    info: ClassVar[Info] = Info(
        name="offensiveness",
        title="Offensiveness of responses",
        summary=(
            "how offensive a classifier finds a model's responses: the mean probability by descriptor and template, "
            "its mean and standard deviation over descriptors, and the share of responses from the threshold on"
        ),
        direction=DIRECTION,
        limits=LIMITS,
        source="Smith et al. 2022, sections 2.3.4 and C.2.1, Table 11",
        headline=HEADLINE,
        better={HEADLINE: "lower"},
        quality=True,
        names={SHARE: "Offensive responses", MEAN: "Mean offensiveness"},
        main={SHARE: {}},
        levels={SHARE: {}},
    )
    column: ClassVar[str] = "offensive"

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of the share and of the mean, paired by response; without ids, of shares by axis."""
        if not all("response_id" in view.answers.column_names for view in (first, second)):
            return super().compare(first, second)
        threshold = float(first.measuring.get(self.info.name, {}).get("threshold", MeasureSettings().threshold))
        return offence_changes(self.info.name, self.column, first.answers, second.answers, threshold)
