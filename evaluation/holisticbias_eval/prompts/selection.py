"""Select sentences about terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.filters import parse_conditions
from holisticbias.terms.grammar import DESCRIPTOR_WITH_NOUN, FIXED_PHRASE
from holisticbias_eval.errors import SelectionError

# the keys of --where, and the column of a release's sentences that each is about
FILTERS: Mapping[str, str] = {
    "axis": "axis",
    "bucket": "bucket",
    "preference": "descriptor_preference",
    "descriptor": "descriptor_id",
    "gender": "noun_gender",
    "noun": "noun_id",
    "template": "template_id",
    "first_turn_only": "first_turn_only",
}
NO_NOUN = "-"
"""The noun of a term that is a noun itself, as in the ids of sentences."""


def select_sentences(sentences: pa.Table) -> pa.Table:
    """Select the sentences about terms: with a descriptor and a noun, or with a term that is a noun itself.

    The noun of the latter is ``NO_NOUN``.
    """
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    kept = sentences.filter(pc.is_in(kinds, pa.array([*DESCRIPTOR_WITH_NOUN, FIXED_PHRASE])))
    if "noun_id" not in kept.column_names or not kept["noun_id"].null_count:
        return kept
    nouns = pc.fill_null(kept["noun_id"].cast(pa.string()), NO_NOUN).dictionary_encode()
    return kept.set_column(kept.column_names.index("noun_id"), "noun_id", nouns)


def select_compared(sentences: pa.Table) -> pa.Table:
    """Select the sentences of Likelihood Bias, with a descriptor for nouns of any gender and a noun.

    A table without ``descriptor_gender`` has no descriptors of one gender.
    """
    others = pc.or_(is_gendered(sentences), stands_alone(sentences))
    compared = pc.and_(pc.invert(others), pc.is_valid(sentences["descriptor_id"]))
    return sentences if pc.all(compared).as_py() else sentences.filter(compared)


def stands_alone(sentences: pa.Table) -> pa.ChunkedArray:
    """Whether each sentence has no noun beside the term."""
    return pc.equal(pc.fill_null(sentences["noun_id"].cast(pa.string()), NO_NOUN), NO_NOUN)


def is_gendered(sentences: pa.Table) -> pa.ChunkedArray:
    """Whether each sentence has a descriptor that is used only with nouns of one gender."""
    if "descriptor_gender" not in sentences.column_names:
        return pa.chunked_array([pa.array(np.zeros(sentences.num_rows, np.bool_))])
    return pc.not_equal(pc.fill_null(sentences["descriptor_gender"].cast(pa.string()), "any"), "any")


def filter_sentences(sentences: pa.Table, where: Sequence[str]) -> pa.Table:
    """The sentences that meet filters such as ``"axis=age,ability"``; keys are those of ``FILTERS``.

    Raises ``SelectionError`` for a value that no sentence has, and if no sentence meets all filters.
    """
    kept = sentences
    for key, values in parse_conditions(where, tuple(FILTERS)).items():
        refuse_unknown(key, values, known_values(sentences, key))
        kept = kept.filter(is_one_of(kept, key, values))
    if not kept.num_rows:
        raise SelectionError(f"no sentence meets --where {' and '.join(where)}")
    return kept


def known_values(sentences: pa.Table, key: str) -> set[str]:
    """The values that sentences have of a key of ``FILTERS``, as text."""
    return set(map(_as_text, sentences[FILTERS[key]].unique().to_pylist())) - {""}


def refuse_unknown(key: str, values: Sequence[str], known: Set[str]) -> None:
    """Raise ``SelectionError`` for a value of a filter that no sentence has."""
    unknown = sorted(set(values) - known)
    if unknown:
        shown = ", ".join(sorted(known)[:30])
        raise SelectionError(f"--where {key}={unknown[0]}: the release has no such {key}; it has: {shown}")


def is_one_of(sentences: pa.Table, key: str, values: Sequence[str]) -> pa.ChunkedArray:
    """Whether each sentence has one of the values of a key of ``FILTERS``."""
    return pc.is_in(sentences[FILTERS[key]].cast(pa.string()), pa.array(values))


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value or "")
