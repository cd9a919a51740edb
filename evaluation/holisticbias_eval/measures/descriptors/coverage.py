"""The terms that a measure compares, and the reasons for leaving out the others."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.prompts.selection import is_gendered, stands_alone


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of ``terms`` of a run, of descriptors for nouns of one gender, and of terms that are nouns."""

    terms: int
    gendered: int
    alone: int

    @property
    def compared(self) -> int:
        """The number of terms that go with nouns of any gender."""
        return self.terms - self.gendered - self.alone


def count_coverage(answers: pa.Table) -> Coverage:
    """Count the terms of a table of answers; without ``noun_id`` all go with nouns of any gender."""
    ids = answers["descriptor_id"].cast(pa.string())
    if "noun_id" not in answers.column_names:
        return Coverage(len(ids.unique()), 0, 0)
    alone = stands_alone(answers)
    with_noun = ids.filter(pc.invert(alone)).unique()
    gendered = ids.filter(pc.and_(is_gendered(answers), pc.invert(alone))).unique()
    every = ids.unique()
    return Coverage(len(every), len(gendered), len(every) - len(with_noun))


def what_is_compared(answers: pa.Table, gendered: str, alone: str) -> str:
    """How many terms of a run a measure compares, and what becomes of the others; empty if it compares all.

    ``gendered`` and ``alone`` say what becomes of terms of one gender, and of terms that are nouns themselves.
    """
    found = count_coverage(answers)
    if not found.gendered and not found.alone:
        return ""
    said = [
        f"{found.compared:,} of {found.terms:,} terms go with nouns of any gender and are compared with one another."
    ]
    if found.gendered:
        said.append(f"{found.gendered:,} go with nouns of one gender alone: {gendered}.")
    if found.alone:
        said.append(f"{found.alone:,} are nouns themselves, with one sentence in a template: {alone}.")
    return " ".join(said)
