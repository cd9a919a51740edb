"""Select sentences with a descriptor and a noun."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.terms.grammar import DESCRIPTOR_WITH_NOUN

GENDERED = "a descriptor that goes with some nouns alone"


def select_sentences(sentences: pa.Table) -> pa.Table:
    """Select the sentences of Likelihood Bias, with a descriptor for nouns of any gender and a noun."""
    return sentences.filter(pc.and_(with_noun(sentences), pc.invert(is_gendered(sentences))))


def with_noun(sentences: pa.Table) -> pa.ChunkedArray:
    """Whether each sentence has a descriptor and a noun."""
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    return pc.is_in(kinds, pa.array(DESCRIPTOR_WITH_NOUN))


def is_gendered(sentences: pa.Table) -> pa.ChunkedArray:
    """Whether each sentence has a descriptor that is used only with nouns of one gender."""
    return pc.not_equal(pc.fill_null(sentences["descriptor_gender"].cast(pa.string()), "any"), "any")
