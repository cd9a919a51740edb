"""Count the terms of a release that are measured, and say why the others are not."""

from __future__ import annotations

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.prompts.prompts import Terms, TermsLeftOut
from holisticbias_eval.prompts.selection import select_sentences

NO_SENTENCE = "no sentence of them in this part of the release"
NOT_CHOSEN = "left out by --where or --limit"


def count_terms(release: Release, descriptors: pa.ChunkedArray) -> Terms:
    """Count the terms with an id in a column of what is asked, and the others by reason."""
    asked = _distinct(descriptors)
    known = _distinct(release.tables["descriptors"]["descriptor_id"])
    rest = known - asked
    found = set[str]()
    for part in release.shards("sentences") if rest else ():
        found |= rest & _distinct(select_sentences(part.select(["descriptor_id", "noun_phrase_type"]))["descriptor_id"])
    counts = {NO_SENTENCE: len(rest - found), NOT_CHOSEN: len(found)}
    left_out = tuple(TermsLeftOut(reason=reason, terms=n) for reason, n in counts.items() if n)
    return Terms(measured=len(known & asked), available=len(known), left_out=left_out)


def _distinct(column: pa.ChunkedArray) -> set[str]:
    return {name for name in column.unique().to_pylist() if name is not None}
