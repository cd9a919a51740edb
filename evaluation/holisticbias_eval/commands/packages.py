"""Refuse a command whose packages are not installed, before it reads anything."""

from __future__ import annotations

from importlib.util import find_spec

import click


def refuse_missing_packages(extra: str, *names: str) -> None:
    """Raise ``click.UsageError`` for the first package that is missing; ``extra`` of this package installs it."""
    for name in names:
        if find_spec(name) is None:
            raise click.UsageError(f"this needs the package {name}: pip install 'holisticbias[{extra}]'")
