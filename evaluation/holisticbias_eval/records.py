"""Records as JSON: of what was asked to make the content of a folder, and whether other content may replace it."""

import json
import os
from abc import abstractmethod
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from holisticbias.inputs import refuse_unreadable, require_file, whole_text
from holisticbias.source.schema_messages import first_fault
from holisticbias_eval.errors import EvaluationError, RunError
from holisticbias_eval.figures import Part

_LARGEST = 1_000_000_000  # bytes
R = TypeVar("R", bound=BaseModel)


def read_record(path: Path, kind: type[R], error: type[EvaluationError], remedy: str = "") -> R:
    """Read a record; raises ``error`` with the remedy if it is missing or damaged."""
    with refuse_unreadable(path, error, remedy):
        content = require_file(path, _LARGEST).read_bytes().removeprefix(BOM_UTF8)
    try:
        return kind.model_validate_json(content)
    except ValidationError as cause:
        fault = f"{path} is damaged or of another version: {first_fault(cause)}"
        raise error(f"{fault}; {remedy}" if remedy else fault) from cause


def record_json(record: BaseModel | Mapping[str, Any]) -> str:
    """A record as indented JSON in the letters of any script, with a line end."""
    if isinstance(record, BaseModel):
        return record.model_dump_json(indent=2) + "\n"
    return whole_text(json.dumps(record, indent=2, ensure_ascii=False)) + "\n"


class FolderRecord(Part):
    """A record in a folder, such as ``sentences.json``."""

    @property
    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """The properties that are equal if two folders hold the same."""

    def may_replace(self, file: Path, what: str, error: type[EvaluationError] = RunError, *, overwrite: bool) -> bool:
        """Whether a folder with this ``file`` may be replaced: it holds the same, or anything if ``overwrite``.

        ``what`` is in its folder. Raises ``error`` if a record is there that cannot be read, or of something else.
        """
        if overwrite or not file.is_file():
            return file.is_file()
        advice = "name another folder with --out, or replace it with --overwrite"
        old = read_record(file, type(self), error, advice)
        differs = [key for key, value in self.asked.items() if old.asked[key] != value]
        if differs:
            raise error(f"{file.parent} holds {what} ({', '.join(differs)} differ): {advice}")
        return True


def named_paths(values: Mapping[str, Any]) -> list[Path]:
    """The files that settings name, and the folders that are given as paths."""
    named = (one for value in values.values() for one in (value if isinstance(value, list | tuple) else (value,)))
    return [
        Path(one)
        for one in named
        if isinstance(one, Path) or (isinstance(one, str) and os.path.isfile(one))  # noqa: PTH113 - a text can be long
    ]
