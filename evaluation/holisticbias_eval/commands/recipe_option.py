"""The option that takes the defaults of a command's other options from a recipe."""

from __future__ import annotations

import click

from holisticbias_eval.options import SettingsCommand


def _use_recipe(context: click.Context, _: click.Parameter, name: str | None) -> None:
    """Use a recipe's values as the defaults of the command."""
    from holisticbias_eval.results.recipes import read_recipe

    command = context.command
    if name is not None and isinstance(command, SettingsCommand):
        context.default_map = dict(read_recipe(name, command.uses()))


recipe_option = click.option(
    "--recipe",
    metavar="NAME|FILE",
    is_eager=True,
    expose_value=False,
    callback=_use_recipe,
    help="Use the settings of a recipe: a YAML file of any options of this command, which override it.",
)
