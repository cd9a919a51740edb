"""Make the files that people label, and read them: CSV in the form of Zhao et al. 2024, or Label Studio's."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from holisticbias.output import new_folder, refuse_target
from holisticbias.spreadsheet import csv_text, id_forms, marked_id
from holisticbias_eval.corpus.documents import digest_of
from holisticbias_eval.corpus.examples import CHOICES, LABELS, read_examples
from holisticbias_eval.corpus.label_studio import ANNOTATOR, CONFIG, read_studio, studio_tasks
from holisticbias_eval.corpus.published import PAPER
from holisticbias_eval.corpus.settings import AnnotationForm, AnnotationSettings
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import is_table_name, table_stem, table_suffix
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tables.rows import read_json

GUIDELINES = "guidelines.md"
TASKS = "tasks"
_CONTROL = "label"  # name of the choices in Label Studio's configuration
_EXAMPLE = "example_id"
_FORM = Form("labels", (*columns("label", "id", "label", need=True), Field("sentence", "text")), any_case=True)
_SHOWN = 80
Row = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class AnnotatorLabel:
    """A row of an annotator's file: what its id may be, its label, null if there is none, and its sentence.

    ``place`` is the file and the row or the task.
    """

    place: str
    annotator: str
    ids: tuple[str, ...]
    label: int | None
    sentence: str | None

    def has_other(self, text: str) -> bool:
        """Whether the row has another sentence than an example with this text."""
        return self.sentence is not None and self.sentence.split() != text.split()


def make_annotation_files(examples: Path, out: Path, settings: AnnotationSettings) -> dict[str, int]:
    """Write a folder with a file for each annotator and the guidelines; returns the number of examples per file.

    Each example goes to ``per_example`` annotators, by default to all; the annotators take turns. Each file has its own
    random order. Tasks for Label Studio may have no annotators: Label Studio then knows who labels what, and one file
    has all. A folder with files is not replaced: people may have labelled them. Raises ``CorpusError`` and
    ``OutputError``.
    """
    refuse_target(out)
    annotators, form = settings.names, settings.form
    _refuse_names(annotators, form)
    each = len(annotators) if settings.per_example is None else settings.per_example
    if each > len(annotators):
        raise CorpusError(f"{each} annotators for each example are more than the {len(annotators)} that are named")
    shares = _shares(read_examples(examples).to_pylist(), annotators or (TASKS,), each or 1, settings.seed)
    with new_folder(out) as folder:
        for name, share in shares.items():
            if form == "csv":
                (folder / f"{name}.csv").write_text(_csv(share), "utf-8-sig", newline="")
            else:
                tasks = studio_tasks(_task(row, name if annotators else None) for row in share)
                (folder / f"{name}.json").write_text(tasks, "utf-8", newline="")
        for resource in (GUIDELINES, CONFIG) if form == "label-studio" else (GUIDELINES,):
            (folder / resource).write_bytes(files(__package__).joinpath(resource).read_bytes())
    return {name: len(share) for name, share in shares.items()}


def _refuse_names(annotators: Sequence[str], form: AnnotationForm) -> None:
    if form == "csv" and not annotators:
        raise CorpusError("name the annotators, such as --annotators a,b: each gets a CSV file")
    for name in annotators:
        if not re.fullmatch(r"[^\W_][\w-]{0,39}", name) or name.lower() in (TASKS, Path(GUIDELINES).stem):
            raise CorpusError(f"{name[:40]!r} cannot name a file: name annotators in letters, digits, _ and -")
    if len({name.lower() for name in annotators}) < len(annotators):
        raise CorpusError("two annotators have the same name")


def _shares(rows: Sequence[Row], annotators: Sequence[str], each: int, seed: int) -> dict[str, list[Row]]:
    """The examples of each annotator: of ``each`` in turn."""
    shares: dict[str, list[Row]] = {name: [] for name in annotators}
    for place, row in enumerate(sorted(rows, key=lambda row: digest_of(seed, "turns", row["id"]))):
        for turn in range(each):
            shares[annotators[(place + turn) % len(annotators)]].append(row)
    for name, share in shares.items():
        share.sort(key=lambda row: digest_of(seed, name, row["id"]))
    return shares


def _csv(rows: Sequence[Row]) -> str:
    made = ([marked_id(row["id"] or ""), row["target"], row["attribute"], row["text"], None] for row in rows)
    return csv_text([PAPER, *made], end="\r\n")


def _task(row: Row, annotator: str | None) -> Row:
    about = {"target": row["target"] or "", "attribute": row["attribute"] or "", "sentence": row["text"]}
    return {_EXAMPLE: row["id"], **about, **({} if annotator is None else {ANNOTATOR: annotator})}


def read_label_files(paths: Sequence[Path]) -> list[AnnotatorLabel]:
    """Read the labels of all files; raises ``CorpusError`` with the file and the place of what is wrong."""
    labels: list[AnnotatorLabel] = []
    stems: list[str] = []
    for path in paths:
        if table_suffix(path) == ".json":
            labels += _studio_labels(path)
        elif is_table_name(path):
            labels += _table_labels(path)
            stems.append(table_stem(path))
        else:
            raise CorpusError(f"{path} is not a table or .json: give an annotator's file or an export of Label Studio")
    repeated = next((stem for stem in stems if stems.count(stem) > 1), None)
    if repeated is not None:
        raise CorpusError(f"two files are named {repeated}: name each file after its annotator")
    if not labels:
        advice = "fill in the column Label, or label the tasks and export them again"
        raise CorpusError(f"{', '.join(map(str, paths))}: there are no labels: {advice}")
    return labels


def _table_labels(path: Path) -> Iterator[AnnotatorLabel]:
    """The rows of an annotator's table."""
    for number, row in enumerate(_FORM.read(path).to_pylist(), 1):
        label = (row["label"] or "").strip()
        if label.casefold() not in LABELS:
            raise CorpusError(
                f"{path}: row {number}: the label is {label[:_SHOWN]!r}: write 1 for biased, 0 for not biased, or "
                "nothing"
            )
        if label and not row["id"]:
            raise CorpusError(f"{path}: row {number}: column ID is missing: write the id of the example")
        if row["id"]:
            place, ids = f"{path.name}: row {number}", id_forms(row["id"])
            yield AnnotatorLabel(place, table_stem(path), ids, LABELS[label.casefold()], row.get("sentence"))


def _studio_labels(path: Path) -> Iterator[AnnotatorLabel]:
    """The annotations of a JSON export; skipped and empty ones are labels that are missing, drafts are not read."""
    tasks = read_json(path, CorpusError, "export the project as JSON again")
    for annotation in read_studio(path, tasks, _EXAMPLE, "holisticbias corpus annotate"):
        sentence = annotation.data.get("sentence")
        shown = sentence if isinstance(sentence, str) else None
        label = annotation.choice(_CONTROL, LABELS, CHOICES)
        place = f"{path.name}: task {annotation.task}"
        yield AnnotatorLabel(place, annotation.annotator, (annotation.data[_EXAMPLE],), label, shown)
