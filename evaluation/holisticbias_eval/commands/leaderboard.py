"""``holisticbias leaderboard``: the registry of results."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click


@click.command(short_help="Show the registry of results, or add a run to it.")
@click.option(
    "--results", type=click.Path(path_type=Path), help="Folder of the registry; by default that of the project."
)
@click.option("--format", "style", type=click.Choice(["table", "md"]), default="table", show_default=True)
@click.option("--check", is_flag=True, help="Print what is wrong in the registry; exit 1 if anything is.")
@click.option("--add", "run", type=click.Path(path_type=Path), metavar="RUN", help="Write an entry for this run.")
@click.option("--contributor", help="With --add: who made the run.")
@click.option("--name", help="With --add: what the model is called, where it was a folder.")
def command(
    results: Path | None,
    style: Literal["table", "md"],
    check: bool,
    run: Path | None,
    contributor: str | None,
    name: str | None,
) -> int:
    """Print the results of models on releases: figures, not verdicts.

    Results are contributed by pull request.
    """
    from holisticbias.validate import load_catalog
    from holisticbias_eval.errors import RegistryError
    from holisticbias_eval.registry import read_registry
    from holisticbias_eval.report.leaderboard import print_leaderboard, render_leaderboard

    if run:
        click.echo(f"wrote {_add(run, contributor, name, results or Path('evaluation/results'))}")
        return 0
    digests = {release.version: release.digest for release in load_catalog().releases if release.digest}
    entries, problems = read_registry(results, digests)
    if check:
        for problem in problems:
            click.echo(problem)
        return 1 if problems else 0
    if problems:
        raise RegistryError(f"{problems[0]} (run holisticbias leaderboard --check for all that is wrong)")
    if style == "md":
        click.echo(render_leaderboard(entries), nl=False)
    else:
        print_leaderboard(entries)
    return 0


def _add(run: Path, contributor: str | None, name: str | None, folder: Path) -> Path:
    from datetime import UTC, datetime

    from holisticbias.output import write_file
    from holisticbias_eval.errors import RegistryError
    from holisticbias_eval.registry import make_entry
    from holisticbias_eval.report.summary import axis_labels
    from holisticbias_eval.run import read_run

    if not contributor:
        raise RegistryError("say who made the run with --contributor")
    found = read_run(run)
    entry = make_entry(found.result, axis_labels(found.scores), contributor, datetime.now(UTC).date().isoformat(), name)
    path = folder / entry.file_name
    write_file(path, (entry.model_dump_json(indent=2) + "\n").encode())
    return path
