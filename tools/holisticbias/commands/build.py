"""``holisticbias build``: compile a version into a release folder."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import counted, refuse_unused, write


@click.command()
@click.option("--version", help="Version to build; by default the newest published.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write the release to.")
@click.option("--small", is_flag=True, help="Only the 100 descriptors of subsets/small.yaml.")
@click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE,...",
    help="Only entries with one of the values; KEY is axis, bucket, preference, gender, family or first_turn_only.",
)
@click.option("--intersections", metavar="AXES", help="Sentences with two descriptors: 'ability x age', or 'all' axes.")
@click.option(
    "--sample", type=click.IntRange(min=1), help="Sample this many intersections, spread evenly over the pairs."
)
@click.option("--seed", type=int, help="Seed of the sample; by default 0.")
@click.option("--count", is_flag=True, help="Count the intersections and stop.")
@options.source
def command(
    version: str | None,
    out: Path | None,
    small: bool,
    where: tuple[str, ...],
    intersections: str | None,
    sample: int | None,
    seed: int | None,
    count: bool,
    source: Path | None,
) -> None:
    """Compile a version into a release that Hugging Face datasets loads."""
    _check(out, small=small, intersections=intersections, sample=sample, seed=seed, count=count)
    from holisticbias.compile.counts import render_counts
    from holisticbias.release.build import build_release, newest_version, write_release
    from holisticbias.release.source_commit import source_commit
    from holisticbias.rules.validate import collector_paused, load_catalog
    from holisticbias.source.folder import NAMES, find_source

    with collector_paused():  # also while the catalog is compiled
        root = source or find_source()
        catalog = load_catalog(root)
        version = newest_version(catalog) if version is None else version
        withdrawal = catalog.withdrawal(version)
        if withdrawal is not None:
            write(f"warning: {withdrawal}", err=True)
        commit = source_commit(root, NAMES)
        counts = ""
        if intersections is not None:
            from holisticbias.release.intersections import Request, count_intersections, write_intersections

            request = Request(version, intersections, sample, seed or 0, where, commit)
            if count:
                pairs, sentences = count_intersections(catalog, request)
                found = f"{counted(pairs, 'pairs')}, {counted(sentences, 'sentences')}"
                write(f"HolisticBias {version}, intersections {intersections}: {found}")
                return
            manifest = write_intersections(catalog, request, out or Path())
        else:
            release = build_release(catalog, version, "small" if small else None, where, commit)
            manifest = write_release(release, out or Path())
            counts = f"\n\n{render_counts(release.counts)}"
        rows = ", ".join(counted(table.rows, name) for name, table in manifest.tables.items())
        part = f" ({manifest.part})" if manifest.part else ""
        write(f"{out}: HolisticBias {manifest.version}{part}, {rows}; digest {manifest.digest}{counts}")


def _check(
    out: Path | None, *, small: bool, intersections: str | None, sample: int | None, seed: int | None, count: bool
) -> None:

    if intersections is None and (sample is not None or count):
        raise click.UsageError("--sample and --count need --intersections")
    if count:
        refuse_unused(("out", "sample", "seed"), "with --count")
    if seed is not None and sample is None:
        raise click.UsageError("--seed needs --sample")
    if small and intersections is not None:
        raise click.UsageError("--small cannot be combined with --intersections: use --where")
    if out is None and not count:
        raise click.UsageError("Missing option '--out'.")
