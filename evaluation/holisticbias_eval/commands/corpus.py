"""``holisticbias corpus``: sentences of people about groups, from texts to a split, and prompts from a wiki."""

import click

from holisticbias_eval.commands import annotate, collect, retrieve, split


@click.group(short_help="Find, annotate and split sentences of people; collect prompts.")
def command() -> None:
    """Make a corpus of sentences or prompts about groups out of texts that people wrote.

    `retrieve`, `annotate` and `split` make the sentences that `holisticbias mitigate` trains on (Zhao et al. 2024);
    `collect` makes prompts from the dump of a wiki (Dhamala et al. 2021).
    """


for _name, _module in {"retrieve": retrieve, "annotate": annotate, "split": split, "collect": collect}.items():
    command.add_command(_module.command, _name)
