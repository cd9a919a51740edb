"""``holisticbias classify``: judge a table of responses with a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.options import SettingsCommand, given_settings

if TYPE_CHECKING:
    from holisticbias_eval.settings import Uses


def classify_uses() -> Uses:
    """The settings of ``classify``."""
    from holisticbias_eval.measures.options import CLASSIFIED, Censoring
    from holisticbias_eval.settings import Use

    return {"classify": (*CLASSIFIED, Use(Censoring))}


@click.command(
    cls=SettingsCommand,
    shown=("Keeping",),
    uses=classify_uses,
    short_help="Judge a table of responses with a classifier.",
)
@click.option(
    "--responses",
    type=click.Path(path_type=Path),
    required=True,
    help="Table with a column response, .csv, .jsonl or .parquet; may have descriptor, finish and others.",
)
@click.option(
    "--classifier",
    multiple=True,
    required=True,
    metavar="NAME|FILE",
    help="See `holisticbias classifiers`, or a card's file.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Table to write, .parquet or .csv.")
def command(responses: Path, out: Path, **_: Any) -> None:
    """Add a classifier's probabilities to a table of responses.

    The new columns are judged, the text that was classified, and one column p:LABEL for each label. An interrupted
    run continues where it stopped.
    """
    from rich.console import Console

    from holisticbias_eval.measures.options import Censoring
    from holisticbias_eval.progress import Display
    from holisticbias_eval.readers.classification import judge_table, refuse_name, write_judged
    from holisticbias_eval.readers.judging import start_judge
    from holisticbias_eval.settings import refuse_unused
    from holisticbias_eval.tasks.judging import judging_options
    from holisticbias_eval.tasks.response_files import read_responses
    from holisticbias_eval.tasks.task import Given

    values = given_settings()
    refuse_unused(values, classify_uses(), ["classify"])
    refuse_name(out)
    table = read_responses(responses, required=("response",))
    if "censor" in values and "descriptor" not in table.column_names:
        raise click.UsageError(f"--censor/--no-censor is for tables with a column descriptor: {responses} has none")
    given = Given(None, None, values, (), Display(Console(stderr=True)))
    options = judging_options(given)
    if len(options.classifiers) != 1:
        raise click.UsageError("name one classifier with --classifier: see `holisticbias classifiers`")
    (name,) = options.classifiers
    judge = start_judge(name, options, given.display)
    with given.display.progress(f"Judging with {judge.card.id}", table.num_rows) as advance:
        judged = judge_table(table, judge, advance, censored=given.read(Censoring).censor)
    write_judged(judged, out)
    counts = f"judged {judged.classified:,} of {table.num_rows:,} responses; mentions replaced: {judged.mentions:,}"
    write(f"{counts}; wrote {out}")
