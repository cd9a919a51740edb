"""JSON Schemas of the models of source files and of the models that other packages register."""

import json
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from pydantic import BaseModel

from holisticbias.terms.file_kinds import GROUP_KEYS, MODELS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
GROUP = "holisticbias.schemas"


def json_schemas() -> Mapping[str, str]:
    """The content of each file in ``schema/``, by file name."""
    models: dict[str, type[BaseModel]] = dict(MODELS.items()) | _of_other_packages()
    return {
        f"{kind}.schema.json": json.dumps({"$schema": DIALECT, **_schema(kind, model)}, indent=2) + "\n"
        for kind, model in models.items()
    }


def _schema(kind: str, model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model; a file of new entries has the same schema, and does not repeat the label of its group."""
    schema = model.model_json_schema()
    if kind in GROUP_KEYS:
        schema["required"] = [key for key in schema["required"] if key != "label"]
    return schema


def _of_other_packages() -> dict[str, type[BaseModel]]:
    """Models of the entry points; skips models that need an extra that is not installed."""
    models = {}
    for entry in entry_points(group=GROUP):
        try:
            models[entry.name] = entry.load()
        except ModuleNotFoundError:
            continue
    return models
