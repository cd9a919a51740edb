"""Judge a table of responses with a classifier."""

from __future__ import annotations

from pathlib import Path

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.options import CLASSIFIED, Censoring
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.classification import JudgedTable, judge_table
from holisticbias_eval.readers.judging import start_judge
from holisticbias_eval.settings import Use, Uses, Values, refuse_unused
from holisticbias_eval.tasks.judging import judging_options
from holisticbias_eval.tasks.response_files import read_responses
from holisticbias_eval.tasks.task import Given

USES: Uses = {"classify": (*CLASSIFIED, Use(Censoring))}
"""The settings of a classification."""


def classify(responses: Path, values: Values, display: Display) -> JudgedTable:
    """Judge the column ``response`` of a table, .csv, .jsonl or .parquet; see ``judge_table``.

    Raises ``EvaluationError`` for a setting that has no effect, and unless one classifier is named.
    """
    refuse_unused(values, USES, ["classify"])
    table = read_responses(responses, required=("response",))
    if "censor" in values and "descriptor" not in table.column_names:
        raise EvaluationError(f"--censor/--no-censor is for tables with a column descriptor: {responses} has none")
    given = Given(None, None, values, (), display)
    options = judging_options(given)
    if len(options.classifiers) != 1:
        raise EvaluationError("name one classifier with --classifier: see `holisticbias classifiers`")
    (name,) = options.classifiers
    judge = start_judge(name, options, display)
    with display.progress(f"Judging with {judge.card.id}", table.num_rows) as advance:
        return judge_table(table, judge, advance, censored=given.read(Censoring).censor)
