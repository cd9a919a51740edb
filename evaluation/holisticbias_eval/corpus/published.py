"""Read published files of sentences about groups in their own form; the files are the user's, and none is shipped.

Forms: RedditBias (Barikeri et al. 2021), files ``reddit_comments_DIMENSION_GROUP_PART.csv``; the same without
``reddit_comments_``, with the column ``replaced_sentence``; and the table of Zhao et al. 2024, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import TargetTerm, attribute_finder, target_finder
from holisticbias_eval.corpus.published_files import (
    PublishedFile,
    column,
    files_in,
    header,
    is_paper_form,
    published_file,
    read_rows,
)
from holisticbias_eval.errors import CorpusError

_ANNOTATED = "processed_phrase_annotated"
_PREFERRED = "biased_test_reduced"
_SENTENCES = ("comments_processed", "replaced_sentence")
_LABELS = {"1": 1, "1.0": 1, "0": 0, "0.0": 0}
Row = dict[str, object]


def is_published(path: Path) -> bool:
    """Whether a path is a published file, or a folder with some."""
    if path.is_dir():
        return bool(files_in(path))
    return is_paper_form(path) or (published_file(path) is not None and bool(header(path) & {*_SENTENCES, "phrase"}))


def read_published_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read examples from a published file, or from the annotated files of a folder (else its training files).

    RedditBias' annotated files give the phrase and its label, null if it is neither 1 nor 0; its other files hold
    biased sentences. The table of Zhao et al. 2024 gives target, attribute and label. With a specification, dimension
    and group are its own, and target and attribute are found in the text; without it they are those of the file.
    Raises ``CorpusError``.
    """
    if path.is_dir() or not is_paper_form(path):
        rows = [row for file in _chosen(path) for row in _reddit_examples(file)]
    else:
        rows = list(_paper_examples(path, specification))
    if not rows:
        raise CorpusError(f"{path} has no sentence")
    if specification is not None:
        rows = [_with_terms(row, specification) for row in rows]
    names = ("id", "dimension", "group", "target", "attribute", "attribute_set", "text", "source")
    columns = {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
    return pa.table(columns | {"label": pa.array([row["label"] for row in rows], pa.int8())})


def read_test_sets(path: Path) -> pa.Table:
    """Read test sets whose rows are the same sentences about different groups.

    ``path`` is one group's file, which comes first and whose other groups are read from the same folder, or a folder,
    whose groups are sorted by name. The result has
    ``dimension``, ``sentence_id`` (the row), ``group``, ``sentence`` and ``perplexity``, null if there is none.
    Raises ``CorpusError`` if the groups have different numbers of rows, or if a folder has several test sets.
    """
    series = _series(path)
    columns: dict[str, list[object]] = {
        name: [] for name in ("dimension", "sentence_id", "group", "sentence", "perplexity")
    }
    for file in series:
        rows = read_rows(file.path)
        sentences = column(rows, _SENTENCES, file.path)
        columns["dimension"] += [file.dimension] * len(rows)
        columns["sentence_id"] += map(str, range(len(rows)))
        columns["group"] += [file.group] * len(rows)
        columns["sentence"] += sentences
        columns["perplexity"] += [_number(row.get("perplexity", ""), file.path) for row in rows]
    types = {"perplexity": pa.float64()}
    return pa.table({name: pa.array(found, types.get(name, pa.string())) for name, found in columns.items()})


def read_group_perplexities(path: Path) -> pa.Table:
    """Read the perplexities that published test sets have; see ``read_test_sets``.

    A perplexity of 0 marks a sentence that failed in the published code; it is kept as it is.
    Raises ``CorpusError`` if a group has no perplexities.
    """
    table = read_test_sets(path)
    known = set(table.filter(table["perplexity"].is_valid())["group"].to_pylist())
    without = [group for group in dict.fromkeys(table["group"].to_pylist()) if group not in known]
    if without:
        raise CorpusError(f"{path}: {', '.join(without)} has no column perplexity: score the sentences first")
    return table


def published_paths(path: Path) -> tuple[Path, ...]:
    """The files that ``read_test_sets`` reads for a published file or folder; raises ``CorpusError``."""
    return tuple(file.path for file in _series(path))


def _chosen(path: Path) -> Sequence[PublishedFile]:
    """The files of examples: all of a folder that are annotated, else all for training, or one file."""
    if not path.is_dir():
        file = published_file(path)
        if file is None:
            raise CorpusError(f"{path} is not a published file that is known: see docs/corpora.md")
        return (file,)
    files = files_in(path)
    for chosen in (
        [file for file in files if file.part == _ANNOTATED],
        [file for file in files if "train" in file.part],
    ):
        if chosen:
            return chosen
    raise CorpusError(f"{path} has no annotated file and none for training: name one file")


def _reddit_examples(file: PublishedFile) -> Iterator[Row]:
    rows = read_rows(file.path)
    annotated = "bias_phrase" in rows[0] if rows else False
    texts = column(rows, ("phrase",) if annotated else _SENTENCES, file.path)
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        if text.strip():
            yield {
                "id": f"{file.path.stem}:{number}",
                "dimension": file.dimension,
                "group": file.group,
                "text": text.strip(),
                "source": row.get("id") or file.path.name,
                "label": _LABELS.get(row["bias_phrase"].strip()) if annotated else 1,
            }


def _paper_examples(path: Path, specification: Specification | None) -> Iterator[Row]:
    for number, row in enumerate(read_rows(path)):
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
    """The row with the specification's dimension, and its group, target and attribute as the text has them."""
    text = str(row["text"])
    targets = [mention.of for mention in target_finder(specification).find(text)]
    attributes = [mention.of for mention in attribute_finder(specification).find(text)]
    group = _group_of(str(row["group"]), specification)
    target = _preferred(targets, group)
    named = [found for found in attributes if found.term == row.get("attribute")] or attributes
    found: Row = {"dimension": specification.id}
    if group is not None:
        found["group"] = group
    if target is not None:
        found |= {"group": group or target.group, "target": target.term}
    if named:
        found |= {"attribute": named[0].term, "attribute_set": named[0].attribute_set}
    return row | found


def _preferred(targets: Sequence[TargetTerm], group: str | None) -> TargetTerm | None:
    """The mention that the row is about: its group's, else the first."""
    own = [target for target in targets if target.group == group]
    return next(iter(own or targets), None)


def _group_of(name: str, specification: Specification | None) -> str | None:
    """The specification's group with this name, label or term, in any case; also a plural in s of the name."""
    if specification is None:
        return None
    wanted = {name.casefold(), name.casefold().removesuffix("s")}
    for group in specification.groups:
        if wanted & {group.name.casefold(), group.label.casefold()}:
            return group.name
    targets = [mention.of for mention in target_finder(specification).find(name)]
    return targets[0].group if targets else None


def _series(path: Path) -> Sequence[PublishedFile]:
    """The files with the same sentences about different groups."""
    file = None if path.is_dir() else published_file(path)
    if file is None and not path.is_dir():
        raise CorpusError(f"{path} is not a published file that is known: see docs/corpora.md")
    folder = path if file is None else path.parent
    found: dict[tuple[str, str], list[PublishedFile]] = {}
    for other in files_in(folder):
        if file is None or (other.series == file.series and other.path.parent == path.parent):
            found.setdefault(other.series, []).append(other)
    series = {key: files for key, files in found.items() if len(files) > 1 and (file or "test" in key[1])}
    preferred = {key: files for key, files in series.items() if key[1] == _PREFERRED} or series
    if len({key[0] for key in preferred}) < len(preferred) or not preferred:
        parts = ", ".join(f"{dimension}: {part}" for dimension, part in sorted(preferred))
        why = f"has several test sets ({parts}): name a file" if preferred else "has no test set of two groups or more"
        raise CorpusError(f"{path} {why}")
    for files in preferred.values():
        _refuse_lengths(files)
    chosen = [one for files in preferred.values() for one in files]
    return sorted(chosen, key=lambda one: file is not None and one.path != path)


def _refuse_lengths(files: Sequence[PublishedFile]) -> None:
    lengths = {file.path.name: len(read_rows(file.path)) for file in files}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
        raise CorpusError(f"the groups have different numbers of sentences, so these are not pairs: {shown}")


def _number(cell: str, path: Path) -> float | None:
    try:
        return float(cell) if cell.strip() else None
    except ValueError as error:
        raise CorpusError(f"{path}: a perplexity is {cell[:40]!r}, which is not a number") from error
