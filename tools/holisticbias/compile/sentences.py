"""The sentences of one version, made template by template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from holisticbias.compile.columns import repeat_boolean, repeat_text, surround, table
from holisticbias.compile.phrases import Columns, Phrases
from holisticbias.terms.entries import Template
from holisticbias.terms.grammar import split_template

_OF_PHRASE = ("descriptor_id", "noun_id", "phrase_id")


@dataclass(frozen=True, slots=True)
class Sentences:
    """Every template with every phrase that can fill it: the table ``sentences``, which is made when asked for."""

    phrases: Phrases
    templates: tuple[Template, ...]

    def read(self) -> pa.Table:
        """The whole table."""
        return pa.concat_tables(self.parts())

    def parts(self) -> Iterator[pa.Table]:
        """The table, one part for each template and block of phrases."""
        with_noun = self.phrases.with_noun()
        for template in self.templates:
            for block in (with_noun if template.must_be_noun else self.phrases).blocks:
                yield _part(template, block)

    def of_descriptors(self, descriptors: tuple[str, ...]) -> Sentences:
        """Sentences with one of the descriptors, and sentences without a descriptor."""
        return Sentences(self.phrases.of_descriptors(descriptors), self.templates)


def _part(template: Template, phrases: Columns) -> pa.Table:
    slot, before, after = split_template(template.text)
    size = len(phrases[slot])
    columns = {
        "text": surround(before, phrases[slot].dictionary_decode(), after),
        **{name: column for name, column in phrases.items() if name not in _OF_PHRASE},
        "template": repeat_text([template.text], 0, size),
        "first_turn_only": repeat_boolean(template.first_turn_only, size),
        "must_be_noun": repeat_boolean(template.must_be_noun, size),
        "sentence_id": surround(f"{template.id}/", phrases["phrase_id"], ""),
        "descriptor_id": phrases["descriptor_id"],
        "noun_id": phrases["noun_id"],
        "template_id": repeat_text([template.id], 0, size),
    }
    return table(columns)
