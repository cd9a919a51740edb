"""``holisticbias stereotypes specifications``: list the bias specifications."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import write_wrapped

if TYPE_CHECKING:
    from holisticbias.terms.specification_entries import Specification


@click.command(short_help="List bias specifications: groups, attributes and templates.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option(
    "--release",
    "version",
    metavar="VERSION",
    help="Version of the specifications. Default: the newest, also in preparation.",
)
def command(names: tuple[str, ...], version: str | None) -> None:
    """List the bias specifications of the dataset, or show some of them with all their words.

    A specification has groups with terms in the same slots, sets of attributes, and the stereotype that links them; or
    three groups and more, with negative and positive attributes that are opposites, and groups that are held out.
    """
    from holisticbias_eval.stereotypes.specifications import list_specifications, read_specifications

    found = read_specifications(names, version) if names else list_specifications(version)
    for specification in found:
        _print(specification, whole=bool(names))
    if not found:
        write("This version has no bias specifications.")


def _print(specification: Specification, *, whole: bool) -> None:
    """Print a specification, with all its words if ``whole``, else with their numbers."""
    write(f"{specification.id}: {specification.text}")
    titles = {attributes.name: attributes.label for attributes in specification.attributes}
    for i, group in enumerate(specification.groups):
        said = [f"stereotype: {titles.get(group.stereotype, '')}"] if group.stereotype else []
        said += ["held out"] if group.held_out else []
        terms = [slot.terms[i] for slot in specification.slots if i < len(slot.terms) and slot.terms[i]]
        own = [one for one in specification.forms if one.group == group.name or one.of in terms]
        words = [word for one in own for word in one.words]
        of_descriptors = sum(not slot.terms for slot in specification.slots)
        shown = _words(terms if whole else (), len(terms) + of_descriptors)
        shown += f"; also found: {', '.join(words)}" if whole and words else ""
        write_wrapped(f"{group.label}{_in_brackets(said)}: {shown}")
    stereotypes = {group.stereotype for group in specification.groups} - {None}
    for attributes in specification.attributes:
        shown = _words(attributes.terms if whole else (), len(attributes.terms))
        said = [attributes.valence] if attributes.valence else []
        said += ["of no stereotype, not scored"] if stereotypes and attributes.name not in stereotypes else []
        write_wrapped(f"{attributes.label}{_in_brackets(said)}: {shown}")
    if specification.opposites:
        pairs = [" / ".join(pair) for pair in specification.opposites]
        write_wrapped(f"opposites: {', '.join(pairs) if whole else f'{len(pairs)} pairs'}")
    write_wrapped(
        f"templates: {(' | '.join(specification.templates) or 'none') if whole else len(specification.templates)}"
    )
    write_wrapped(f"since {specification.since}; sources: {', '.join(specification.sources)}")
    write()


def _in_brackets(said: list[str]) -> str:
    return f" ({', '.join(said)})" if said else ""


def _words(terms: Iterable[str | None], count: int) -> str:
    return ", ".join(map(str, terms)) or f"{count} terms"
