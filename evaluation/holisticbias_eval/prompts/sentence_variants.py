"""Stylistic variants of sentences that are scored (Smith et al. 2022, A.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from holisticbias.compile.variants import VARIANTS, vary

_USED = (
    "descriptor_id", "noun_id", "descriptor", "noun", "plural_noun", "noun_phrase", "plural_noun_phrase",
    "noun_phrase_type",
)  # fmt: skip
_AT_ONCE = 1 << 16


def drawn_variants(seed: int, descriptor: str | None, noun: str | None) -> list[str]:
    """The variants of a descriptor with a noun, each drawn with probability 1/2.

    They are the same in every template, so that templates of opposite stance are still compared with equal phrases.
    """
    drawn = hashlib.sha256(f"{seed} {descriptor or ''}/{noun or ''}".encode()).digest()[0]
    return [name for place, name in enumerate(VARIANTS) if drawn >> place & 1]


def varied_texts(sentences: pa.Table, seed: int) -> tuple[pa.Array, pa.Array]:
    """The texts of a release's sentences in their variants, and the noun phrase of each, as in its template."""
    texts, phrases = list[str](), list[str]()
    for row in _rows(sentences, "template"):
        drawn = drawn_variants(seed, row["descriptor_id"], row["noun_id"])
        slot = "{plural_noun_phrase}" if "{plural_noun_phrase}" in row["template"] else "{noun_phrase}"
        texts.append(vary(row, drawn)[0])
        phrases.append(_phrase(row, slot, drawn))
    return pa.array(texts, pa.string()), pa.array(phrases, pa.string())


def varied_phrases(phrases: pa.Table, seed: int) -> Mapping[str, list[str]]:
    """The columns ``noun_phrase`` and ``plural_noun_phrase`` of distinct phrases in their variants."""
    found: dict[str, list[str]] = {"noun_phrase": [], "plural_noun_phrase": []}
    for row in _rows(phrases):
        drawn = drawn_variants(seed, row["descriptor_id"], row["noun_id"])
        for name, column in found.items():
            column.append(_phrase(row, f"{{{name}}}", drawn))
    return found


def ends_bare(phrases: pa.Table, seed: int) -> list[bool]:
    """Whether the final period of the sentences with each phrase is dropped."""
    keys = phrases.select(["descriptor_id", "noun_id"]).to_pylist()
    return ["drop_final_period" in drawn_variants(seed, key["descriptor_id"], key["noun_id"]) for key in keys]


def _phrase(row: Mapping[str, Any], slot: str, drawn: list[str]) -> str:
    return vary({**row, "template": slot}, drawn)[0]


def _rows(table: pa.Table, *more: str) -> Iterator[dict[str, Any]]:
    """The rows with the columns that variants need."""
    used = table.select([*_USED, *more])
    for start in range(0, table.num_rows, _AT_ONCE):
        yield from used.slice(start, _AT_ONCE).to_pylist()
