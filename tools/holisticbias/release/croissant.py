"""Croissant 1.1 metadata of a release: its files, and how to read records from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.release.manifest import Manifest, file_entry

CROISSANT = "croissant.json"
_CONTEXT = "croissant_context.json"  # prescribed by the format
_CITE = (
    "Smith, Hall, Kambadur, Presani and Williams (2022). I'm sorry to hear that: Finding New Biases in Language Models "
    "with a Holistic Descriptor Dataset. EMNLP. https://aclanthology.org/2022.emnlp-main.625"
)


def render_croissant(manifest: Manifest, folder: Path) -> str:
    """Render ``croissant.json`` of a release whose Parquet files are in the folder.

    A table in several files has no record set, only its files. Lists of
    structures (``assessments``) are left out of record sets.
    """
    metadata = {
        "@context": json.loads(Path(__file__).with_name(_CONTEXT).read_text("utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "HolisticBias",
        "description": "Sentences that name people by identity terms, to measure how models treat those terms.",
        "version": manifest.version,
        "license": "https://creativecommons.org/licenses/by-sa/4.0/",
        "url": "https://aclanthology.org/2022.emnlp-main.625",
        "citeAs": _CITE,
        **({"datePublished": manifest.date} if manifest.date else {}),
        "distribution": list(_files(manifest, folder)),
        "recordSet": [
            _record_set(name, entry.files[0], folder)
            for name, entry in manifest.tables.items()
            if len(entry.files) == 1
        ],
    }
    return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"


def _files(manifest: Manifest, folder: Path) -> Iterator[dict[str, object]]:
    for name in (file for entry in manifest.tables.values() for file in entry.files):
        found = file_entry(folder / name)
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": f"{found.bytes} B",
            "encodingFormat": "application/x-parquet",  # readers do not know the registered name
            "sha256": found.sha256,
        }


def _data_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    return "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"


def _record_set(table: str, file: str, folder: Path) -> dict[str, object]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{column.name}",
            "name": column.name,
            "dataType": _data_type(column.type),
            **({"repeated": True} if pa.types.is_list(column.type) else {}),
            "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
        }
        for column in pq.read_schema(folder / file)
        if not (pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type))
    ]
    return {"@type": "cr:RecordSet", "@id": table, "name": table, "field": fields}
