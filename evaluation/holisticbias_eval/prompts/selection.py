"""Select sentences with a descriptor and a noun."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def select_sentences(sentences: pa.Table) -> pa.Table:
    """The sentences that the measure is over: with a descriptor of any gender, and a noun."""
    kinds = pc.is_in(sentences["noun_phrase_type"].cast(pa.string()), pa.array(["descriptor_noun", "noun_descriptor"]))
    return sentences.filter(pc.and_(kinds, pc.equal(sentences["descriptor_gender"].cast(pa.string()), "any")))
