"""``holisticbias judge``: people compare the responses of two models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands import shared
from holisticbias_eval.options import SettingsCommand, read_own

if TYPE_CHECKING:
    from holisticbias_eval.judgements.key import Key


@click.group(short_help="Let people compare the responses of two models.")
def command() -> None:
    """Let people compare the responses of two models to the same prompts (Acute-Eval, Li et al. 2019).

    `make` writes a page for annotators and tasks for Label Studio; `analyse` reads the answers.
    """


@command.command(
    cls=SettingsCommand, shown=("judgements.settings:StudySettings",), short_help="Make the page for annotators."
)
@click.argument("first", type=shared.PATH, metavar="RUN_A")
@click.argument("second", type=shared.PATH, metavar="RUN_B")
@shared.out_folder
def make(first: Path, second: Path, out: Path, **_: Any) -> None:
    """Match the responses of two runs by prompt, and make the files for annotators.

    RUN_A and RUN_B are runs with responses.parquet, or tables with prompt and response (.parquet, .csv, .jsonl). The
    folder gets page.html, which is all that an annotator needs, tasks.json and labelling-config.xml for Label Studio,
    and key.json, which says whose response stands on which side: keep it from annotators.
    """
    from holisticbias_eval.judgements.matching import read_source
    from holisticbias_eval.judgements.report import unjudged
    from holisticbias_eval.judgements.settings import StudySettings
    from holisticbias_eval.judgements.study import PAGE, make_study

    key = make_study((read_source(first), read_source(second)), read_own(StudySettings), out)
    write(f"A: {key.models[0].name}; B: {key.models[1].name}")
    write(f"{counted(key.matched, 'pairs')} of responses to the same prompt")
    for name, count in key.left_out.items():
        write(f"  left out, {name}: {count:,}")
    if missing := unjudged(key):
        write(missing)
    catches = sum(pair.catch for pair in key.pairs)
    write(
        f"{counted(len(key.pairs) - catches, 'pairs')}, {counted(catches, 'catch questions')}, sheets 1 to {key.sheets}"
    )
    write(f"For annotators: {out / PAGE}. Keep key.json from them.")


@command.command(
    cls=SettingsCommand,
    shown=("judgements.settings:AnalysisSettings",),
    short_help="Analyse the answers of annotators.",
)
@click.argument("paths", nargs=-1, required=True, type=shared.PATH, metavar="FOLDER [FILE]...")
@click.option("--key", "key_file", type=shared.PATH, help="The study's key. Default: key.json in FOLDER.")
@shared.style_option
@shared.part_option
@shared.out_option
def analyse(
    paths: tuple[Path, ...], key_file: Path | None, style: shared.Style, part: str | None, out: Path | None, **_: Any
) -> None:
    """Analyse answers: how often each model is chosen, with tests, intervals and agreement.

    FOLDER is the folder that `make` has written; JSON files of answers in it are read. FILE is a file of answers that
    the page has saved, or a JSON export of Label Studio.
    """
    from holisticbias_eval.judgements.analysis import analyse as analysis_of
    from holisticbias_eval.judgements.answers import read_answers
    from holisticbias_eval.judgements.report import study_report
    from holisticbias_eval.judgements.settings import AnalysisSettings

    shared.refuse_part(part, style, out)
    shared.refuse_missing_packages("corpus", "krippendorff", "statsmodels")
    key, files = _study(paths, key_file, out)
    analysis = analysis_of(read_answers(files, key), key, read_own(AnalysisSettings))
    report = study_report(analysis, key)
    shared.show_report(analysis, report, style, part, out, what="Analysis")


def _study(paths: tuple[Path, ...], key_file: Path | None, out: Path | None) -> tuple[Key, dict[Path, Any]]:
    """The key of a study, and the contents of the files of answers to it, none of which may be ``out``."""
    from holisticbias.output import refuse_file
    from holisticbias_eval.errors import JudgementsError
    from holisticbias_eval.judgements.answers import answer_files
    from holisticbias_eval.judgements.key import KEY, read_key

    folders = [path for path in paths if path.is_dir()]
    if key_file is None and len(folders) != 1:
        raise click.UsageError("name one folder that judge make has written, or its key.json with --key")
    key_file = key_file or folders[0] / KEY
    key = read_key(key_file)
    files = answer_files(paths)
    if not files:
        where = folders[0] if folders else "the list"
        raise JudgementsError(f"{where} has no file of answers: put them there as .json")
    if out:
        refuse_file(out, [key_file, *files])
    return key, files
