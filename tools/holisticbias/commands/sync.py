"""``holisticbias sync``: write the files that are derived from the terms and the rules."""

from pathlib import Path

import click

from holisticbias.commands import options


@click.command()
@options.check
def command(check: bool) -> int:
    """Write the issue forms, CODEOWNERS and the pages of the rules.

    Run this at the root of the repository.
    """
    from holisticbias.contribute.issue_forms import generated_files
    from holisticbias.rules.pages import rule_pages
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import read_source

    root = Path()
    wanted = {root / path: text for path, text in generated_files(load_catalog(root), read_source(root)).items()}
    pages = rule_pages(root / "tests" / "data")
    wanted |= {root / "docs" / "rules" / name: text for name, text in pages.items()}
    return options.write_stale(wanted, "sync", check=check)
