"""Count the rows and the different texts of a release."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import strings
from holisticbias.terms.grammar import ADJECTIVE, DESCRIPTOR_WITH_NOUN, FIXED_PHRASE, split_template

SENTENCES = {
    "sentences with a descriptor and a noun": DESCRIPTOR_WITH_NOUN,
    "sentences with a descriptor alone": (ADJECTIVE,),
    "sentences with a fixed phrase": (FIXED_PHRASE,),
    "sentences with a noun alone": ("noun",),
    "all sentences": (*DESCRIPTOR_WITH_NOUN, ADJECTIVE, FIXED_PHRASE, "noun"),
}
COMPANIONS = {
    "groups of collections": ("collections", "group_id", "group"),
    "prompts": ("prompts", "prompt_id", "prompt"),
    "specifications": ("specifications", "specification_id", "specification"),
}
WHY = (
    "Two entries can have the same text: a term under two axes, or a word that is both an adjective and a noun. Each "
    "entry then has its own rows."
)


@dataclass(frozen=True, slots=True)
class Count:
    """Number of rows of one kind, and number of different texts among them."""

    what: str
    rows: int
    texts: int


def count_texts(tables: Mapping[str, pa.Table]) -> tuple[Count, ...]:
    """Count descriptors, each kind of sentence, groups, prompts and specifications; kinds without rows are left out.

    ``tables`` has ``descriptors``, ``templates`` and ``noun_phrases``. The count of sentences is templates times
    phrases, because no two templates produce the same text.
    """
    entries = tables["descriptors"]
    counts = [Count("descriptors", entries.num_rows, _distinct(entries["descriptor"]))]
    counts += (_count(what, kinds, tables) for what, kinds in SENTENCES.items())
    counts += (
        Count(what, _distinct(tables[name][entry]), _distinct(tables[name][text]))
        for what, (name, entry, text) in COMPANIONS.items()
        if name in tables
    )
    return tuple(count for count in counts if count.rows)


def _count(what: str, kinds: tuple[str, ...], tables: Mapping[str, pa.Table]) -> Count:
    rows = texts = 0
    for (slot, must_be_noun), templates in _template_kinds(tables["templates"]):
        fitting = [kind for kind in kinds if kind != ADJECTIVE or not must_be_noun]
        phrases = tables["noun_phrases"]
        fillers = phrases[slot].filter(pc.is_in(phrases["noun_phrase_type"].cast(pa.string()), strings(fitting)))
        rows += templates * len(fillers)
        texts += templates * _distinct(fillers)
    return Count(what, rows, texts)


def _template_kinds(templates: pa.Table) -> Iterator[tuple[tuple[str, bool], int]]:
    """Number of templates for each slot, and for each value of ``must_be_noun``."""
    slots = [split_template(text)[0] for text in templates["template"].to_pylist()]
    yield from Counter(zip(slots, templates["must_be_noun"].to_pylist(), strict=True)).items()


def _distinct(column: pa.ChunkedArray) -> int:
    return len(column.cast(pa.string()).unique())


def render_counts(counts: tuple[Count, ...]) -> str:
    """Format the counts as a table; if rows and texts differ, explain why."""
    lines = [f"{'rows':>11}{'texts':>11}", *(f"{c.rows:>11,}{c.texts:>11,}  {c.what}" for c in counts)]
    if any(c.rows != c.texts for c in counts):
        lines += ["", WHY]
    return "\n".join(lines)
