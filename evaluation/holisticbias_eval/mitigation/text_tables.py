"""Tables of texts to train on, and what their metadata says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

_COUNTS, _FIRST_TOKENS = b"counts", b"first_tokens"


def describe_texts(table: pa.Table, first_tokens: Sequence[int], counts: Mapping[str, int]) -> pa.Table:
    """The table with its counts, and the token ids that open each of its texts, in the metadata."""
    return table.replace_schema_metadata({_FIRST_TOKENS: json.dumps(list(first_tokens)), _COUNTS: json.dumps(counts)})


def first_tokens_of(table: pa.Table) -> tuple[int, ...] | None:
    """The token ids that open each text that does not begin with them; None if the table does not say."""
    known = (table.schema.metadata or {}).get(_FIRST_TOKENS)
    return None if known is None else tuple(map(int, json.loads(known)))
