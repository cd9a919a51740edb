"""The sentences with two descriptors of a release, a shard at a time."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.errors import ReleaseError
from holisticbias.inputs import refuse_unreadable
from holisticbias.release.bounded import check_parquet
from holisticbias.release.intersections import TABLE
from holisticbias.release.release import Release
from holisticbias_eval.prompts.sentences import with_stances

_COLUMNS = ("text", "descriptor_id_1", "descriptor_id_2", "noun_id", "template", "template_id")


def read_shards(release: Release) -> Iterator[pa.Table]:
    """The sentences of each shard: ``text, axis, descriptor_id, descriptor, noun_id, template``, and its stances.

    ``axis`` names both axes ("age x ability"), ``axis_label`` in words, ``descriptor_id`` and ``descriptor`` both
    descriptors, in the order of the sentence. All sentences of two descriptors are in one shard. Raises
    ``ReleaseError`` if one cannot be read.
    """
    entries = release.tables["descriptors"]
    names = {name: _by_id(entries, name) for name in ("axis", "axis_label", "descriptor")}
    for path in release.sharded[TABLE].unchanged():
        yield _sentences(_read(path), names, release.tables["templates"])


def _read(path: Path) -> pa.Table:
    with refuse_unreadable(path, ReleaseError):
        return check_parquet(path).read(_COLUMNS, encoded=_COLUMNS[1:])


def _by_id(entries: pa.Table, name: str) -> dict[str, str]:
    columns = (entries[column].cast(pa.string()).to_pylist() for column in ("descriptor_id", name))
    return dict(zip(*columns, strict=True))


def _sentences(shard: pa.Table, names: Mapping[str, dict[str, str]], templates: pa.Table) -> pa.Table:
    shard = shard.unify_dictionaries().combine_chunks()
    first, second = (shard[name].combine_chunks() for name in ("descriptor_id_1", "descriptor_id_2"))
    one, other = first.dictionary.to_pylist(), second.dictionary.to_pylist()
    key = pc.add(pc.multiply(first.indices.cast(pa.int64()), len(other)), second.indices.cast(pa.int64()))
    encoded = pc.dictionary_encode(key)
    pairs = [(one[k // len(other)], other[k % len(other)]) for k in encoded.dictionary.to_pylist()]

    def named(join: str, of: dict[str, str] | None = None) -> pa.Array:
        texts = [join.join((of[a], of[b]) if of else (a, b)) for a, b in pairs]
        return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))

    columns = {
        "text": shard["text"],
        "axis": named(" x ", names["axis"]),
        "axis_label": named(" x ", names["axis_label"]),
        "descriptor_id": named(" x "),
        "descriptor": named(", ", names["descriptor"]),
        "noun_id": pc.fill_null(shard["noun_id"].cast(pa.string()), "-").combine_chunks().dictionary_encode(),
        "template": shard["template"],
        "template_id": shard["template_id"],
    }
    return with_stances(pa.table(columns), templates)
