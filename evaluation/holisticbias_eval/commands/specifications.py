"""``holisticbias specifications``: list the bias specifications."""

from __future__ import annotations

import click


@click.command(short_help="List bias specifications: groups, attributes and templates.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--version", metavar="VERSION", help="Version of the dataset. Default: the newest, also in preparation.")
def command(names: tuple[str, ...], version: str | None) -> None:
    """List the bias specifications of the dataset, or show some of them with all their words.

    A specification has groups with terms in the same slots, sets of attributes, and the stereotype that links them.
    """
    from holisticbias_eval.stereotypes.specifications import list_specifications, read_specifications

    for specification in read_specifications(names, version) if names else list_specifications(version):
        click.echo(f"{specification.id}: {specification.text}")
        titles = {attributes.name: attributes.label for attributes in specification.attributes}
        for i, group in enumerate(specification.groups):
            stereotype = f" (stereotype: {titles.get(group.stereotype, '')})" if group.stereotype else ""
            terms = [slot.terms[i] for slot in specification.slots if i < len(slot.terms) and slot.terms[i]]
            _line(f"{group.label}{stereotype}: {_words(terms if names else terms[:0], len(specification.slots))}")
        for attributes in specification.attributes:
            _line(f"{attributes.label}: {_words(attributes.terms if names else (), len(attributes.terms))}")
        _line(f"templates: {' | '.join(specification.templates) if names else len(specification.templates)}")
        _line(f"since {specification.since}; sources: {', '.join(specification.sources)}")
        click.echo()


def _words(terms: object, count: int) -> str:
    return ", ".join(map(str, terms)) if isinstance(terms, (list, tuple)) and terms else f"{count} terms"


def _line(text: str) -> None:
    from holisticbias_eval.report.plain_text import printable

    click.echo(click.wrap_text(printable(text), 100, initial_indent="  ", subsequent_indent="    "))
