"""YAML files of one kind that come with the package, found by name, or given as a path."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from holisticbias.inputs import refuse_broken
from holisticbias.source.document import read_document
from holisticbias.source.schema_messages import first_fault
from holisticbias_eval.errors import EvaluationError

_PACKAGE = Path(__file__).resolve().parent
T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")


@dataclass(frozen=True)
class NamedFiles(Generic[T]):
    """The files of one kind: ``what`` says what a file holds, ``folder`` where the package keeps them.

    ``record`` is the model of a file, and ``error`` is raised if a file is missing or invalid. With ``blanks``, a text
    may be blank.
    """

    what: str
    folder: str
    record: type[T]
    error: type[EvaluationError] = EvaluationError
    blanks: bool = False

    def available(self) -> Mapping[str, Path]:
        """The files that come with the package, by name."""
        return {path.stem: path for folder in data_folders(self.folder) for path in sorted(folder.glob("*.yaml"))}

    def find(self, name: str) -> Path:
        """The file of this name, or at this path; raises ``error`` if there is none."""
        known = self.available()
        path = known.get(name, Path(name))
        if not path.is_file():
            raise self.error(f"there is no {self.what} {name!r} and no such file; available: {', '.join(known)}")
        return path

    def read(self, name: str) -> T:
        """Read the file of this name, or at this path; raises ``error`` with the place if it is missing or invalid."""
        path = self.find(name)
        return read_yaml(path, self.record.model_validate, self.error, blanks=self.blanks)


def data_folders(name: str) -> tuple[Path, Path]:
    """The folders of this name that files of the package may be in: installed, and in a clone of the repository."""
    return _PACKAGE / "data" / name, _PACKAGE.parent / name


def read_yaml(path: Path, made_of: Callable[[Any], R], error: type[EvaluationError], *, blanks: bool = False) -> R:
    """Read a YAML file into a record.

    Raises ``error`` with the place of the first mistake; a blank text is one unless texts may be ``blanks``.
    """
    document = read_document(path, str(path))
    if document.findings:
        found = document.findings[0]
        raise error(f"{path}:{found.line}: {found.message.removesuffix('.')}: {found.fix}")
    for keys, (line, _) in document.places.items():
        value = reduce(getitem, keys, document.data)  # type: ignore[arg-type] # keys lead to values
        if isinstance(value, str) and value.isspace() and not blanks:
            raise error(f"{path}:{line}: {'.'.join(map(str, keys))} is blank: write a text, or remove it")
        if isinstance(value, str):
            refuse_broken(f"{path}:{line}: {'.'.join(map(str, keys))}", value, error)
    try:
        return made_of(document.data)
    except ValidationError as cause:
        raise error(f"{path}: {first_fault(cause)[:400]}") from cause
