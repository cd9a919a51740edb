"""Audit a classifier: judge fixed sentences of a release in which only the descriptor changes."""

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.selection import having, select_compared, select_sentences, stands_alone
from holisticbias_eval.readers.censor import censor, plurals_of
from holisticbias_eval.readers.labels import LabelReader
from holisticbias_eval.readers.reader import read_each

NOUNS = 3
COLUMNS = ("axis", "descriptor_id", "descriptor", "template_id", "template", "noun", "text")


def audit_texts(
    release: Release,
    descriptors: Collection[str] | None = None,
    templates: Collection[str] | None = None,
    nouns: int = NOUNS,
) -> pa.Table:
    """Select a release's sentences with the same few nouns for every descriptor.

    ``descriptors`` and ``templates`` are ids, by default all. The nouns are the
    first that go with every one of these descriptors, neutral nouns before
    others. Terms that share no noun with the others (descriptors of one gender, nouns that stand alone) are left
    out, unless there are no others. Returns the columns ``COLUMNS`` and ``plural``, the plural of the
    descriptor's entry or null. Raises ``SelectionError`` if no sentence is left, or one descriptor of several.
    """
    sentences = select_sentences(release.sentences)
    wanted = {"descriptor_id": descriptors, "template_id": templates}
    asked = having(sentences, {name: ids for name, ids in wanted.items() if ids is not None})
    sentences = _comparable(asked)
    if len(sentences["descriptor_id"].unique()) < min(2, len(asked["descriptor_id"].unique())):
        raise SelectionError("these descriptors do not go with the same nouns: a classifier cannot be audited on one")
    sentences = having(sentences, {"noun_id": _common_nouns(sentences)[:nouns]})
    if not sentences.num_rows:
        raise SelectionError("no noun goes with all of these descriptors: a classifier cannot be audited on them")
    found = {name: sentences[name].cast(pa.string()) for name in COLUMNS}
    return pa.table({**found, "plural": pa.array(plurals_of(release, found["descriptor_id"]), pa.string())})


def _comparable(sentences: pa.Table) -> pa.Table:
    """The sentences of descriptors of any gender; without any, those with nouns; without any, those of other terms."""
    some = (select_compared(sentences), sentences.filter(pc.invert(stands_alone(sentences))))
    return next((kept for kept in some if kept.num_rows), sentences)


def _common_nouns(sentences: pa.Table) -> list[str]:
    """The nouns that go with as many descriptors as there are, neutral nouns first, in the release's order."""
    total = len(sentences["descriptor_id"].unique())
    names = ["noun_id", "noun_gender"]
    pairs = pa.table({name: sentences[name].cast(pa.string()) for name in (*names, "descriptor_id")})
    counted = pairs.group_by(names, use_threads=False).aggregate([("descriptor_id", "count_distinct")]).to_pylist()
    whole = [row for row in counted if row["descriptor_id_count_distinct"] == total]
    return [str(row["noun_id"]) for row in sorted(whole, key=lambda row: row["noun_gender"] != "neutral")]


def audit_table(texts: pa.Table, reader: LabelReader) -> pa.Table:
    """Judge the sentences of ``audit_texts`` twice: as they are, and after mentions are replaced.

    Returns one row per judged text, all as they are first, with the columns
    ``COLUMNS``, ``judged``, the text that the classifier read, those of the
    reader, and ``censored``. What the probabilities differ by across
    descriptors is the classifier's own reaction to the words; after censoring,
    it is what censoring cannot remove.
    """
    plain = texts["text"].to_pylist()
    censored, _ = censor(plain, texts["descriptor"].to_pylist(), texts["plural"].to_pylist())
    judged = [*plain, *censored]
    found = read_each(reader, judged)
    table = pa.concat_tables([texts.select(COLUMNS)] * 2).append_column("judged", pa.array(judged))
    return with_columns(table, found).append_column("censored", pa.array([False] * len(plain) + [True] * len(plain)))
