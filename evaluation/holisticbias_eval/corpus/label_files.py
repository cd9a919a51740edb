"""Read labels of annotators: CSV in the form of Zhao et al. 2024, or Label Studio's JSON export."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holisticbias.spreadsheet import cell_text, id_forms
from holisticbias_eval.corpus.annotation_files import CHOICES, CONTROL, EXAMPLE_ID
from holisticbias_eval.corpus.label_studio import read_studio, read_text
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
    text = read_text(path, "save it as CSV UTF-8" if kind == ".csv" else "export the project as JSON again")
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
    for annotation in read_studio(path, text, EXAMPLE_ID, "holisticbias corpus annotate"):
        sentence = annotation.data.get("sentence")
        shown = sentence if isinstance(sentence, str) else None
        label = annotation.choice(CONTROL, _LABELS, CHOICES)
        yield GivenLabel(annotation.annotator, (annotation.data[EXAMPLE_ID],), label, shown)
