"""Make pairs of sentences about two groups, and write them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.inputs import has_file
from holisticbias.output import new_folder, refuse_target
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import PairsError
from holisticbias_eval.progress import Display
from holisticbias_eval.records import record_json
from holisticbias_eval.stereotypes.imported import SourceSentence, read_source_sentences, refuse_unnamed
from holisticbias_eval.stereotypes.pair_rows import SCHEMA, Pair, grammatical_pairs, pairs_of_templates
from holisticbias_eval.stereotypes.published_pairs import pairs_csv, published_pairs
from holisticbias_eval.stereotypes.record import PAIRS
from holisticbias_eval.stereotypes.record import RECORD as SENTENCES_RECORD
from holisticbias_eval.stereotypes.settings import PairingSettings
from holisticbias_eval.stereotypes.specifications import (
    has_stereotype,
    known_specifications,
    read_specifications,
    refuse_without_stereotype,
)
from holisticbias_eval.tables.files import table_stem

RECORD = "pairs.json"
_is_pairs = has_file(RECORD)


def make_pairs(
    source: Path, out: Path, names: Sequence[str], settings: PairingSettings, display: Display
) -> tuple[pa.Table, tuple[str, ...]]:
    """Pair the sentences of a folder or table, and write ``pairs.parquet`` and ``pairs.json``.

    Returns the pairs, and the names in the table that are not a specification.
    The record of the sentences, ``sentences.json``, is copied if it is beside them: it has their yield and quality.
    ``names`` selects specifications, by default all that the table names. The mode ``published`` also writes a CSV file
    in the published columns. Raises ``EvaluationError`` and ``OutputError``.
    """
    refuse_target(out, _is_pairs, [source])
    sentences = read_source_sentences(source)
    specifications = _specifications(sentences, names, source)
    sentences = [s if s.specification else replace(s, specification=specifications[0].id) for s in sentences]
    pairs: list[Pair] = []
    files: dict[str, bytes] = {}
    with display.progress("Pairing sentences", len(sentences)) as advance:
        if settings.mode == "published":
            published = published_pairs(sentences, specifications)
            pairs += (pair for _, pair in published)
            files[f"{table_stem(source)}_pairs.csv"] = pairs_csv(published).encode()
            advance(len(sentences))
        else:
            pairs += grammatical_pairs(sentences, specifications, advance)
    if settings.templates:
        pairs += (pair for specification in specifications for pair in pairs_of_templates(specification))
    rules = Counter(pair.rule or "converted" for pair in pairs)
    ids = [s.id for s in specifications]
    record = {"mode": settings.mode, "specifications": ids, "rows": dict(sorted(rules.items()))}
    files[RECORD] = record_json(record).encode()
    beside = (source if source.is_dir() else source.parent) / SENTENCES_RECORD
    if beside.is_file():
        files[SENTENCES_RECORD] = beside.read_bytes()
    table = pa.Table.from_pylist([asdict(pair) for pair in pairs], schema=SCHEMA)
    with new_folder(out, _is_pairs) as folder:
        pq.write_table(table, folder / PAIRS, compression="zstd")
        for name, content in files.items():
            (folder / name).write_bytes(content)
    known = {*ids, *(s.published_as for s in specifications)}
    return table, tuple(sorted({s.specification or "" for s in sentences} - known))


def _specifications(sentences: Sequence[SourceSentence], names: Sequence[str], path: Path) -> tuple[Specification, ...]:
    """The specifications given by ``names``, else the table's with a stereotype, in the order of the dataset."""
    if not names:
        refuse_unnamed(path, sentences)
        used = {s.specification for s in sentences}
        named = [s for s in known_specifications() if used.intersection((s.id, s.published_as))]
        names = [s.id for s in named if has_stereotype(s)] or [s.id for s in named]
    chosen = read_specifications(names) if names else ()
    refuse_without_stereotype(chosen)
    if not chosen:
        raise PairsError(f"{path} names no known specification: name one with --specification")
    refuse_unnamed(path, sentences, chosen)
    return chosen
