"""The fields of a new entry, declared once for the options of the commands and for the issue forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EntryField:
    """A field of a new entry: the name and the help of its option, and the values that it takes.

    It holds one text, unless it is ``several`` texts, or a truth whose option has the name ``denied`` for false.
    """

    name: str
    help: str
    among: tuple[str, ...] = ()
    several: bool = False
    denied: str | None = None


_FIELDS = (
    EntryField("text", "The term, noun, template or opening, or the title of a specification."),
    EntryField("axis", "Axis of the term, gender of the noun, or family of the template or specification."),
    EntryField("bucket", "Group within the axis."),
    EntryField("position", "Before or after the noun, or alone.", ("before", "after", "standalone")),
    EntryField("article", "Only if it differs from the article by sound.", ("a", "an")),
    EntryField("plural", "The plural, if it differs."),
    EntryField("noun_gender", "Gender of the nouns it goes with.", ("any", "female", "male", "neutral", "nonbinary")),
    EntryField("without_noun", "Whether it can be used without a noun, as in 'I'm Deaf.'", denied="with-noun"),
    EntryField("continuation", "Rest of the sentence that a prompt opens."),
    EntryField("subject", "Name or term in a prompt that is replaced by XYZ before measuring, or none."),
    EntryField(
        "group",
        "Group of a prompt, by name; or a group of a specification, 'Stads: small things'. Can be repeated.",
        several=True,
    ),
    EntryField(
        "attributes",
        "Attributes of a specification, 'Small things: pebble, crumb'. Can be repeated.",
        several=True,
    ),
    EntryField("opposite", "Opposite attributes of a specification, 'slow / quick'. Can be repeated.", several=True),
    EntryField("slot", "Terms of a specification, 'stad / blicket'. Can be repeated.", several=True),
    EntryField("template", "Template of a specification, with [T] and [A]. Can be repeated.", several=True),
    EntryField("control", "Whether the words of a specification are invented.", denied="no-control"),
    EntryField("entry_id", "The id; by default derived from the text."),
    EntryField("from", "Id of a source in sources.yaml; by default 'contributors'."),
)
FIELDS: Mapping[str, EntryField] = {field.name: field for field in _FIELDS}
