"""Tables of examples: sentences of people that mention a group and an attribute, before and after annotation.

Published files of sentences about groups in their own form are read as examples too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from holisticbias.output import new_file, refuse_file
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus import published
from holisticbias_eval.corpus.documents import digest_of
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.records import record_json
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import table_stem
from holisticbias_eval.tables.forms import Form
from holisticbias_eval.tables.written import FORMS, form_of, write_table

_ANNOTATED = "processed_phrase_annotated"
CHOICES = {"biased": 1, "not biased": 0}
"""Choices in Label Studio, and their labels."""
LABELS: Mapping[str, int | None] = {"": None, "1": 1, "0": 0, "1.0": 1, "0.0": 0, "1,0": 1, "0,0": 0, **CHOICES}
"""The label of a cell of annotators, in small letters, as spreadsheets and people write it."""
Row = dict[str, object]


def read_published_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read examples from a published file, or from the annotated files of a folder (else its training files).

    RedditBias' annotated files give the phrase and its label, null if ``LABELS`` does not have it; its other files hold
    biased sentences, or unbiased ones if their name says so. The table of Zhao et al. 2024 gives target, attribute and
    label. With a specification, dimension and group are its own, and target and attribute are found in the text;
    without it they are those of the file. Raises ``CorpusError``.
    """
    if path.is_dir() or not published.is_paper_form(path):
        rows = [row for file in _files_of_examples(path) for row in _reddit_examples(file)]
    else:
        rows = list(_paper_examples(path, specification))
    if not rows:
        raise CorpusError(f"{path} has no sentence")
    if specification is not None:
        rows = [_with_terms(row, specification) for row in rows]
    return pa.Table.from_pylist(rows, SCHEMA)


def _files_of_examples(path: Path) -> Sequence[published.PublishedFile]:
    """One file; of a folder all files that are annotated, else all for training."""
    files = published.files_of(path)
    if not path.is_dir():
        return files
    annotated = [file for file in files if file.part == _ANNOTATED]
    training = [file for file in files if "train" in file.part]
    if not annotated and not training:
        raise CorpusError(f"{path} has no annotated file and none for training: name one file")
    return annotated or training


def _reddit_examples(file: published.PublishedFile) -> Iterator[Row]:
    rows = published.read_rows(file.path)
    annotated, all_alike = {"phrase", "bias_phrase"} <= rows[0].keys(), 0 if "unbiased" in file.part else 1
    name = published.column_among(rows, ("phrase",) if annotated else published.SENTENCES, file.path)
    for number, row in enumerate(rows):
        if text := row[name].strip():
            yield {
                "id": f"{table_stem(file.path)}:{number}",
                "dimension": file.dimension,
                "group": file.group,
                "text": text,
                "document": row.get("id") or file.path.name,
                "label": _label_of(row["bias_phrase"]) if annotated else all_alike,
            }


def _paper_examples(path: Path, specification: Specification | None) -> Iterator[Row]:
    for number, row in enumerate(published.read_rows(path)):
        if row["Sentence"].strip():
            target = row["Target"].strip()
            yield {
                "id": row.get("ID", "").strip() or str(number),
                "dimension": table_stem(path),
                "group": _group_of(target, specification) or target,
                "target": target or None,
                "attribute": row["Attribute"].strip() or None,
                "text": row["Sentence"].strip(),
                "document": path.name,
                "label": _label_of(row.get("Label", "")),
            }


def _label_of(cell: str) -> int | None:
    return LABELS.get(cell.strip().casefold())


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


COLUMNS = ("id", "dimension", "group", "target", "attribute", "attribute_set", "text", "document", "date")
"""Columns of a table of examples, all text: ``dimension`` is the id of a specification."""
REQUIRED = ("dimension", "group", "text")
LABEL = "label"
"""1 biased, 0 not biased, null if the annotators disagree or too few have labelled."""
STATE = "annotation"
"""``agreed``, ``disagreed`` or ``incomplete``, if fewer than two annotators have labelled."""
LABEL_OF = "label:"
"""Beginning of the column with an annotator's labels."""
SCHEMA = pa.schema([*((name, pa.string()) for name in COLUMNS), (LABEL, pa.int8())])
Column: TypeAlias = "pa.ChunkedArray | pa.Array"
FORM = Form(
    "examples",
    (
        *(Field(n, need=n in REQUIRED, formerly="source" if n == "document" else None) for n in COLUMNS),
        Field(LABEL, "number", choices=(0, 1)),
        Field(STATE),
        Field(LABEL_OF, "number", choices=(0, 1), prefix=True),
    ),
    blank_is_missing=True,
)


def read_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read a table of examples: .parquet, .csv or .jsonl, or published files in their own form.

    The result has ``COLUMNS``, null where the file has no such column, then ``label``, ``annotation`` and the labels of
    annotators if it has them; labels are 1, 0 or null. A row without an id gets one from its content.
    ``specification`` names the groups and terms of published files; see ``read_published_examples``.
    Raises ``CorpusError`` and ``TableError``.
    """
    is_known = published.is_published(path)
    if path.is_dir() and not is_known:
        raise CorpusError(f"{path} is a folder without published files that are known: name a table of examples")
    table = read_published_examples(path, specification) if is_known else FORM.read(path)
    none = pa.nulls(len(table), pa.string())
    columns: dict[str, Column] = {n: table[n] if n in table.column_names else none for n in COLUMNS}
    for name in REQUIRED:
        Field(name).refuse_missing(str(path), name, columns[name])
    columns["id"] = _ids(path, columns)
    for name in (name for name in table.column_names if name not in COLUMNS):
        columns[name] = table[name] if name == STATE else table[name].cast(pa.int8())
    return pa.table(columns)


def record_of(path: Path, suffix: str) -> Path:
    """The file of the record beside a table, such as ``EXAMPLES.csv.agreement.json``."""
    return path.with_name(path.name + suffix)


def write_with_record(table: pa.Table, record: Mapping[str, Any], path: Path, suffix: str) -> None:
    """Write a table of examples and the record beside it; without room for both, neither."""
    with new_file(record_of(path, suffix)) as unfinished:
        unfinished.write_text(record_json(record), "utf-8")
        write_table(table, path)


def refuse_with_record(path: Path, suffix: str, sources: Sequence[Path]) -> None:
    """Raise ``OutputError`` if ``write_with_record`` would, or would replace a source."""
    form_of(path, *FORMS)
    for file in (path, record_of(path, suffix)):
        refuse_file(file, sources)


def annotators_of(table: pa.Table) -> tuple[str, ...]:
    """The names of the annotators whose labels a table has."""
    return tuple(name.removeprefix(LABEL_OF) for name in table.column_names if name.startswith(LABEL_OF))


def _ids(path: Path, columns: Mapping[str, Column]) -> pa.Array:
    """The ids, made of the content where a row has none."""
    ids = columns["id"].to_pylist()
    seen: Counter[str] = Counter()
    rows = zip(*(columns[name].to_pylist() for name in REQUIRED), strict=True)
    for place, (known, row) in enumerate(zip(ids, rows, strict=True)):
        if known is None:
            own = digest_of(*row)[:16]
            seen[own] += 1
            ids[place] = f"x{own}" if seen[own] == 1 else f"x{own}-{seen[own]}"
    made = pa.array(ids, pa.string())
    Field("id").refuse_repeated(str(path), made)
    return made
