"""``holisticbias judge``: people compare the responses of two models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.packages import refuse_missing_packages
from holisticbias_eval.commands.report_output import (
    Style,
    out_option,
    part_option,
    refuse_part,
    show_report,
    style_option,
)

if TYPE_CHECKING:
    from holisticbias_eval.judgements.key import Key

_NONE = "none"


@click.group(short_help="Let people compare the responses of two models.")
def command() -> None:
    """Let people compare the responses of two models to the same prompts (Acute-Eval, Li et al. 2019).

    `make` writes a page for annotators and tasks for Label Studio; `analyse` reads the answers.
    """


@command.command(short_help="Make the page for annotators.")
@click.argument("first", type=click.Path(path_type=Path), metavar="RUN_A")
@click.argument("second", type=click.Path(path_type=Path), metavar="RUN_B")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--pairs", type=click.IntRange(1), default=100, show_default=True, help="Pairs of responses to show.")
@click.option(
    "--per-pair", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Annotators of each pair."
)
@click.option(
    "--sheets",
    type=click.IntRange(1, 500),
    help="Sheets among which the pairs are divided; each annotator answers one. Default: as many as --per-pair, with "
    "all pairs on each.",
)
@click.option("--catch", type=click.IntRange(0), default=4, show_default=True, help="Catch questions on each sheet.")
@click.option(
    "--ties", is_flag=True, help="Offer the choice 'No difference'. Without it annotators choose, as in the paper."
)
@click.option("--questions", default="acute-eval", show_default=True, help="Questions to ask: a name or a YAML file.")
@click.option(
    "--inflammatory",
    default="holisticbias",
    show_default=True,
    help=f"List of prompts not to show: a name, a YAML file, or '{_NONE}'.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Leave out texts whose probability of being offensive is at least this, if the runs have it.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of pairs, sides and order.")
def make(
    first: Path,
    second: Path,
    out: Path,
    pairs: int,
    per_pair: int,
    sheets: int | None,
    catch: int,
    ties: bool,
    questions: str,
    inflammatory: str,
    threshold: float,
    seed: int,
) -> None:
    """Match the responses of two runs by prompt, and make the files for annotators.

    RUN_A and RUN_B are runs with responses.parquet, or tables with prompt and response (.parquet, .csv, .jsonl). The
    folder gets page.html, which is all that an annotator needs, tasks.json and labelling-config.xml for Label Studio,
    and key.json, which says whose response stands on which side: keep it from annotators.
    """
    from holisticbias_eval.judgements.key import QUESTIONS
    from holisticbias_eval.judgements.matching import INFLAMMATORY, Filters
    from holisticbias_eval.judgements.report import unjudged
    from holisticbias_eval.judgements.sources import read_source
    from holisticbias_eval.judgements.study import PAGE, StudyDesign, make_study

    filters = Filters(None if inflammatory == _NONE else INFLAMMATORY.read(inflammatory), threshold)
    design = StudyDesign(pairs, per_pair, sheets or per_pair, catch, ties, seed)
    key = make_study((read_source(first), read_source(second)), QUESTIONS.read(questions), filters, design, out)
    write(f"A: {key.models[0].name}; B: {key.models[1].name}")
    write(f"{key.matched:,} pairs of responses to the same prompt")
    for name, count in key.left_out.items():
        write(f"  left out: {count:,} {name}")
    if missing := unjudged(key):
        write(missing)
    catches = sum(pair.catch for pair in key.pairs)
    write(f"{len(key.pairs) - catches:,} pairs, {catches:,} catch questions, sheets 1 to {key.sheets}")
    write(f"For annotators: {out / PAGE}. Keep key.json from them.")


@command.command(short_help="Analyse the answers of annotators.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR [FILE]...")
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="The study's key. Default: key.json in DIR.")
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="Leave out annotators who pass a smaller share of their catch questions.",
)
@click.option("--draws", type=click.IntRange(2), default=2000, show_default=True, help="Bootstrap draws of prompts.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@style_option
@part_option
@out_option
def analyse(
    paths: tuple[Path, ...],
    key_file: Path | None,
    least: float,
    draws: int,
    seed: int,
    style: Style,
    part: str | None,
    out: Path | None,
) -> None:
    """Analyse answers: how often each model is chosen, with tests, intervals and agreement.

    DIR is the folder that `make` has written; JSON files of answers in it are read. FILE is a file of answers that the
    page has saved, or a JSON export of Label Studio.
    """
    from holisticbias_eval.judgements.analysis import AnalysisSettings
    from holisticbias_eval.judgements.analysis import analyse as analysis_of
    from holisticbias_eval.judgements.answers import read_answers
    from holisticbias_eval.judgements.report import study_report

    refuse_part(part, style, out)
    refuse_missing_packages("corpus", "krippendorff", "statsmodels")
    key, files = _study(paths, key_file)
    settings = AnalysisSettings(least=least, draws=draws, seed=seed)
    analysis = analysis_of(read_answers(files, key), key, settings)
    report = study_report(analysis, key)
    show_report(analysis, report, style, part, out, what="Analysis")


def _study(paths: tuple[Path, ...], key_file: Path | None) -> tuple[Key, list[Path]]:
    """The key of a study, and the files of answers to it."""
    from holisticbias_eval.errors import JudgementsError
    from holisticbias_eval.judgements.answers import answer_files
    from holisticbias_eval.judgements.key import KEY, read_key

    folders = [path for path in paths if path.is_dir()]
    if key_file is None and len(folders) != 1:
        raise click.UsageError("name one folder that judge make has written, or its key.json with --key")
    key = read_key(key_file or folders[0] / KEY)
    files = [file for path in paths for file in (answer_files(path) if path.is_dir() else [path])]
    files = [file for file in dict.fromkeys(path.resolve() for path in files) if file.name != KEY]
    if not files:
        where = folders[0] if folders else "the list"
        raise JudgementsError(f"{where} has no file of answers: put them there as .json")
    return key, files
