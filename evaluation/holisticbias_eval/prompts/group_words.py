"""The words that name groups: of a release, of the newest data, or in a user's table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.tables.fields import Field

FORMS, PERSON = "forms", "person"
TYPES = {FORMS: pa.list_(pa.large_string()), PERSON: pa.bool_()}
"""The columns of a table of prompts or texts: the words for the group, and whether the subject is a person's name."""
WORDS = (Field(FORMS, "words"), Field(PERSON, "flag"))
"""The same columns in a user's table."""


@dataclass(frozen=True, slots=True)
class GroupWords:
    """The words for each group by its id, whether it is named by persons, and what both are signed with."""

    forms: Mapping[str, tuple[str, ...]]
    persons: frozenset[str]
    origin: str

    @property
    def settings(self) -> Mapping[str, str]:
        """The origin and the SHA-256 of the words, for a signature."""
        content = json.dumps([sorted(self.forms.items()), sorted(self.persons)], ensure_ascii=False)
        return {"group_words": self.origin, "group_words_sha256": hashlib.sha256(content.encode()).hexdigest()}

    def add_to(self, table: pa.Table, groups: Sequence[str | None]) -> pa.Table:
        """Add the columns ``forms`` and ``person``; ``groups`` has the id of each row's group, null if unknown."""
        forms = [list(self.forms.get(group or "", ())) for group in groups]
        persons = [None if group is None else group in self.persons for group in groups]
        table = table.append_column(FORMS, pa.array(forms, TYPES[FORMS]))
        return table.append_column(PERSON, pa.array(persons, TYPES[PERSON]))


def release_words(release: Release) -> GroupWords:
    """The words for the groups of a release; of a release without forms (layout 4), those of the newest data."""
    table = release.tables["collections"]
    names = table["group_id"].cast(pa.string()).to_pylist()
    persons = frozenset(name for name, one in zip(names, table["needs_person"].to_pylist(), strict=True) if one)
    if FORMS not in table.column_names:
        newest = newest_words()
        return GroupWords({n: newest.forms[n] for n in names if n in newest.forms}, persons, newest.origin)
    forms = {name: tuple(words) for name, words in zip(names, table[FORMS].to_pylist(), strict=True) if words}
    return GroupWords(forms, persons, f"release {release.version}")


def newest_words() -> GroupWords:
    """The words for all groups in the newest version of the data, also one in preparation."""
    catalog = load_catalog()
    version = catalog.versions[-1]
    groups = [group for file in catalog.at(version).collections for group in file.groups]
    forms = {group.id: group.forms.words for group in groups if group.forms}
    return GroupWords(forms, frozenset(g.id for g in groups if g.needs_person), f"data of {version}")
