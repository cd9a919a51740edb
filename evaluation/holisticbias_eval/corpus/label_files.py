"""Read labels of annotators: CSV in the form of Zhao et al. 2024, or Label Studio's JSON export."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias_eval.corpus.annotation_files import ANNOTATOR, CHOICES, CONTROL, EXAMPLE_ID
from holisticbias_eval.corpus.spreadsheet import cell_text, id_forms
from holisticbias_eval.errors import CorpusError

_LABELS: Mapping[str, int | None] = {
    "": None, "1": 1, "0": 0, "1.0": 1, "0.0": 0, "1,0": 1, "0,0": 0, **CHOICES
}  # fmt: skip
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A row of an annotator's file: what its id may be, its label, null if there is none, and its sentence."""

    annotator: str
    ids: tuple[str, ...]
    label: int | None
    sentence: str | None


def read_label_files(paths: Sequence[Path]) -> list[GivenLabel]:
    """Read the labels of all files; raises ``CorpusError`` with the file and the place of what is wrong."""
    given = [label for path in paths for label in _read(path)]
    stems = [path.stem for path in paths if path.suffix.lower() == ".csv"]
    repeated = next((stem for stem in stems if stems.count(stem) > 1), None)
    if repeated is not None:
        raise CorpusError(f"two CSV files are named {repeated}: name each file after its annotator")
    return given


def _read(path: Path) -> Iterator[GivenLabel]:
    kind = path.suffix.lower()
    if kind not in (".csv", ".json"):
        raise CorpusError(f"{path} is not .csv or .json: give an annotator's CSV file or an export of Label Studio")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text: save it as CSV UTF-8") from error
    return _csv_labels(path, text) if kind == ".csv" else _studio_labels(path, text)


def _csv_labels(path: Path, text: str) -> Iterator[GivenLabel]:
    """The rows of a CSV file, with any of the delimiters that spreadsheet programs write."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = [name.strip().casefold() for name in next(reader, [])]
        for name in ("id", "label"):
            if name not in names:
                raise CorpusError(f"{path} has no column {name}: an annotator's file has ID and Label")
        for row in reader:
            cells = dict(zip(names, row, strict=False))
            if any(cell.strip() for cell in row):
                yield _csv_label(path, reader.line_num, cells)
    except csv.Error as error:
        raise CorpusError(f"{path}:{reader.line_num}: it is not CSV: {error}") from error


def _csv_label(path: Path, line: int, cells: Mapping[str, str]) -> GivenLabel:
    written = cells.get("label", "").strip()
    if written.casefold() not in _LABELS:
        raise CorpusError(
            f"{path}:{line}: the label is {written[:_SHOWN]!r}: write 1 for biased, 0 for not biased, or nothing"
        )
    sentence = cell_text(cells["sentence"]) if "sentence" in cells else None
    return GivenLabel(path.stem, id_forms(cells["id"]), _LABELS[written.casefold()], sentence)


def _studio_labels(path: Path, text: str) -> Iterator[GivenLabel]:
    """The annotations of a JSON export; skipped and empty ones are labels that are missing, drafts are not read."""
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} is not JSON: {str(error)[:_SHOWN]}") from error
    for place, task in enumerate(tasks if isinstance(tasks, list) else [tasks]):
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(task.get("annotations"), list):
            raise CorpusError(f"{path}: task {place + 1} has no data and annotations: export the project as JSON")
        if not isinstance(data.get(EXAMPLE_ID), str):
            raise CorpusError(f"{path}: task {place + 1} has no {EXAMPLE_ID}: it was not made by holisticbias annotate")
        for annotation in task["annotations"]:
            yield _studio_label(path, place, data, annotation)


def _studio_label(path: Path, place: int, data: Mapping[str, Any], annotation: object) -> GivenLabel:
    if not isinstance(annotation, dict):
        raise CorpusError(f"{path}: an annotation of task {place + 1} is not an object: export the project as JSON")
    label = None if annotation.get("was_cancelled") else _choice(path, place, annotation.get("result"))
    named = data.get(ANNOTATOR)
    annotator = named if isinstance(named, str) and named else _user(annotation.get("completed_by"))
    sentence = data.get("sentence")
    return GivenLabel(_writable(annotator), (data[EXAMPLE_ID],), label, sentence if isinstance(sentence, str) else None)


def _choice(path: Path, place: int, result: object) -> int | None:
    """The label of the choices of an annotation, null if none is chosen."""
    regions = [region for region in result if isinstance(region, dict)] if isinstance(result, list) else []
    for region in regions:
        value = region.get("value")
        if region.get("from_name") == CONTROL and isinstance(value, dict) and isinstance(value.get("choices"), list):
            chosen = [str(choice).casefold() for choice in value["choices"]]
            if len(chosen) != 1 or chosen[0] not in _LABELS:
                shown = ", ".join(chosen)[:_SHOWN]
                raise CorpusError(f"{path}: task {place + 1} has the choice {shown!r}: use {' or '.join(CHOICES)}")
            return _LABELS[chosen[0]]
    return None


def _writable(name: str) -> str:
    """A name as the name of a column: JSON may hold halves of characters, which no file can."""
    return name[:_SHOWN].encode("utf-8", "replace").decode()


def _user(completed_by: object) -> str:
    """The name of who completed an annotation, by email if the export has it, else by number."""
    if isinstance(completed_by, dict):
        found = completed_by.get("email") or completed_by.get("id")
        return str(found) if found is not None else "unknown"
    return "unknown" if completed_by is None else str(completed_by)
