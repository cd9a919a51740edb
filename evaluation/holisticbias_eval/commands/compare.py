"""``holisticbias compare``: compare runs, or models with several runs each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias_eval.commands import shared

if TYPE_CHECKING:
    from pydantic import BaseModel

    from holisticbias_eval.results.gains import Aim


@click.command(short_help="Compare two runs, or a model before and after a mitigation.")
@click.argument("before", type=shared.PATH, metavar="A")
@click.argument("after", nargs=-1, type=shared.PATH, metavar="[B]...")
@shared.style_option
@shared.part_option
@click.option(
    "--aim",
    metavar="MEASURE[,KEY=VALUE]",
    help="The figures that a mitigation aims at, which stand first. Default: those of mitigation.json.",
)
@shared.out_option
def command(
    before: Path, after: tuple[Path, ...], style: shared.Style, part: str | None, aim: str | None, out: Path | None
) -> None:
    """Compare B with A, paired on the sentences or prompts that both have.

    A and B are runs, folders that hold several runs, or folders of mitigated models, whose runs after the mitigation
    are taken. With several B, each is compared with A. A alone must be the folder of a mitigated model, or a folder of
    several: its runs before are compared with those after.

    The page begins with gains and costs: every headline figure, its change with an interval and a p-value, and whether
    that is in the figure's direction. Then come the sections of each measure. The change of Likelihood Bias is split
    into parts due to the sentences (gone, changed, added) and a part due to the model.
    """
    shared.refuse_part(part, style, out)
    from holisticbias.output import refuse_file
    from holisticbias_eval.progress import Display
    from holisticbias_eval.report.runs import comparison_report, sets_report
    from holisticbias_eval.results.compare import compare_runs, read_two_runs
    from holisticbias_eval.results.run import RESULT
    from holisticbias_eval.results.run_sets import aims_of, find_sets, titles_of

    aims, sets, display = _read_aim(aim), find_sets((before, *after)), Display()
    if out:
        refuse_file(out, [run / RESULT for found in sets for run in found.runs.values()])
    compared: BaseModel
    if len(sets) == 2 and all(found.is_single for found in sets):
        one, other = read_two_runs(sets[0].runs[""], sets[1].runs[""])
        compared = comparison = compare_runs(one, other)
        if aims and "model" not in comparison.differs:
            raise click.UsageError("--aim is for runs of two models: here it has no effect, so leave it out")
        report = comparison_report(comparison, one, other, aims_of(sets, aims), titles_of(sets))
    else:
        compared, report = sets_report(sets, aims, lambda name: display.notice(f"Comparing {name}"))
    shared.show_report(compared, report, style, part, out, what="Comparison")


def _read_aim(text: str | None) -> tuple[Aim, ...]:
    from holisticbias_eval.measures import find_measure
    from holisticbias_eval.results.gains import Aim

    if text is None:
        return ()
    measure, *keys = (part.strip() for part in text.split(","))
    find_measure(measure)
    if not all("=" in key for key in keys):
        raise click.UsageError("--aim: write keys as KEY=VALUE, as in group_perplexity,dimension=religion")
    return (Aim(measure=measure, keys={key: value for key, _, value in (k.partition("=") for k in keys)}),)
