"""``holisticbias generate``: let a model answer prompts."""

from __future__ import annotations

import click


@click.command(short_help="Let a model answer prompts.")
def command() -> None:
    """Answer prompts about a release's descriptors with a model, and write the responses."""
