"""``holisticbias leaderboard``: the registry of results."""

from pathlib import Path
from typing import Literal

import click

from holisticbias.commands.options import output_format
from holisticbias.terminal import write, write_data
from holisticbias_eval.commands.shared import PATH, results_option


@click.command(short_help="Show the registry of results, or add a run to it.")
@results_option
@output_format("table", "md")
@click.option("--check", is_flag=True, help="List the problems of the registry; exit with 1 if there are any.")
@click.option("--add", "run", type=PATH, metavar="RUN", help="Write an entry for this run.")
@click.option("--contributor", help="With --add: the name of the person who made the run.")
@click.option("--name", help="With --add: the model's public name; needed if the model was a folder or a file.")
def command(
    results: Path | None, style: Literal["table", "md"], check: bool, run: Path | None, contributor: str | None,
    name: str | None,
) -> int:  # fmt: skip
    """Print the results of models on releases.

    Results are contributed by pull request. An entry holds one measure of a run over a published
    release, a named subset of it, or a part, which the title names; the model has a public name or a digest.
    """
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.report.leaderboard import print_leaderboard, render_leaderboard
    from holisticbias_eval.results.registry import published_digests, read_registry, read_valid, registry_folder

    if run is None and (contributor or name):
        raise click.UsageError("--contributor and --name need --add")
    if run and check:
        raise click.UsageError("--check and --add exclude each other: leave one out")
    if run:
        for path in _add(run, contributor, name, results):
            write(f"wrote {path}")
        return 0
    if check:
        _, problems = read_registry(results, published_digests(load_catalog()))
        for problem in problems:
            write(problem)
        return 1 if problems else 0
    entries = read_valid(results, load_catalog())
    if not entries:
        write(f"{registry_folder(results)} has no results: add a run with --add", err=True)
    if style == "md":
        write_data(render_leaderboard(entries), nl=False)
    else:
        print_leaderboard(entries)
    return 0


def _add(run: Path, contributor: str | None, name: str | None, results: Path | None) -> list[Path]:
    from datetime import UTC, datetime

    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.errors import RegistryError
    from holisticbias_eval.results.registry import add_entries, make_entries, published_digests, results_folder
    from holisticbias_eval.results.run import read_run

    if not contributor:
        raise RegistryError("say who made the run with --contributor")
    folder = results or results_folder()
    if folder is None:
        raise RegistryError(
            "entries live in evaluation/results of a clone of the repository, and this folder is not in a clone: "
            "run this in a clone, or name a folder with --results"
        )
    entries = make_entries(read_run(run), contributor, datetime.now(UTC).date().isoformat(), name)
    return add_entries(entries, folder, published_digests(load_catalog()))
