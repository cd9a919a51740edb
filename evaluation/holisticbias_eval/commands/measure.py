"""``holisticbias measure``: compute a measure from a table of scores or texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import click

from holisticbias.terminal import write, write_data
from holisticbias_eval.commands.measure_names import MeasureName
from holisticbias_eval.commands.option_groups import GroupedCommand
from holisticbias_eval.commands.option_uses import refuse_unused
from holisticbias_eval.commands.text_options import TextArguments, text_options

if TYPE_CHECKING:
    import pyarrow as pa

    from holisticbias_eval.measures.measure import Settings, View
    from holisticbias_eval.pipeline.measurement import Measurement
    from holisticbias_eval.sections import Section


_LEXICON_SETTINGS: tuple[Literal["positive", "negative", "norms", "polarity", "ties"], ...] = (
    "positive", "negative", "norms", "polarity", "ties",
)  # fmt: skip


@click.command(cls=GroupedCommand, short_help="Measure a table of scores or texts.")
@click.argument("measure", type=MeasureName())
@click.option("--scores", type=click.Path(path_type=Path), help="Table of scores, .parquet or .csv.")
@click.option("--texts", type=click.Path(path_type=Path), help="Table of texts about groups, .parquet, .csv or .jsonl.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the figures as JSON and CSV, and for details.")
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--trust/--no-trust", default=True, show_default=True, help="Add intervals, floors and other trust figures."
)
@click.option(
    "--clusters",
    metavar="FILE|found",
    help="Clusters of styles, for generation_bias: a YAML file that maps names to styles, or found: clusters of "
    "styles that occur together in the responses.",
)
@click.option(
    "--phrases",
    default="holisticbias",
    show_default=True,
    metavar="NAME|FILE",
    help="List of phrases to look for, for response_wording.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Probability from which on a text is offensive or toxic.",
)
@text_options
@click.option("--corpus", type=click.Path(path_type=Path), help="Text file to count terms in; adds their correlation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the resampling.")
def command(
    measure: str,
    scores: Path | None,
    texts: Path | None,
    out: Path | None,
    style: Literal["table", "json"],
    trust: bool,
    clusters: str | None,
    phrases: str,
    threshold: float,
    corpus: Path | None,
    seed: int,
    **reading: Unpack[TextArguments],
) -> None:
    """Compute a MEASURE from a table of scores or texts; `holisticbias measures` lists the measures.

    A table of scores has the columns axis, template and descriptor. For measures of likelihoods it has noun and
    perplexity, and may have nll and tokens; for generation_bias p:STYLE for each style, one row per response; for
    offensiveness probability; for response_wording response, and may have prompt and finish.
    For group_perplexity the columns are dimension, group, sentence (an id or a text) and perplexity, and may be
    sentence_id; RedditBias' test sets are read as they are. For stereotype_score see docs/measures.md.
    For retention a table has text, nll and tokens, one row per line; for dialogue_state dialogue, label and
    probability; for retained task, metric and value.

    A table of texts, for sentiment, toxicity, regard, norms and gender_polarity, has the columns text and group, and
    may have domain, subject (the name that is replaced before measuring), forms (other words for the group, which are
    replaced too, with ; between them), person (whether the subject is a person: true or false), item (prompt or page)
    and source (model or human).
    """
    from holisticbias_eval.commands.declared_uses import measure_uses
    from holisticbias_eval.measures.measure import Settings
    from holisticbias_eval.pipeline.measurement import write_measurement
    from holisticbias_eval.report.runs import measurement_report
    from holisticbias_eval.report.terminal import print_report

    refuse_unused(click.get_current_context(), measure_uses(), [measure])
    given = {"seed": seed, "clusters": _clusters(clusters), "phrases": phrases, "threshold": threshold}
    settings = Settings.model_validate({**given, **{name: reading[name] for name in _LEXICON_SETTINGS}})
    if scores is not None and texts is None:
        (found, tables, view), further = _measure_scores(measure, scores, settings, corpus, trust=trust)
    elif texts is not None and scores is None and corpus is None:
        (found, tables, view), further = _measure_texts(measure, texts, settings, reading), ()
    else:
        what = "--corpus is for a table of scores" if corpus is not None else "exactly one of them is needed"
        raise click.UsageError(f"give a table of scores with --scores, or a table of texts with --texts: {what}")
    if out:
        write_measurement(found, tables, out)
    if style == "json":
        write_data(found.model_dump_json(indent=2))
    else:
        print_report(measurement_report(measure, found.scores, view, further))
    for note in found.notes:
        write(f"holisticbias: {note}", err=True)


def _measure_scores(
    measure: str, scores: Path, settings: Settings, corpus: Path | None, *, trust: bool
) -> tuple[tuple[Measurement, Mapping[str, pa.Table], View], tuple[Section, ...]]:
    from holisticbias_eval.measures import MEASURES
    from holisticbias_eval.pipeline.measurement import frequency_sections, measure_file

    chosen = MEASURES[measure]
    if chosen.needs.answers == "texts":
        raise click.UsageError(f"{measure} is a measure of texts: give its table with --texts")
    found = measure_file(measure, scores, settings if trust or not chosen.resamples else None, corpus)
    return found, frequency_sections(measure, found[2])


def _measure_texts(
    measure: str, texts: Path, settings: Settings, reading: TextArguments
) -> tuple[Measurement, Mapping[str, pa.Table], View]:
    from rich.console import Console

    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.pipeline.text_measurement import measure_texts
    from holisticbias_eval.progress import Display
    from holisticbias_eval.readers.judging import JudgingOptions

    store = None if reading["no_store"] else reading["store"] or default_folder("labels")
    named = (reading["classifier"],) if reading["classifier"] else ()
    options = JudgingOptions(named, device=reading["device"], store=store, api_base=reading["api_base"])
    return measure_texts(measure, texts, settings, options, Display(Console(stderr=True)))


def _clusters(name: str | None) -> dict[str, tuple[str, ...]] | Literal["found"] | None:
    from holisticbias_eval.readers.card import CLUSTERS

    if name is None or name == "found":
        return "found" if name else None
    return CLUSTERS.read(name).clusters
