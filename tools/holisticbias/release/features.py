"""Column types in the formats of Hugging Face ``datasets``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from holisticbias.errors import ReleaseError

Feature = dict[str, Any]


def class_names(metadata: Mapping[bytes, bytes]) -> Mapping[str, Sequence[str]]:
    """Class names of each ClassLabel column in a schema's ``huggingface`` key, which releases had before 3.1.0.

    Raises ``ReleaseError`` if the key does not have the form that ``datasets`` writes.
    """
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
        found = {name: feature["names"] for name, feature in features.items() if feature.get("_type") == "ClassLabel"}
    except (AttributeError, KeyError, ValueError, RecursionError) as error:
        raise ReleaseError("the key huggingface of a Parquet file does not have the form of datasets") from error
    if not all(isinstance(n, str) for names in found.values() for n in (names if isinstance(names, list) else [None])):
        raise ReleaseError("the key huggingface of a Parquet file has classes without names")
    return found


def card_features(schema: pa.Schema) -> list[Feature]:
    """Column types in the format of a dataset card's YAML header."""
    return [_card_feature(field.type, field.name) for field in schema]


def _card_feature(kind: pa.DataType, name: str) -> Feature:
    if pa.types.is_list(kind):
        inner = kind.value_type
        fields = [_card_feature(f.type, f.name) for f in inner] if pa.types.is_struct(inner) else "string"
        return {"name": name, "list": fields}
    return {"name": name, "dtype": _value_type(kind)}


def _value_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    return str(kind) if pa.types.is_integer(kind) else "string"
