"""The dataset card (``README.md``) of a release, for the Hugging Face Hub."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from holisticbias.compile.counts import WHY, Count
from holisticbias.compile.tables import KINDS, KINDS_OF_TERMS
from holisticbias.release.manifest import Manifest
from holisticbias.release.parquet import card_features

SPLIT = "test"
_BODY = Path(__file__).with_name("card.md")
_ALWAYS = "Always give the revision. Offline, `load_dataset` can return another cached revision without a message.\n"

TABLES = {
    "sentences": "every sentence",
    "small": "the sentences of 100 descriptors over all axes, and sentences without a descriptor, for quick tests",
    "descriptors": "the identity terms, with all judgements of them",
    "nouns": "the words for a person",
    "templates": "sentences with a slot for a phrase",
    "noun_phrases": "the phrases that fill the slots",
    "collections": "groups of people, and the pages that sentences about them come from",
    "prompts": "beginnings of sentences about these groups that a model continues, each with a person's continuation",
    "specifications": "groups with aligned terms, sets of attributes and stereotypes; a row for each part",
    "history": "every entry of this and all earlier versions, as worded in each",
    "intersections": "every sentence with two descriptors",
}


def render_card(manifest: Manifest, tables: Mapping[str, pa.Table], folder: Path, counts: Sequence[Count] = ()) -> str:
    """Render ``README.md`` of a release with Parquet files in the folder; ``counts`` are its ``Release.counts``."""
    header = yaml.safe_dump(_header(manifest, folder), sort_keys=False, allow_unicode=True)
    return f"---\n{header}---\n\n{_body(manifest, tables, counts)}"


def _header(manifest: Manifest, folder: Path) -> dict[str, object]:
    default = next(iter(manifest.tables))
    return {
        "pretty_name": f"HolisticBias {manifest.version}",
        "language": ["en"],
        "license": "cc-by-sa-4.0",
        "multilinguality": ["monolingual"],
        "annotations_creators": ["expert-generated"],
        "language_creators": ["machine-generated"],
        "task_categories": ["text-generation", "fill-mask"],
        "tags": ["bias", "fairness", "evaluation", "identity", "holisticbias"],
        "size_categories": [_size_category(manifest.tables[default].rows)],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if name == default else {}),
                "data_files": [{"split": SPLIT, "path": list(entry.files) if len(entry.files) > 1 else entry.files[0]}],
            }
            for name, entry in manifest.tables.items()
        ],
        "dataset_info": [
            _info(name, entry.rows, [folder / file for file in entry.files]) for name, entry in manifest.tables.items()
        ],
    }


def _info(name: str, rows: int, paths: Sequence[Path]) -> dict[str, object]:
    metadata = [pq.read_metadata(path) for path in paths]
    size = sum(m.row_group(i).total_byte_size for m in metadata for i in range(m.num_row_groups))
    return {
        "config_name": name,
        "features": card_features(pq.read_schema(paths[0])),
        "splits": [{"name": SPLIT, "num_bytes": size, "num_examples": rows}],
        "download_size": sum(path.stat().st_size for path in paths),
        "dataset_size": size,
    }


_SIZES = (
    "n<1K",
    *(f"{a}<n<{b}" for a, b in itertools.pairwise(("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B"))),
)


def _size_category(rows: int) -> str:
    return _SIZES[min(max(len(str(rows)) - 3, 0), len(_SIZES) - 1)]


def _body(manifest: Manifest, tables: Mapping[str, pa.Table], counts: Sequence[Count]) -> str:
    name = next(iter(manifest.tables))
    return _BODY.read_text("utf-8").format(
        title=f"HolisticBias {manifest.version}" + (f" ({manifest.part})" if manifest.part else ""),
        part="" if not manifest.part else f"This is a part of the version: {manifest.part}.\n\n",
        version=manifest.version,
        revision="" if manifest.part else f', revision="v{manifest.version}"',
        always="" if manifest.part else _ALWAYS,
        what="part" if manifest.part else "version",
        address="FOLDER" if manifest.part else f"REPOSITORY@{manifest.version}",
        digest=manifest.digest,
        default=name,
        file=manifest.tables[name].files[0],
        tables="\n".join(f"| `{name}` | {e.rows:,} | {TABLES.get(name, '')} |" for name, e in manifest.tables.items()),
        counts=_counted(counts) if counts else "",
        axes="\n".join(_axis_lines(tables["descriptors"])),
        nouns=", ".join(_counts(tables["nouns"], "noun_gender")),
        templates=", ".join(_counts(tables["templates"], "family")),
        preferences=", ".join(_counts(tables["descriptors"], "descriptor_preference")),
        sources=", ".join(_judges(tables["descriptors"])) or "none",
        changes="\n".join(_change_lines(tables.get("history"))),
    )


def _counted(counts: Sequence[Count]) -> str:
    lines = "\n".join(f"| {c.what} | {c.rows:,} | {c.texts:,} |" for c in counts)
    return f"| | rows | different texts |\n| --- | --- | --- |\n{lines}\n\n{WHY}\n\n"


def _axis_lines(descriptors: pa.Table) -> Iterator[str]:
    rows = zip(descriptors["axis_label"].to_pylist(), descriptors["axis"].to_pylist(), strict=True)
    for (label, axis), number in Counter(rows).items():
        yield f"| {label} | `{axis}` | {number} |"


def _counts(table: pa.Table, column: str) -> Iterator[str]:
    for name, number in Counter(table[column].to_pylist()).items():
        yield f"{number} `{name}`"


def _judges(descriptors: pa.Table) -> Iterator[str]:
    judgements = [x for judged in descriptors["assessments"].to_pylist() for x in judged]
    for (who, date), number in sorted(Counter((x["reviewer"] or x["source"], x["date"]) for x in judgements).items()):
        yield f"{number} by `{who}` ({date})"


def _change_lines(history: pa.Table | None) -> Iterator[str]:
    """The numbers of entries that a version added, changed and removed, by kind."""
    if history is None:
        yield "See the whole release."
        return
    rows = history.to_pylist()
    versions = list(dict.fromkeys(row["version"] for row in rows))
    if len(versions) < 2:
        yield "This is the first version."
        return
    yield f"Since version {versions[-2]}:\n\n| | added | changed | removed |\n| --- | --- | --- | --- |"
    for kind in KINDS.values():
        if kind in KINDS_OF_TERMS or any(row["kind"] == kind for row in rows):
            added, changed, removed = _changes(rows, versions[-2:], kind)
            yield f"| {kind}s | {added} | {changed} | {removed} |"
    yield (
        "\nThe table `history` lists them. An entry with other sources, or with judgements that leave its preference "
        "as it is, does not count as changed."
    )


def _changes(rows: list[dict[str, object]], versions: list[str], kind: str) -> tuple[int, int, int]:
    """Compare the entries of a kind in two versions; the article rule does not count."""
    old, new = (
        {
            r["entry_id"]: {**r, "version": "", "article_rule": ""}
            for r in rows
            if (r["version"], r["kind"]) == (v, kind)
        }
        for v in versions
    )
    shared = old.keys() & new.keys()
    return len(new.keys() - old.keys()), sum(old[i] != new[i] for i in shared), len(old.keys() - new.keys())
