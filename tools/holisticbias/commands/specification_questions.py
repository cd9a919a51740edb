"""The questions of ``holisticbias add specification``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holisticbias.commands.questions import Questions, ask_source, print_lines

if TYPE_CHECKING:
    from holisticbias.contribute.authoring import Draft, Field
    from holisticbias.terms.catalog import Catalog


def specification_draft(catalog: Catalog, ask: Questions, version: str) -> Draft:
    """Ask for a bias specification part by part; raises ``click`` errors for options that cannot be used."""
    from holisticbias.contribute.authoring import Draft
    from holisticbias.contribute.proposals import propose_id

    family = ask.choice("axis", "Which family?", [f.family for f in catalog.specifications], _usual_family(catalog))
    title = ask.text("text", "Its title, for example Stads and blickets, small and large things").strip()
    parts = _ask_parts(catalog, ask)
    control = ask.confirm("control", "Are its words invented, so that there is nothing to find?", False)
    entry: dict[str, Field] = {"text": title, **parts, "control": control or None}
    _show(catalog, entry)
    entry_id = ask.text("entry-id", "Its id", propose_id(family, title))
    entry = {"id": entry_id, **entry, "sources": [ask_source(catalog, ask)], "since": version}
    return Draft("specifications", family, entry)


def _usual_family(catalog: Catalog) -> str | None:
    """The first family of specifications with a stereotype that is not a copy of published data."""
    for file in catalog.specifications:
        own = not any(s.published_as for s in file.specifications)
        if own and any(group.stereotype for s in file.specifications for group in s.groups):
            return file.family
    return None


def _ask_parts(catalog: Catalog, ask: Questions) -> dict[str, Field]:
    from holisticbias.contribute.specification_lines import (
        pronoun_gender,
        read_attributes,
        read_group,
        read_opposite,
        read_slot,
        read_template,
    )

    descriptors = {d.id for d in catalog.descriptors}
    asked = "Sets of attributes, each as 'Small things: pebble, crumb'; (negative) or (positive) after the name if so."
    attributes = ask.lines("attributes", asked, read_attributes, 1)
    opposites: list[list[str]] = []
    if {"negative", "positive"} <= {str(chosen.get("valence")) for chosen in attributes}:
        asked = "Pairs of a negative and a positive attribute that replace each other, as 'slow / quick'."
        opposites = ask.lines("opposite", asked, lambda line: read_opposite(line, attributes))
    asked = "Groups, each with the attributes of its stereotype, as 'Stads: small things'; (held out) at the end if so."
    groups = ask.lines("group", asked, lambda line: read_group(line, attributes), 2)
    names = " / ".join(str(group["label"]) for group in groups)
    asked = (
        f"Terms that take the same place in a sentence, as '{names}', or 'plural: stads / blickets' if they are not "
        "nouns in the singular. Write - for a missing term."
    )
    slots = ask.lines("slot", asked, lambda line: read_slot(line, len(groups), descriptors), 1)
    asked = "Templates with [T] for a term, or [T:FORM], and [A] for an attribute, as 'The [T] likes the [A].'"
    templates = ask.lines("template", asked, lambda line: read_template(line, slots))
    genders = [pronoun_gender(slots, position) for position in range(len(groups))]
    known = [group | ({"gender": gender} if gender else {}) for group, gender in zip(groups, genders, strict=True)]
    parts: dict[str, Field] = {"groups": known, "slots": slots, "attributes": attributes}
    return parts | {"opposites": opposites or None, "templates": templates or None}


def _show(catalog: Catalog, entry: Mapping[str, Field]) -> None:
    """Print the slots side by side, and the templates filled in."""
    from pydantic import ValidationError

    from holisticbias.contribute.readings import specification_lines
    from holisticbias.terms.specification_entries import Specification

    given = {key: value for key, value in entry.items() if value is not None}
    try:
        made = Specification.model_validate({"id": "x.x", "sources": ["x"], "since": "1.0.0", **given})
    except ValidationError:
        return  # the error is reported when the entry is checked
    texts = {d.id: d.text for d in catalog.descriptors}
    print_lines(made.text, specification_lines(made, texts))
