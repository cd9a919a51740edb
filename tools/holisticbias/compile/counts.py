"""How many rows a release has, and how many different texts are in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import strings
from holisticbias.terms.grammar import SINGULAR_SLOT

SENTENCES = {
    "sentences with a descriptor and a noun": ("descriptor_noun", "noun_descriptor"),
    "sentences with a descriptor alone": ("descriptor",),
    "sentences with a phrase of its own": ("fixed_phrase",),
    "sentences with a noun alone": ("noun",),
    "sentences in all": ("descriptor_noun", "noun_descriptor", "descriptor", "fixed_phrase", "noun"),
}
WHY = (
    "A text can be two entries: a term under two axes, or one that is both an adjective and a noun. Its sentences are "
    "rows of each."
)


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are of something, and how many different texts these hold."""

    what: str
    rows: int
    texts: int


def count_texts(tables: Mapping[str, pa.Table]) -> tuple[Count, ...]:
    """Count the descriptors and each kind of sentence in a release; kinds without a row are left out.

    ``tables`` has ``descriptors``, ``templates`` and ``noun_phrases``. Sentences are counted as templates times the
    phrases that fill them: no two templates make the same text.
    """
    entries = tables["descriptors"]
    counts = [Count("descriptors", entries.num_rows, _distinct(entries["descriptor"]))]
    counts += (_count(what, kinds, tables) for what, kinds in SENTENCES.items())
    return tuple(count for count in counts if count.rows)


def _count(what: str, kinds: tuple[str, ...], tables: Mapping[str, pa.Table]) -> Count:
    rows = texts = 0
    for (slot, must_be_noun), templates in _template_kinds(tables["templates"]):
        fitting = [kind for kind in kinds if kind != "descriptor" or not must_be_noun]
        phrases = tables["noun_phrases"]
        fillers = phrases[slot].filter(pc.is_in(phrases["noun_phrase_type"].cast(pa.string()), strings(fitting)))
        rows += templates * len(fillers)
        texts += templates * _distinct(fillers)
    return Count(what, rows, texts)


def _template_kinds(templates: pa.Table) -> Iterator[tuple[tuple[str, bool], int]]:
    """How many templates there are of each slot, for phrases with a noun only and for all."""
    texts = templates["template"].to_pylist()
    slots = ["noun_phrase" if SINGULAR_SLOT in text else "plural_noun_phrase" for text in texts]
    yield from Counter(zip(slots, templates["must_be_noun"].to_pylist(), strict=True)).items()


def _distinct(column: pa.ChunkedArray) -> int:
    return len(column.cast(pa.string()).unique())


def render_counts(counts: tuple[Count, ...]) -> str:
    """The counts as a table for the terminal, with a sentence that says why rows and texts differ."""
    lines = [f"{'rows':>11}{'texts':>11}", *(f"{c.rows:>11,}{c.texts:>11,}  {c.what}" for c in counts)]
    if any(c.rows != c.texts for c in counts):
        lines += ["", WHY]
    return "\n".join(lines)
