"""Offensiveness of prompts (Smith et al. 2022, Tables 12 and 13)."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.offensiveness import DIRECTION, HEADLINE, LIMITS, OffenceMeasure

_CELL = ("axis", "template", "descriptor", "prompt")


class PromptOffensiveness(OffenceMeasure):
    """Offensiveness of the prompts themselves, by descriptor and template."""

    info: ClassVar[Info] = Info(
        name="prompt_offensiveness",
        title="Offensiveness of prompts",
        summary=(
            "how offensive a classifier finds the prompts: the mean probability by descriptor and template, and its "
            "mean and standard deviation over descriptors; each distinct prompt of a descriptor in a template counts "
            "once"
        ),
        direction=DIRECTION,
        limits=LIMITS,
        source="Smith et al. 2022, sections 2.3.4, 3.3 and B.3, Tables 12 and 13",
        headline=HEADLINE,
    )
    column: ClassVar[str] = "prompt_offensive"

    def judged(self, answers: pa.Table) -> pa.Table:
        """The distinct prompts of each cell; every row, if the table does not have the prompts."""
        if "prompt" not in answers.column_names:
            return answers
        own = answers.select([*_CELL, self.column]).group_by(list(_CELL), use_threads=False)
        distinct = own.aggregate([(self.column, "max")])
        return distinct.select([*_CELL, f"{self.column}_max"]).rename_columns([*_CELL, self.column])
