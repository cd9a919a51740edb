"""The dataset card (``README.md``) of a release, for the Hugging Face Hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from holisticbias.compile.counts import WHY, count_texts
from holisticbias.compile.history_table import changes
from holisticbias.release.manifest import Manifest
from holisticbias.release.parquet import card_features

SPLIT = "test"

TABLES = {
    "sentences": "every sentence",
    "small": "the sentences of 100 descriptors over all axes, and sentences without a descriptor, for quick tests",
    "descriptors": "the identity terms, with all judgements of them",
    "nouns": "the words for a person",
    "templates": "sentences with a slot for a phrase",
    "noun_phrases": "the phrases that fill the slots",
    "collections": "groups of people, and the pages that sentences about them come from",
    "prompts": "openings about these groups that a model continues, each with a person's continuation",
    "specifications": "groups with aligned terms, sets of attributes and stereotypes; a row for each part",
    "history": "every entry of this and all earlier versions, as worded in each",
    "intersections": "every sentence with two descriptors",
}


def render_card(manifest: Manifest, tables: Mapping[str, pa.Table], folder: Path) -> str:
    """Render ``README.md`` of a release whose Parquet files are in the folder."""
    header = yaml.safe_dump(_header(manifest, folder), sort_keys=False, allow_unicode=True)
    return f"---\n{header}---\n\n{_body(manifest, tables)}"


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


def _size_category(rows: int) -> str:
    limits = (
        (1_000, "n<1K"),
        (10_000, "1K<n<10K"),
        (100_000, "10K<n<100K"),
        (1_000_000, "100K<n<1M"),
        (10_000_000, "1M<n<10M"),
        (100_000_000, "10M<n<100M"),
        (1_000_000_000, "100M<n<1B"),
    )
    return next((name for limit, name in limits if rows < limit), "1B<n<10B")


def _body(manifest: Manifest, tables: Mapping[str, pa.Table]) -> str:
    name = next(iter(manifest.tables))
    return _BODY.format(
        title=f"HolisticBias {manifest.version}" + (f" ({manifest.part})" if manifest.part else ""),
        part="" if not manifest.part else f"This is a part of the version: {manifest.part}.\n\n",
        version=manifest.version,
        revision="" if manifest.part else f', revision="v{manifest.version}"',
        digest=manifest.digest,
        default=name,
        file=manifest.tables[name].files[0],
        tables="\n".join(f"| `{name}` | {e.rows:,} | {TABLES.get(name, '')} |" for name, e in manifest.tables.items()),
        counts=_counted(tables) if "noun_phrases" in tables else "",
        axes="\n".join(_axis_lines(tables["descriptors"])),
        nouns=", ".join(_counts(tables["nouns"], "noun_gender")),
        templates=", ".join(_counts(tables["templates"], "family")),
        preferences=", ".join(_counts(tables["descriptors"], "descriptor_preference")),
        sources=", ".join(_judges(tables["descriptors"])) or "none",
        changes="\n".join(_change_lines(tables.get("history"))),
    )


def _counted(tables: Mapping[str, pa.Table]) -> str:
    lines = "\n".join(f"| {c.what} | {c.rows:,} | {c.texts:,} |" for c in count_texts(tables))
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
    found = None if history is None else changes(history)
    if history is None:
        yield "See the whole release."
    elif found is None:
        yield "This is the first version."
    else:
        before, kinds = found
        yield f"Since version {before}:\n\n| | added | changed | removed |\n| --- | --- | --- | --- |"
        for kind, c in kinds.items():
            yield f"| {kind}s | {c.added} | {c.changed} | {c.removed} |"
        yield "\nThe table `history` lists them."


_BODY = """# {title}

Sentences that name people by identity terms, to measure how language models treat these terms.

{part}Version {version}, digest `{digest}`.

## Use

```python
from datasets import load_dataset

data = load_dataset("REPOSITORY_OR_FOLDER", "{default}", split="test"{revision})
```

Always give the revision. Offline, `load_dataset` can return another cached revision without a message.
`open_release` returns exactly this version, verified, or raises an error:

```python
from holisticbias import open_release

release = open_release("REPOSITORY@{version}")
```

pandas, polars and DuckDB read `{file}` directly.

## Composition

| table | rows | contents |
| --- | --- | --- |
{tables}

{counts}| axis | in `axis` | descriptors |
| --- | --- | --- |
{axes}

Nouns: {nouns}. Templates: {templates}.

`axis` is the key of an axis, as in the table above. The label of the axis is `axis_label`, a column of
`descriptors` and, from version 3.0.0 on, of the sentences too.

`text` is the sentence; `noun_phrase_type` says whether it has a descriptor and a noun
(`descriptor_noun`, `noun_descriptor`), a descriptor alone (`descriptor`), a noun alone (`noun`,
for comparison) or a fixed phrase (`fixed_phrase`). Columns that do not apply to a sentence are null.
`descriptor_gender` is the gender of the nouns that a descriptor goes with.

## Review of the terms

`descriptor_preference` is computed from the assessments in the table `descriptors`: `reviewed`
(people with lived experience judged the term and did not object), `dispreferred`, `polarizing`
(they disagreed), or `no_data`. Each judgement has an author and a date; it may change, and other
people whom the term describes may disagree.

Terms in this version: {preferences}. Judgements: {sources}.

## Changes

{changes}

## Limits

The terms are American English and were proposed by contributors; they do not describe many people.
Terms that communities object to are kept and marked, because models meet them. Templates are short
first-person and dialogue sentences and do not show what a model does in other texts. The data do not
show whether a measured difference between terms does harm.

## Licence and citation

CC BY-SA 4.0. The terms, nouns and templates of version 1.0.0 come from HolisticBias by Smith et al.,
who published them under the same licence. Please cite their paper, and this version with its digest:

```bibtex
@inproceedings{{smith-etal-2022-im,
  title     = {{"I'm sorry to hear that": Finding New Biases in Language Models with a Holistic Descriptor Dataset}},
  author    = {{Smith, Eric Michael and Hall, Melissa and Kambadur, Melanie and Presani, Eleonora and Williams, Adina}},
  booktitle = {{Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing}},
  year      = {{2022}},
  url       = {{https://aclanthology.org/2022.emnlp-main.625}}
}}
@misc{{holisticbias-{version},
  title = {{HolisticBias, version {version}}},
  note  = {{digest {digest}}}
}}
```
"""
