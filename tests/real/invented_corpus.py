"""Sentences about four invented groups, and texts that mention none of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.tables import compile_tables
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.corpus.calibration import calibration_corpus, neutral_lines
from holisticbias_eval.tables.written import write_table

SPECIFICATION = Path(__file__).with_name("invented_groups.yaml")
DIMENSION = "real.invented-groups"
GROUPS = ("blicket", "stad", "mell", "fitch")
_VERSION, _PER_GROUP = "1.0.0", 120  # of the dataset's sentences about each group


def write_corpus(path: Path) -> pa.Table:
    """Write and return the examples: sentences of the embedded gossip, and of a published version's nonce axis.

    The gossip's are taken without the neutral sentence before them, and labelled 1 if their attribute is negative;
    those of the dataset have no attribute and are labelled 1, so that some of them are in the test.
    """
    rows = [_without_neutral(row) for row in calibration_corpus().to_pylist()]
    rows += _own_sentences()
    table = pa.Table.from_pylist(rows, calibration_corpus().schema)
    write_table(table, path)
    return table


def _without_neutral(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "dimension": DIMENSION, "text": row["text"].partition(". ")[2]}


def _own_sentences() -> Iterator[dict[str, Any]]:
    sentences = compile_tables(load_catalog(), _VERSION)["sentences"].read()
    rng = np.random.default_rng(0)
    for group in GROUPS:
        own = sentences.filter(pc.equal(sentences["descriptor_id"], f"nonce.{group}"))
        for row in own.take(np.sort(rng.choice(own.num_rows, _PER_GROUP, replace=False))).to_pylist():
            about = {"dimension": DIMENSION, "group": group, "document": f"holisticbias-{_VERSION}", "label": 1}
            yield {"id": row["sentence_id"], "text": row["text"], **about}


def write_neutral(path: Path) -> int:
    """Write the sentences about professions with their references, real English, one per line; return their number."""
    files = (file for file in load_catalog().prompts if file.domain == "profession")
    lines = [f"{prompt.text} {prompt.continuation}\n" for file in files for prompt in file.prompts]
    path.write_text("".join(lines), "utf-8")
    return len(lines)


def write_other_neutral(path: Path) -> int:
    """Write the gossip's neutral sentences, which its corpus lacks, one per line; return their number."""
    path.write_text("".join(f"{line}\n" for line in neutral_lines()), "utf-8")
    return len(neutral_lines())
