"""``holisticbias schema``: write the JSON Schemas."""

from pathlib import Path

import click

from holisticbias.commands import options


@click.command(short_help="Write the JSON Schemas of the files.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("schema"), show_default=True, help="Folder to write to."
)
@options.check
def command(out: Path, check: bool) -> int:
    """Write the JSON Schemas of the YAML files and of results."""
    from holisticbias.source.schema import json_schemas

    return options.write_stale({out / name: text for name, text in json_schemas().items()}, "schema", check=check)
