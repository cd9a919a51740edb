"""JSON Schemas of the source files, generated from their models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from holisticbias.repository import MODELS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schemas() -> Mapping[str, str]:
    """The content of each file in ``schema/``, by its name."""
    return {
        f"{kind}.schema.json": json.dumps({"$schema": DIALECT, **model.model_json_schema()}, indent=2) + "\n"
        for kind, model in MODELS.items()
    }


def stale_schemas(folder: Path) -> tuple[str, ...]:
    """Names of the files in a folder that are not what the models say."""
    return tuple(
        name
        for name, content in json_schemas().items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content.encode()
    )
