"""``holisticbias classify``: judge a table of responses with a classifier."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from holisticbias.terminal import write
from holisticbias_eval.commands.option_uses import refuse_unused


@click.command(short_help="Judge a table of responses with a classifier.")
@click.option(
    "--responses",
    type=click.Path(path_type=Path),
    required=True,
    help="Table with a column response, .csv, .jsonl or .parquet; may have descriptor, finish and others.",
)
@click.option(
    "--classifier", "name", required=True, metavar="NAME|FILE", help="See `holisticbias classifiers`, or a card's file."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Table to write, .parquet or .csv.")
@click.option(
    "--censor/--no-censor",
    default=True,
    show_default=True,
    help="Replace mentions of the column descriptor before judging.",
)
@click.option("--device", default="auto", show_default=True, help="torch device, such as cpu or cuda:1.")
@click.option("--api-base", metavar="URL", help="For a chat model: address of its server.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps probabilities between runs. Default: the folder labels in $HOLISTICBIAS_CACHE or "
    "~/.cache/holisticbias.",
)
@click.option("--no-store", is_flag=True, help="Judge everything again, and keep nothing.")
def command(
    responses: Path,
    name: str,
    out: Path,
    censor: bool,
    device: str,
    api_base: str | None,
    store: Path | None,
    no_store: bool,
) -> None:
    """Add a classifier's probabilities to a table of responses.

    The new columns are judged, the text that was classified, and one column p:LABEL for each label. An interrupted
    run continues where it stopped.
    """
    from rich.console import Console

    from holisticbias_eval.commands.declared_uses import classify_uses
    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.pipeline.response_files import read_responses
    from holisticbias_eval.progress import Display
    from holisticbias_eval.readers.classification import judge_table, refuse_name, write_judged
    from holisticbias_eval.readers.judging import JudgingOptions, start_judge

    refuse_unused(click.get_current_context(), classify_uses())
    refuse_name(out)
    table = read_responses(responses, required=("response",))
    given = click.get_current_context().get_parameter_source("censor") is ParameterSource.COMMANDLINE
    if given and "descriptor" not in table.column_names:
        raise click.UsageError(f"--censor/--no-censor is for tables with a column descriptor: {responses} has none")
    display = Display(Console(stderr=True))
    kept = None if no_store else store or default_folder("labels")
    judge = start_judge(name, JudgingOptions(device=device, store=kept, api_base=api_base), display)
    with display.progress(f"Judging with {judge.card.id}", table.num_rows) as advance:
        judged = judge_table(table, judge, advance, censored=censor)
    write_judged(judged, out)
    counts = f"judged {judged.classified:,} of {table.num_rows:,} responses; mentions replaced: {judged.mentions:,}"
    write(f"{counts}; wrote {out}")
