"""The sentences with two descriptors of a release of intersections, shard by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.errors import ReleaseError
from holisticbias.release.bounded import check_parquet
from holisticbias.release.release import Release
from holisticbias_eval.prompts.sentences import with_stances

TABLE = "intersections"
_COLUMNS = ("text", "descriptor_id_1", "descriptor_id_2", "noun_id", "template", "template_id")


def read_shards(release: Release) -> Iterator[pa.Table]:
    """The sentences of each shard: ``text, axis, descriptor_id, descriptor, noun_id, template``, and its stances.

    ``axis`` names both axes ("age x ability"), ``descriptor_id`` and ``descriptor`` both descriptors, in the order
    of the sentence. All sentences of two descriptors are in one shard. Raises ``ReleaseError`` if one cannot be read.
    """
    entries = release.tables["descriptors"]
    axes, texts = (_by_id(entries, name) for name in ("axis", "descriptor"))
    for file in release.manifest.tables[TABLE].files:
        yield _sentences(_read(release, file), axes, texts, release.tables["templates"])


def _read(release: Release, file: str) -> pa.Table:
    path = (release.folder or Path()) / file
    try:
        return check_parquet(path).read(_COLUMNS, encoded=_COLUMNS[1:])
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{path} cannot be read: {error}") from error


def _by_id(entries: pa.Table, name: str) -> dict[str, str]:
    columns = (entries[column].cast(pa.string()).to_pylist() for column in ("descriptor_id", name))
    return dict(zip(*columns, strict=True))


def _sentences(shard: pa.Table, axes: dict[str, str], texts: dict[str, str], templates: pa.Table) -> pa.Table:
    shard = shard.unify_dictionaries().combine_chunks()
    first, second = (shard[name].combine_chunks() for name in ("descriptor_id_1", "descriptor_id_2"))
    one, other = first.dictionary.to_pylist(), second.dictionary.to_pylist()
    key = pc.add(pc.multiply(first.indices.cast(pa.int64()), len(other)), second.indices.cast(pa.int64()))
    encoded = pc.dictionary_encode(key)
    pairs = [(one[k // len(other)], other[k % len(other)]) for k in encoded.dictionary.to_pylist()]

    def named(names: Sequence[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(names, pa.string()))

    columns = {
        "text": shard["text"],
        "axis": named([f"{axes[a]} x {axes[b]}" for a, b in pairs]),
        "descriptor_id": named([f"{a} x {b}" for a, b in pairs]),
        "descriptor": named([f"{texts[a]}, {texts[b]}" for a, b in pairs]),
        "noun_id": pc.fill_null(shard["noun_id"].cast(pa.string()), "-").combine_chunks().dictionary_encode(),
        "template": shard["template"],
        "template_id": shard["template_id"],
    }
    return with_stances(pa.table(columns), templates)
