"""``holisticbias classify``: judge a table of responses with a classifier."""

from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH
from holisticbias_eval.options import given_settings, settings_command


@settings_command("Judge a table of responses with a classifier.", "Keeping", uses="classifying:USES")
@click.option(
    "--responses",
    type=PATH,
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
@click.option("--out", type=PATH, required=True, help="Table to write, .parquet, .csv or .jsonl.")
def command(responses: Path, out: Path, **_: Any) -> None:
    """Add a classifier's probabilities to a table of responses.

    The new columns are judged, the text that was classified, and one column p:LABEL for each label. An interrupted
    run continues where it stopped.
    """
    from holisticbias_eval.classifying import classify, refuse_name, write_judged
    from holisticbias_eval.progress import Display

    refuse_name(out, responses)
    judged = classify(responses, given_settings(), Display())
    write_judged(judged, out)
    counts = f"{judged.classified:,} of {judged.table.num_rows:,} responses; mentions replaced: {judged.mentions:,}"
    write(f"judged {counts}; wrote {out}")
