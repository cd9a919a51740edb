"""Read published files of sentences about groups in their own form; the files are the user's, and none is shipped.

Forms: RedditBias (Barikeri et al. 2021), files ``reddit_comments_DIMENSION_GROUP_PART.csv``; the same without
``reddit_comments_``, with the column ``replaced_sentence``; and the table of Zhao et al. 2024, appendix B.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.fields import Field

PAPER = ("ID", "Target", "Attribute", "Sentence", "Label")
"""Columns of Zhao et al. 2024, table 7."""
_NAMES = (
    re.compile(r"reddit_comments_(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>\w+)"),
    re.compile(r"(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>test|valid|train)"),
)
_ANNOTATED = "processed_phrase_annotated"
_PREFERRED = "biased_test_reduced"
_SENTENCES = ("comments_processed", "replaced_sentence")
_LABELS = {"1": 1, "1.0": 1, "0": 0, "0.0": 0}
_EXAMPLES = pa.schema([
    *((name, pa.string()) for name in (
        "id", "dimension", "group", "target", "attribute", "attribute_set", "text", "source",
    )),
    ("label", pa.int8()),
])  # fmt: skip
_TEST_SETS = pa.schema([
    *((name, pa.string()) for name in ("dimension", "sentence_id", "group", "sentence")), ("perplexity", pa.float64()),
])  # fmt: skip
_PERPLEXITY = "perplexity"
_SHOWN = 80
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file about one group: ``reddit_comments_DIMENSION_GROUP_PART.csv`` or ``DIMENSION_GROUP_PART.csv``."""

    path: Path
    dimension: str
    group: str
    part: str

    @property
    def series(self) -> tuple[str, str]:
        """The dimension and part, which the files of all groups with the same sentences share."""
        return self.dimension, self.part


def is_published(path: Path) -> bool:
    """Whether a path is a published file, or a folder with some."""
    if path.is_dir():
        return bool(_files_of(path))
    return _is_paper_form(path) or (_by_name(path) is not None and bool(_header(path) & {*_SENTENCES, "phrase"}))


def read_published_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read examples from a published file, or from the annotated files of a folder (else its training files).

    RedditBias' annotated files give the phrase and its label, null if it is neither 1 nor 0; its other files hold
    biased sentences. The table of Zhao et al. 2024 gives target, attribute and label. With a specification, dimension
    and group are its own, and target and attribute are found in the text; without it they are those of the file.
    Raises ``CorpusError``.
    """
    if path.is_dir() or not _is_paper_form(path):
        rows = [row for file in _files_of_examples(path) for row in _reddit_examples(file)]
    else:
        rows = list(_paper_examples(path, specification))
    if not rows:
        raise CorpusError(f"{path} has no sentence")
    if specification is not None:
        rows = [_with_terms(row, specification) for row in rows]
    return pa.Table.from_pylist(rows, _EXAMPLES)


def read_test_sets(path: Path) -> pa.Table:
    """Read test sets whose rows are the same sentences about different groups.

    ``path`` is one group's file, which comes first and whose other groups are read from the same folder, or a folder,
    whose groups are sorted by name. The result has ``dimension``, ``sentence_id`` (the row), ``group``, ``sentence``
    and ``perplexity``, null if there is none.
    Raises ``CorpusError`` if the groups have different numbers of rows, or if a folder has several test sets, and
    ``TableError`` for a row without a sentence, or with a perplexity that is not a number.
    """
    made = []
    for file in _series(path):
        label, rows = str(file.path), _read_rows(file.path)
        name = _named(rows, _SENTENCES, file.path)
        sentences, perplexities = (_texts(rows, column) for column in (name, _PERPLEXITY))
        Field(name, "name").refuse_missing(label, name, sentences)
        columns = {
            "dimension": [file.dimension] * len(rows),
            "sentence_id": [str(number) for number in range(len(rows))],
            "group": [file.group] * len(rows),
            "sentence": sentences,
            "perplexity": Field(_PERPLEXITY, "number").read(label, _PERPLEXITY, perplexities),
        }
        made.append(pa.table(columns).cast(_TEST_SETS))
    return pa.concat_tables(made)


def read_group_perplexities(path: Path) -> pa.Table:
    """Read the perplexities that published test sets have; see ``read_test_sets``.

    A perplexity of 0 marks a sentence that failed in the published code; it is kept as it is.
    Raises ``CorpusError`` if a group has no perplexities.
    """
    table = read_test_sets(path)
    scored = set(table.filter(table["perplexity"].is_valid())["group"].to_pylist())
    without = [group for group in dict.fromkeys(table["group"].to_pylist()) if group not in scored]
    if without:
        raise CorpusError(f"{path}: {', '.join(without)} has no column perplexity: score the sentences first")
    return table


def published_paths(path: Path) -> tuple[Path, ...]:
    """The files that ``read_test_sets`` reads for a published file or folder; raises ``CorpusError``."""
    return tuple(file.path for file in _series(path))


def _by_name(path: Path) -> PublishedFile | None:
    """The file's dimension, group and part by its name, null if it is not a name of a published file."""
    for name in _NAMES:
        if path.suffix.lower() == ".csv" and (match := name.fullmatch(path.stem)):
            return PublishedFile(path, match["dimension"], match["group"], match["part"])
    return None


def _files_of(path: Path) -> list[PublishedFile]:
    """The file with this name, or the published files of a folder and of the folders in it, sorted by path."""
    paths = sorted(p for p in path.rglob("*.csv") if p.is_file()) if path.is_dir() else [path]
    files = [file for path in paths if (file := _by_name(path))]
    if not files and not path.is_dir():
        raise CorpusError(f"{path} is not a published file that is known: see docs/corpora.md")
    return files


def _files_of_examples(path: Path) -> Sequence[PublishedFile]:
    """One file; of a folder all files that are annotated, else all for training."""
    files = _files_of(path)
    if not path.is_dir():
        return files
    annotated = [file for file in files if file.part == _ANNOTATED]
    training = [file for file in files if "train" in file.part]
    if not annotated and not training:
        raise CorpusError(f"{path} has no annotated file and none for training: name one file")
    return annotated or training


def _series(path: Path) -> Sequence[PublishedFile]:
    """The files with the same sentences about different groups."""
    file = None if path.is_dir() else _files_of(path)[0]
    series: dict[tuple[str, str], list[PublishedFile]] = {}
    for other in _files_of(path if file is None else path.parent):
        if file is None or (other.series == file.series and other.path.parent == path.parent):
            series.setdefault(other.series, []).append(other)
    series = {key: files for key, files in series.items() if len(files) > 1 and (file or "test" in key[1])}
    series = {key: files for key, files in series.items() if key[1] == _PREFERRED} or series
    if len({key[0] for key in series}) < len(series) or not series:
        parts = ", ".join(f"{dimension}: {part}" for dimension, part in sorted(series))
        why = f"has several test sets ({parts}): name a file" if series else "has no test set of two groups or more"
        raise CorpusError(f"{path} {why}")
    for files in series.values():
        lengths = {other.path.name: len(_read_rows(other.path)) for other in files}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
            raise CorpusError(f"the groups have different numbers of sentences, so these are not pairs: {shown}")
    chosen = [other for files in series.values() for other in files]
    return sorted(chosen, key=lambda other: file is not None and other.path != path)


def _reddit_examples(file: PublishedFile) -> Iterator[Row]:
    rows = _read_rows(file.path)
    annotated = "bias_phrase" in rows[0]
    name = _named(rows, ("phrase",) if annotated else _SENTENCES, file.path)
    for number, row in enumerate(rows):
        if text := row[name].strip():
            yield {
                "id": f"{file.path.stem}:{number}",
                "dimension": file.dimension,
                "group": file.group,
                "text": text,
                "source": row.get("id") or file.path.name,
                "label": _LABELS.get(row["bias_phrase"].strip()) if annotated else 1,
            }


def _paper_examples(path: Path, specification: Specification | None) -> Iterator[Row]:
    for number, row in enumerate(_read_rows(path)):
        if row["Sentence"].strip():
            target = row["Target"].strip()
            yield {
                "id": row.get("ID", "").strip() or str(number),
                "dimension": path.stem,
                "group": _group_of(target, specification) or target,
                "target": target or None,
                "attribute": row["Attribute"].strip() or None,
                "text": row["Sentence"].strip(),
                "source": path.name,
                "label": _LABELS.get(row.get("Label", "").strip()),
            }


def _with_terms(row: Row, specification: Specification) -> Row:
    """The row with the specification's dimension, and its group, target and attribute as the text has them.

    Of several targets the group's own counts, and of several attributes the row's own, else the first.
    """
    text, group = str(row["text"]), _group_of(str(row["group"]), specification)
    terms: Row = {"dimension": specification.id}
    targets = [mention.of for mention in target_finder(specification).find(text)]
    if targets:
        target = next((target for target in targets if target.group == group), targets[0])
        terms |= {"group": target.group, "target": target.term}
    if group is not None:
        terms["group"] = group
    attributes = [mention.of for mention in attribute_finder(specification).find(text)]
    if attributes:
        attribute = next((a for a in attributes if a.term == row.get("attribute")), attributes[0])
        terms |= {"attribute": attribute.term, "attribute_set": attribute.attribute_set}
    return row | terms


def _group_of(name: str, specification: Specification | None) -> str | None:
    """The specification's group with this name, label or term, in any case; also a plural in s of the name."""
    if specification is None:
        return None
    wanted = {name.casefold(), name.casefold().removesuffix("s")}
    for group in specification.groups:
        if wanted & {group.name.casefold(), group.label.casefold()}:
            return group.name
    mention = next(target_finder(specification).find(name), None)
    return None if mention is None else mention.of.group


def _read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, all cells as text; the index that pandas writes is left out.

    A file that is not UTF-8 is read as Latin-1, as its authors do. Raises ``CorpusError``.
    """
    try:
        content = path.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=False))
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise CorpusError(f"{path} is not CSV: {error}") from error
    header = [name.strip() for name in rows[0]] if rows else []
    kept = [i for i, name in enumerate(header) if name and not name.startswith("Unnamed:")]
    found = [{header[i]: row[i] if i < len(row) else "" for i in kept} for row in rows[1:] if any(row)]
    if not found:
        raise CorpusError(f"{path} has no rows")
    return found


def _named(rows: Sequence[dict[str, str]], names: Sequence[str], path: Path) -> str:
    """The first of these columns that the rows have; raises ``CorpusError`` if they have none."""
    header = rows[0]
    for name in names:
        if name in header:
            return name
    shown = ", ".join(repr(name[:_SHOWN]) for name in list(header)[:10])
    raise CorpusError(f"{path} has no column {' or '.join(names)}; found {shown}")


def _texts(rows: Sequence[dict[str, str]], name: str) -> pa.ChunkedArray:
    """A column of the rows, empty if they do not have it."""
    return pa.chunked_array([pa.array([row.get(name, "") for row in rows], pa.large_string())])


def _is_paper_form(path: Path) -> bool:
    """Whether a file has the columns of Zhao et al. 2024, table 7; the id and the label may be missing."""
    return _header(path) >= set(PAPER[1:4])


def _header(path: Path) -> frozenset[str]:
    """The names of the columns of a CSV file, empty if it is not one or cannot be read."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return frozenset()
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 16).decode("utf-8-sig", "replace")
        return frozenset(name.strip() for name in next(csv.reader([first.strip()]), []))
    except (OSError, csv.Error):
        return frozenset()
