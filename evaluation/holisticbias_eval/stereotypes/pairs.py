"""Make pairs of sentences about two groups, and write them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.output import new_folder, refuse_target
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import PairsError
from holisticbias_eval.progress import Display
from holisticbias_eval.stereotypes.imported import SourceSentence, read_source_sentences
from holisticbias_eval.stereotypes.pair_rows import SCHEMA, Pair, grammatical_pairs, pairs_of_templates, published_rows
from holisticbias_eval.stereotypes.published_pairs import (
    PublishedSentence,
    pairs_csv,
    published_pairs,
    published_template,
)
from holisticbias_eval.stereotypes.record import RECORD as SENTENCES_RECORD
from holisticbias_eval.stereotypes.settings import Mode, PairingSettings
from holisticbias_eval.stereotypes.specifications import (
    has_stereotype,
    known_specifications,
    read_specifications,
    refuse_without_stereotype,
)

PAIRS = "pairs.parquet"
RECORD = "pairs.json"


@dataclass(frozen=True, slots=True)
class MadePairs:
    """The pairs, the folder with them, and the names in the table that are not a specification."""

    table: pa.Table
    folder: Path
    ignored: tuple[str, ...]


def make_pairs(
    sentences: Path, out: Path, names: Sequence[str], settings: PairingSettings, display: Display
) -> MadePairs:
    """Pair the sentences of a folder or table, and write ``pairs.parquet`` and ``pairs.json``.

    The record of the sentences, ``sentences.json``, is copied if it is beside them: it has their yield and quality.
    ``names`` selects specifications, by default all that the table names. The mode ``published`` also writes a CSV file
    in the published columns. Raises ``PairsError``, ``SpecificationError`` and ``OutputError``.
    """
    refuse_target(out, _is_pairs)
    given = read_source_sentences(sentences)
    specifications = _specifications(given, names, sentences)
    given = [s if s.specification else replace(s, specification=specifications[0].id) for s in given]
    pairs: list[Pair] = []
    csv_text = None
    with display.progress("Pairing sentences", len(given)) as advance:
        if settings.mode == "published":
            found = published_pairs(_as_published(given), specifications)
            pairs += published_rows(found, given)
            csv_text = pairs_csv(found)
            advance(len(given))
        else:
            pairs += grammatical_pairs(given, specifications, advance)
    if settings.templates:
        pairs += (pair for specification in specifications for pair in pairs_of_templates(specification))
    table = pa.Table.from_pylist([asdict(pair) for pair in pairs], schema=SCHEMA)
    known = {name for s in specifications for name in (s.id, s.published_as)}
    ignored = tuple(sorted({s.specification or "" for s in given} - {n for n in known if n}))
    _write(table, out, settings.mode, specifications, csv_text, sentences)
    return MadePairs(table, out, ignored)


def _specifications(given: Sequence[SourceSentence], names: Sequence[str], path: Path) -> tuple[Specification, ...]:
    """The specifications given by ``names``, else the table's with a stereotype, in the order of the dataset."""
    if names:
        chosen = read_specifications(names)
    else:
        used = {s.specification for s in given}
        named = [s for s in known_specifications() if used.intersection((s.id, s.published_as))]
        known = [s.id for s in named if has_stereotype(s)] or [s.id for s in named]
        chosen = read_specifications(known) if known else ()
    refuse_without_stereotype(chosen)
    if not chosen:
        raise PairsError(f"{path} names no known specification: name one with --specification")
    if len(chosen) > 1 and any(s.specification is None for s in given):
        raise PairsError(f"{path} has rows without a specification: name one with --specification")
    return chosen


def _as_published(given: Sequence[SourceSentence]) -> list[PublishedSentence]:
    templates = [published_template(s.sentence, s.term) if s.template is None else s.template for s in given]
    return [
        PublishedSentence(row, s.specification or "", s.attribute, s.term, template or "", s.discarded, s.reason)
        for row, (s, template) in enumerate(zip(given, templates, strict=True))
    ]


def _is_pairs(folder: Path) -> bool:
    return (folder / RECORD).is_file()


def _write(
    table: pa.Table, out: Path, mode: Mode, specifications: Sequence[Specification], text: str | None, source: Path
) -> None:
    rules = Counter(rule or "converted" for rule in table["rule"].to_pylist())
    record = {"mode": mode, "specifications": [s.id for s in specifications], "rows": dict(sorted(rules.items()))}
    with new_folder(out, _is_pairs) as folder:
        pq.write_table(table, folder / PAIRS, compression="zstd")
        (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", "utf-8")
        beside = (source if source.is_dir() else source.parent) / SENTENCES_RECORD
        if beside.is_file():
            (folder / SENTENCES_RECORD).write_bytes(beside.read_bytes())
        if text is not None:
            (folder / f"{source.stem}_pairs.csv").write_text(text, "utf-8", newline="\n")
