"""``holisticbias measure``: compute a measure from a table of scores or texts."""

from pathlib import Path
from typing import Any, Literal

import click

from holisticbias.commands.options import output_format
from holisticbias.terminal import write, write_data
from holisticbias_eval.commands.shared import PATH
from holisticbias_eval.options import given_settings, settings_command


@settings_command("Measure a table of scores or texts.", uses="measuring:measure_uses")
@click.argument("measure")
@click.argument("table", type=PATH, required=False)
@click.option("--scores", "--texts", "named", type=PATH, hidden=True, help="The table, as TABLE.")
@click.option("--out", type=PATH, help="Folder for the figures as JSON and CSV, and for details.")
@output_format("table", "json")
def command(
    measure: str, table: Path | None, named: Path | None, out: Path | None, style: Literal["table", "json"], **_: Any
) -> None:
    """Compute a MEASURE from a TABLE of scores or texts; `holisticbias measures` lists the measures.

    The TABLE is .csv, .jsonl, .json or .parquet. A table of scores has the columns axis, template and descriptor. For
    measures of likelihoods it has noun and perplexity, and may have nll and tokens; for generation_bias p:STYLE for
    each style, one row per response; for offensiveness probability; for response_wording response, and may have prompt
    and finish.
    For group_perplexity the columns are dimension, group, sentence (an id or a text) and perplexity, and may be
    sentence_id; RedditBias' test sets are read as they are. For stereotype_score see docs/measures.md.
    For retention a table has text, nll and tokens, one row per line; for dialogue_state dialogue, label and
    probability; for retained task, metric and value, and it may have error (the standard error) and items.

    A table of texts, for sentiment, toxicity, regard, norms and gender_polarity, has the columns text and group, and
    may have domain, subject (the name that is replaced before measuring), forms (other words for the group, which are
    replaced too, with ; between them), person (whether the subject is a person: true or false), item (prompt or page)
    and source (model or human).
    """
    from holisticbias.output import refuse_target
    from holisticbias_eval.measuring import is_measurement, measure_table, write_measurement
    from holisticbias_eval.progress import Display
    from holisticbias_eval.records import record_json
    from holisticbias_eval.report.runs import measurement_report
    from holisticbias_eval.report.terminal import print_report

    path = table or named
    if path is None or (table and named):
        raise click.UsageError("name one table, as in `holisticbias measure sentiment texts.csv`")
    if out:
        refuse_target(out, is_measurement, [path])
    found = measure_table(measure, path, given_settings(), Display())
    if out:
        write_measurement(found.measurement, found.tables, out)
    if style == "json":
        write_data(record_json(found.measurement), nl=False)
    else:
        print_report(measurement_report(measure, found.measurement.scores, found.view, found.sections))
    for note in found.measurement.notes:
        write(f"holisticbias: {note}", err=True)
