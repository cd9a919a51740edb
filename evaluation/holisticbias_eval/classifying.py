"""Judge a table of responses with a classifier."""

import json
from pathlib import Path

from holisticbias.output import refuse_file
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.options import CLASSIFIED, Censoring
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import JudgedTable, judge_table, start_judge
from holisticbias_eval.settings import Use, Uses, Values, refuse_unused
from holisticbias_eval.tables.written import FORMS, form_of, write_table
from holisticbias_eval.tasks.judging import judging_options
from holisticbias_eval.tasks.response_files import read_responses
from holisticbias_eval.tasks.task import Given

USES: Uses = {"classify": (*CLASSIFIED, Use(Censoring))}
"""The settings of a classification."""
SETTINGS = b"holisticbias.classification"
"""The key of a Parquet file's metadata that holds the settings, as JSON."""


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
    with display.progress(f"Classifying with {judge.card.id}", table.num_rows) as advance:
        return judge_table(table, judge, advance, censored=given.read(Censoring).censor)


def write_judged(judged: JudgedTable, path: Path) -> None:
    """Write a judged table, whole or not at all; Parquet holds the settings as metadata. See ``write_table``."""
    write_table(judged.table, path, {SETTINGS: json.dumps(dict(judged.settings))})


def refuse_name(path: Path, responses: Path) -> None:
    """Raise ``OutputError`` if a table made of responses cannot be written under this name."""
    form_of(path, *FORMS)
    refuse_file(path, [responses])
