"""Find the place of a user's responses in a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.store.keys import distinct_rows

_TEXTS = ("noun", "noun_id", "noun_gender", "noun_phrase_type", "variants", "prompt", "persona", "reasoning")


def place_responses(responses: pa.Table, release: Release, file: Path) -> pa.Table:
    """Add to each response the ids of its descriptor and template in a release.

    A response names its ``axis``, ``descriptor`` and ``template`` by their texts, or
    by ids as in a run. Raises ``SelectionError`` if the release lacks one.
    """
    descriptors, templates = release.tables["descriptors"], release.tables["templates"]
    entry = _find(responses, descriptors, "descriptor", ("axis", "descriptor"), file)
    wording = _find(responses, templates, "template", ("template",), file)
    found = {name: descriptors[name].combine_chunks().take(entry) for name in _about(descriptors)}
    found |= {name: templates[name].combine_chunks().take(wording) for name in ("template_id", "template")}
    draws = _draws(pa.table({name: found[name] for name in ("template_id", "descriptor_id")}))
    ids = (found["template_id"].cast(pa.string()), found["descriptor_id"].cast(pa.string()), draws.cast(pa.string()))
    made = {"response_id": pc.binary_join_element_wise(*ids, "/"), **found, "draw": draws}
    made |= {name: responses[name] for name in (*_TEXTS, "tokens", "sample") if name in responses.column_names}
    made |= {name: responses[name] for name in ("response", "finish")}
    return pa.table({**{name: pa.array([""] * len(responses)) for name in ("prompt", "persona")}, **made})


def _about(descriptors: pa.Table) -> list[str]:
    names = ("axis", "axis_label", "bucket", "descriptor_id", "descriptor", "descriptor_preference")
    return [name for name in names if name in descriptors.column_names]


def _find(responses: pa.Table, entries: pa.Table, what: str, texts: tuple[str, ...], file: Path) -> pa.Array:
    """The row of each response's entry, by id if the responses have ids, else by texts."""
    keys = (f"{what}_id",) if f"{what}_id" in responses.column_names else texts
    place = pc.index_in(_joined(responses, keys), _joined(entries, keys))
    missing = np.flatnonzero(pc.is_null(place).to_numpy(zero_copy_only=False))
    if len(missing):
        named = ", ".join(f"{key} {responses[key][int(missing[0])].as_py()!r}" for key in keys)
        raise SelectionError(
            f"{file}: row {missing[0] + 1}: the release has no {what} with {named}; name the release that the prompts "
            "are from with --release, or measure the table alone with holisticbias measure"
        )
    return place


def _joined(table: pa.Table, keys: tuple[str, ...]) -> pa.Array:
    columns = [table[key].cast(pa.large_string()).combine_chunks() for key in keys]
    return pc.binary_join_element_wise(*columns, pa.scalar("\n", pa.large_string()))


def _draws(cells: pa.Table) -> pa.Array:
    """The number of each row within its cell, from 0."""
    _, cell = distinct_rows(cells)
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(cell))))
    draws = np.empty(len(cell), np.int64)
    draws[order] = np.arange(len(cell)) - starts[cell[order]]
    return pa.array(draws, pa.int32())
