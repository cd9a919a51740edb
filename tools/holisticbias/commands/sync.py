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
    from holisticbias.contribute.issue_forms import issue_chooser, issue_forms
    from holisticbias.contribute.owners import code_owners
    from holisticbias.rules.pages import rule_pages
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import read_source

    root = Path()
    templates = {"config.yml": issue_chooser(), **issue_forms(load_catalog(root))}
    forms = {root / ".github" / "ISSUE_TEMPLATE" / name: text for name, text in templates.items()}
    pages = {root / "docs" / "rules" / name: text for name, text in rule_pages(root / "tests" / "data").items()}
    return {**forms, root / ".github" / "CODEOWNERS": code_owners(read_source(root)), **pages}
