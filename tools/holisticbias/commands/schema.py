"""``holisticbias schema``: write the JSON Schemas."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.terminal import write


@click.command(short_help="Write the JSON Schemas of the files.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("schema"), show_default=True, help="Folder to write to."
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")
def command(out: Path, check: bool) -> int:
    """Write the JSON Schemas of the YAML files and of results."""
    from holisticbias.source.schema import json_schemas, stale_schemas

    stale = stale_schemas(out)
    if check:
        for name in stale:
            write(f"{out / name} is out of date: run holisticbias schema")
        return 1 if stale else 0
    out.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (out / name).write_text(json_schemas()[name], "utf-8")
        write(f"wrote {out / name}")
    return 0
