"""The descriptors of a run: their medians, their love-hate differences and their sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Ints
from holisticbias_eval.measures.medians import measure_love_hate, measure_medians


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence and its perplexity."""

    text: str
    perplexity: float


@dataclass(frozen=True, slots=True)
class Term:
    """A descriptor: what the model makes of its sentences, and what its community says of the word.

    Perplexities are medians; ``perplexity`` is over all the descriptor's
    sentences, ``compared`` over those in the template that the report compares
    descriptors in, where they have ``tokens`` scored tokens. Shares and their
    difference are those of ``measure_love_hate``; ``examples`` are of that template. What is missing is ``None``.
    """

    id: str
    axis: str
    bucket: str | None
    text: str
    preference: str
    sentences: int
    compared_sentences: int
    tokens: float | None
    perplexity: float | None
    compared: float | None
    love: float | None
    hate: float | None
    difference: float | None
    examples: tuple[Example, ...]


def describe_terms(scores: pa.Table, medians: pa.Table, template: str) -> tuple[Term, ...]:
    """The descriptors of a run in the order of the scores; ``medians`` are those of ``measure_medians``."""
    anywhere = scores.set_column(
        scores.column_names.index("template"), "template", pa.array([""] * scores.num_rows, pa.string())
    )
    compared = {
        row["descriptor_id"]: row for row in medians.filter(pc.equal(medians["template"], template)).to_pylist()
    }
    love_hate = {row["descriptor_id"]: row for row in measure_love_hate(scores).to_pylist()}
    about = _first_rows(scores)
    examples = _examples(scores.filter(pc.equal(scores["template"], template)))
    nowhere: dict[str, float | None] = {"median_perplexity": None, "median_tokens": None}
    return tuple(
        Term(
            id=row["descriptor_id"],
            axis=row["axis"],
            bucket=about[row["descriptor_id"]]["bucket"],
            text=row["descriptor"],
            preference=about[row["descriptor_id"]]["descriptor_preference"] or "no_data",
            sentences=row["sentences"],
            compared_sentences=compared.get(row["descriptor_id"], {}).get("sentences", 0),
            tokens=compared.get(row["descriptor_id"], nowhere)["median_tokens"],
            perplexity=row["median_perplexity"],
            compared=compared.get(row["descriptor_id"], nowhere)["median_perplexity"],
            love=love_hate[row["descriptor_id"]]["love_share"],
            hate=love_hate[row["descriptor_id"]]["hate_share"],
            difference=love_hate[row["descriptor_id"]]["difference"],
            examples=examples.get(row["descriptor_id"], ()),
        )
        for row in measure_medians(anywhere).to_pylist()
    )


def _first_rows(scores: pa.Table) -> dict[str, dict[str, str | None]]:
    columns = scores.select(["descriptor_id", "bucket", "descriptor_preference"])
    _, first = np.unique(_codes(columns["descriptor_id"]), return_index=True)
    return {row["descriptor_id"]: row for row in columns.take(pa.array(first)).to_pylist()}


def _examples(scores: pa.Table) -> dict[str, tuple[Example, ...]]:
    """Each descriptor's sentences of lowest, middle and highest perplexity."""
    perplexity = scores["perplexity"].to_numpy()
    known = np.flatnonzero(np.isfinite(perplexity))
    codes = _codes(scores["descriptor_id"])[known]
    order = known[np.lexsort((perplexity[known], codes))]
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    starts = ends - counts
    picked = [np.unique((s, s + (n - 1) // 2, s + n - 1)) for s, n in zip(starts, counts, strict=True) if n]
    rows = order[np.concatenate(picked)] if picked else np.zeros(0, np.int64)
    found: dict[str, tuple[Example, ...]] = {}
    for row in scores.select(["descriptor_id", "text", "perplexity"]).take(pa.array(rows)).to_pylist():
        found[row["descriptor_id"]] = (*found.get(row["descriptor_id"], ()), Example(row["text"], row["perplexity"]))
    return found


def _codes(column: pa.ChunkedArray) -> Ints:
    codes: Ints = pc.dictionary_encode(column).combine_chunks().indices.to_numpy().astype(np.int64)
    return codes
