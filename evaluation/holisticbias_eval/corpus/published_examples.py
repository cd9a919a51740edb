"""Read examples from published files of sentences about groups in their own form."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus import published
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.errors import CorpusError

_ANNOTATED = "processed_phrase_annotated"
_LABELS = {"1": 1, "1.0": 1, "0": 0, "0.0": 0}
_EXAMPLES = pa.schema([
    *((name, pa.string()) for name in (
        "id", "dimension", "group", "target", "attribute", "attribute_set", "text", "source",
    )),
    ("label", pa.int8()),
])  # fmt: skip
Row = dict[str, object]


def read_published_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read examples from a published file, or from the annotated files of a folder (else its training files).

    RedditBias' annotated files give the phrase and its label, null if it is neither 1 nor 0; its other files hold
    biased sentences. The table of Zhao et al. 2024 gives target, attribute and label. With a specification, dimension
    and group are its own, and target and attribute are found in the text; without it they are those of the file.
    Raises ``CorpusError``.
    """
    if path.is_dir() or not published.is_paper_form(path):
        rows = [row for file in _files_of_examples(path) for row in _reddit_examples(file)]
    else:
        rows = list(_paper_examples(path, specification))
    if not rows:
        raise CorpusError(f"{path} has no sentence")
    if specification is not None:
        rows = [_with_terms(row, specification) for row in rows]
    return pa.Table.from_pylist(rows, _EXAMPLES)


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
    annotated = "bias_phrase" in rows[0]
    name = published.column_among(rows, ("phrase",) if annotated else published.SENTENCES, file.path)
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
    for number, row in enumerate(published.read_rows(path)):
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
