"""``holisticbias stereotypes``: bias specifications, their test sentences, and pairs of sentences."""

import click

from holisticbias_eval.commands import pairs, sentences, specifications


@click.group(short_help="List bias specifications; make test sentences and pairs for them.")
def command() -> None:
    """Make test sentences and pairs of sentences for bias specifications (Kocielnik et al. 2023).

    `specifications` lists the groups and attributes, `sentences` makes or imports sentences about them, and `pairs`
    pairs these with the same sentences about another group, which `holisticbias evaluate --pairs` scores.
    """


for _name, _module in {"specifications": specifications, "sentences": sentences, "pairs": pairs}.items():
    command.add_command(_module.command, _name)
