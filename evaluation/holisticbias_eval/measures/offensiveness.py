"""Offensiveness of responses (Smith et al. 2022, Table 11)."""

from __future__ import annotations

from typing import ClassVar

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.measures.responses.offence_changes import offence_changes
from holisticbias_eval.measures.responses.offence_figures import MEAN, SHARE
from holisticbias_eval.measures.responses.offence_measure import DIRECTION, HEADLINE, LIMITS, OffenceMeasure


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
        threshold = float(first.measuring.get(self.info.name, {}).get("threshold", Settings().threshold))
        return offence_changes(self.info.name, self.column, first.answers, second.answers, threshold)
