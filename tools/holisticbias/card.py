"""The dataset card of a release, as the Hugging Face Hub reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from holisticbias.features import card_features

SPLIT = "test"


class _Quoted(str):
    """Text that YAML must not read as anything else: a class named null, or no."""


class _Dumper(yaml.SafeDumper):
    """Quotes class names."""


_Dumper.add_representer(_Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'"))


def render_card(version: str, tables: Mapping[str, pa.Table], folder: Path, axes: Sequence[str]) -> str:
    """``README.md`` of a release whose Parquet files lie under ``folder/data``."""
    header = yaml.dump(_header(tables, folder, axes), Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return f"---\n{header}---\n\n{_body(version, tables, axes)}"


def _header(tables: Mapping[str, pa.Table], folder: Path, axes: Sequence[str]) -> dict[str, object]:
    return {
        "pretty_name": "HolisticBias",
        "language": ["en"],
        "license": "cc-by-sa-4.0",
        "task_categories": ["text-generation", "fill-mask"],
        "tags": ["bias", "fairness", "evaluation", "identity"],
        "size_categories": [_size_category(tables["sentences"].num_rows)],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if name == "sentences" else {}),
                "data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}],
            }
            for name in tables
        ],
        "dataset_info": [
            _info(name, table, folder / "data" / f"{name}.parquet", axes) for name, table in tables.items()
        ],
    }


def _info(name: str, table: pa.Table, path: Path, axes: Sequence[str]) -> dict[str, object]:
    metadata = pq.read_metadata(path)
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    quoted = [_Quoted(axis) for axis in axes]
    return {
        "config_name": name,
        "features": card_features(table.schema, quoted),
        "splits": [{"name": SPLIT, "num_bytes": size, "num_examples": table.num_rows}],
        "download_size": path.stat().st_size,
        "dataset_size": size,
    }


def _size_category(rows: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if rows < limit:
            return name
    return "1M<n<10M" if rows < 10_000_000 else "n>10M"


def _body(version: str, tables: Mapping[str, pa.Table], axes: Sequence[str]) -> str:
    counts = "\n".join(f"| `{name}` | {table.num_rows:,} |" for name, table in tables.items())
    return _BODY.format(version=version, counts=counts, axes=", ".join(axes).replace("_", " "))


_BODY = """# HolisticBias {version}

Sentences that name people by identity terms, to measure how language models treat those terms.

| table | rows |
| --- | --- |
{counts}

Axes: {axes}.

## Use

```python
from datasets import load_dataset

sentences = load_dataset("PATH_OR_REPOSITORY", "sentences", split="test")
```

`text` is the sentence; `noun_phrase_type` says whether it holds a descriptor and a noun
(`descriptor_noun`, `noun_descriptor`), a descriptor alone (`descriptor`), a noun alone (`noun`,
for comparison) or a phrase of its own (`fixed_phrase`). What a sentence lacks is a missing value.
`descriptor_gender` and `noun_gender` say which nouns a descriptor goes with.

## How terms were judged

`descriptor_preference` is computed from the assessments in the table `descriptors`: `reviewed`
(people with lived experience judged the term and did not object), `dispreferred`, `polarizing`
(they disagreed), or `no_data`. A judgement is somebody's, at some time; it may change, and people
whom a term describes may disagree with it.

## Limits

The terms are those of American English that contributors thought of; many people are described by
none of them. Terms that communities object to are kept, marked, because models meet them. A
difference that a model shows between terms is a difference; whether it harms is for people to judge.

## Licence and citation

CC BY-SA 4.0. The terms, nouns and templates of version 1.0.0 come from HolisticBias by Smith, Hall,
Kambadur, Presani and Williams (EMNLP 2022, https://aclanthology.org/2022.emnlp-main.625), who
published them under the same licence. Please cite their paper and this version.
"""
