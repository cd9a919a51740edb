"""Offensiveness of prompts (Smith et al. 2022, Tables 12 and 13)."""

import pyarrow as pa

from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.offensiveness import DIRECTION, LIMITS, OffenceMeasure
from holisticbias_eval.measures.responses.offence_sections import SHARE
from holisticbias_eval.statistics.responses.cells import descriptor_column


class PromptOffensiveness(OffenceMeasure):
    """Offensiveness of the prompts themselves, by descriptor and template."""

    info = Info(
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
        headline=SHARE,
    )
    column = "prompt_offensive"
    text = "prompt"

    def judged(self, answers: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
        """The distinct prompts of each cell; every row, if the table does not have the prompts."""
        if "prompt" not in answers.column_names:
            return answers, ()
        cell = list(dict.fromkeys(("axis", "template", "descriptor", descriptor_column(answers), "prompt")))
        distinct = answers.group_by(cell, use_threads=False).aggregate([(self.column, "max")])
        return distinct.rename_columns({f"{self.column}_max": self.column}), ()
