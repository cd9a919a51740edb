"""``holisticbias classifiers``: list the classifiers."""

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import write_wrapped


@click.command()
def command() -> None:
    """List the classifiers that come with the package: labels, source, licence and limits."""
    from holisticbias_eval.readers.card import CARDS

    for name in CARDS.available():
        card = CARDS.read(name)
        write(f"{name}: {card.title}")
        for label, text in (
            ("judges", card.task),
            ("model", " ".join(filter(None, (card.engine, card.model, card.revision)))),
            ("labels", f"{', '.join(card.labels)} ({card.activation})"),
            ("clusters", "; ".join(f"{cluster}: {', '.join(labels)}" for cluster, labels in card.clusters.items())),
            ("offensive", card.offensive),
            ("licence", card.licence),
            ("source", card.source),
            ("limits", card.limits),
        ):
            if text:
                write_wrapped(f"{label}: {text}")
        write()
