"""``holisticbias sync``: write the files that are derived from the terms and the rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from holisticbias.terminal import write


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")
def command(check: bool) -> int:
    """Write the issue forms, CODEOWNERS and the pages of the rules.

    Run this at the root of the repository.
    """
    from holisticbias.output import write_files

    stale = {path: text for path, text in _generated().items() if not path.is_file() or path.read_text("utf-8") != text}
    if not check:
        write_files(stale)
    for path in stale:
        write(f"{path} is out of date: run holisticbias sync" if check else f"wrote {path}")
    return 1 if check and stale else 0


def _generated() -> Mapping[Path, str]:
    from holisticbias.contribute.checks import generated_files
    from holisticbias.rules.pages import rule_pages
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import read_source

    root = Path()
    made = {root / path: text for path, text in generated_files(load_catalog(root), read_source(root)).items()}
    pages = {root / "docs" / "rules" / name: text for name, text in rule_pages(root / "tests" / "data").items()}
    return {**made, **pages}
