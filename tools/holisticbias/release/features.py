"""Column types in the formats of Hugging Face ``datasets``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from holisticbias.errors import ReleaseError

Feature = dict[str, Any]
AXES = ("axis", "axis_1", "axis_2")


def schema_metadata(schema: pa.Schema, axes: Sequence[str]) -> dict[bytes, bytes]:
    """The ``huggingface`` key of a Parquet schema, which makes ``datasets`` read axes as classes."""
    features = {field.name: _feature(field.type, field.name, axes) for field in schema}
    return {b"huggingface": json.dumps({"info": {"features": features}}).encode()}


def class_names(metadata: Mapping[bytes, bytes]) -> Mapping[str, Sequence[str]]:
    """Class names of each ClassLabel column in the ``huggingface`` key of a Parquet schema.

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


def _feature(kind: pa.DataType, name: str, axes: Sequence[str]) -> Feature:
    if name in AXES:
        return {"names": list(axes), "_type": "ClassLabel"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type, "", axes), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type, "", axes) for field in kind}
    return {"dtype": _value_type(kind), "_type": "Value"}


def card_features(schema: pa.Schema, axes: Sequence[str]) -> list[Feature]:
    """Column types in the format of a dataset card's YAML header."""
    return [_card_feature(field.type, field.name, axes) for field in schema]


def _card_feature(kind: pa.DataType, name: str, axes: Sequence[str]) -> Feature:
    if name in AXES:
        return {"name": name, "dtype": {"class_label": {"names": {str(i): axis for i, axis in enumerate(axes)}}}}
    if pa.types.is_list(kind):
        inner = kind.value_type
        fields = [_card_feature(f.type, f.name, axes) for f in inner] if pa.types.is_struct(inner) else "string"
        return {"name": name, "list": fields}
    return {"name": name, "dtype": _value_type(kind)}


def _value_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    return str(kind) if pa.types.is_integer(kind) else "string"
