"""Files that people label: CSV in the form of Zhao et al. 2024, or tasks for Label Studio."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from holisticbias.output import new_folder, refuse_target
from holisticbias.spreadsheet import safe_cell, safe_id
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.label_studio import ANNOTATOR, studio_tasks
from holisticbias_eval.corpus.published_files import PAPER
from holisticbias_eval.errors import CorpusError

Form = Literal["csv", "label-studio"]
GUIDELINES = "guidelines.md"
CONFIG = "labelling-config.xml"
TASKS = "tasks"
CHOICES = {"biased": 1, "not biased": 0}
"""Choices in Label Studio, and their labels."""
CONTROL = "label"
"""Name of the choices in Label Studio's configuration."""
EXAMPLE_ID = "example_id"
Row = Mapping[str, str | None]


def make_annotation_files(
    examples: Path, out: Path, form: Form, annotators: Sequence[str], *, per_example: int | None = None, seed: int = 0
) -> dict[str, int]:
    """Write a folder with a file for each annotator and the guidelines; returns the number of examples per file.

    Each example goes to ``per_example`` annotators, by default to all; the annotators take turns. Each file has its own
    random order. Tasks for Label Studio may have no annotators: Label Studio then knows who labels what, and one file
    has all. Raises ``CorpusError`` and ``OutputError``.
    """
    refuse_target(out, _may_replace)
    each = _refuse(annotators, form, per_example)
    rows: list[Row] = read_examples(examples).to_pylist()
    shares = _shares(rows, annotators, each, seed) if annotators else {TASKS: _shuffled(rows, seed, TASKS)}
    with new_folder(out, _may_replace) as folder:
        for name, own in shares.items():
            text = _csv(own) if form == "csv" else _tasks(own, name if annotators else None)
            suffix = ".csv" if form == "csv" else ".json"
            (folder / f"{name}{suffix}").write_text(text, "utf-8-sig" if form == "csv" else "utf-8", newline="")
        (folder / GUIDELINES).write_text(_resource(GUIDELINES), "utf-8")
        if form == "label-studio":
            (folder / CONFIG).write_text(_resource(CONFIG), "utf-8")
    return {name: len(own) for name, own in shares.items()}


def _may_replace(_: Path) -> bool:
    """No folder with files is replaced: people may have labelled them."""
    return False


def _refuse(annotators: Sequence[str], form: Form, per_example: int | None) -> int:
    if form == "csv" and not annotators:
        raise CorpusError("name the annotators, such as --annotators a,b: each gets a CSV file")
    for name in annotators:
        if not re.fullmatch(r"[^\W_][\w-]{0,39}", name) or name.lower() in (TASKS, Path(GUIDELINES).stem):
            raise CorpusError(f"{name[:40]!r} cannot name a file: name annotators in letters, digits, _ and -")
    if len({name.lower() for name in annotators}) < len(annotators):
        raise CorpusError("two annotators have the same name")
    each = len(annotators) if per_example is None else per_example
    if each > len(annotators):
        raise CorpusError(f"{each} annotators for each example are more than the {len(annotators)} that are named")
    return each


def _shares(rows: Sequence[Row], annotators: Sequence[str], each: int, seed: int) -> dict[str, list[Row]]:
    """The examples of each annotator: of ``each`` in turn."""
    shares: dict[str, list[Row]] = {name: [] for name in annotators}
    for place, row in enumerate(_shuffled(rows, seed, "turns")):
        for turn in range(each):
            shares[annotators[(place + turn) % len(annotators)]].append(row)
    return {name: _shuffled(own, seed, name) for name, own in shares.items()}


def _shuffled(rows: Sequence[Row], seed: int, name: str) -> list[Row]:
    return sorted(rows, key=lambda row: hashlib.sha256(json.dumps([seed, name, row["id"]]).encode()).digest())


def _csv(rows: Sequence[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(PAPER)
    for row in rows:
        cells = (safe_cell(row[name] or "") for name in ("target", "attribute", "text"))
        writer.writerow([safe_id(row["id"] or ""), *cells, ""])
    return file.getvalue()


def _tasks(rows: Sequence[Row], annotator: str | None) -> str:
    """Tasks in Label Studio's basic JSON form."""
    named = {} if annotator is None else {ANNOTATOR: annotator}
    return studio_tasks(
        {
            EXAMPLE_ID: row["id"],
            "target": row["target"] or "",
            "attribute": row["attribute"] or "",
            "sentence": row["text"],
            **named,
        }
        for row in rows
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
