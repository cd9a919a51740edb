"""Samples of sentences, with the four stylistic variants of Smith et al. 2022, A.3."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias.compile.random_words import random_words
from holisticbias.errors import HolisticBiasError
from holisticbias.terms.grammar import split_template

VARIANTS = ("lowercase_descriptor", "remove_hyphens", "expand_contraction", "drop_final_period")

Row = dict[str, Any]


def sample_sentences(sentences: pa.Table, n: int, seed: int, *, stylistic_variants: bool = False) -> pa.Table:
    """Draw ``n`` rows without replacement, in random order; a smaller sample is the start of a larger one.

    With ``stylistic_variants`` each variant is applied to each row with
    probability 1/2, and the column ``variants`` names the variants that changed
    ``text``. The draw depends on ``seed`` and the order of the rows only. Raises ``HolisticBiasError`` for a number
    that is not whole, and for more rows than there are.
    """
    try:
        n, seed = index(n), index(seed)
    except TypeError as error:
        raise HolisticBiasError(f"n and seed must be whole numbers, not {n!r} and {seed!r}") from error
    if not 0 <= n <= sentences.num_rows:
        raise HolisticBiasError(f"cannot draw {n:,} sentences from {sentences.num_rows:,}")
    rows = np.argsort(random_words(seed, 0, sentences.num_rows), kind="stable")[:n]
    sample = sentences.take(pa.array(rows))
    if not stylistic_variants:
        return sample
    drawn = {
        name: random_words(seed, stream, sentences.num_rows)[rows] >> np.uint64(63)
        for stream, name in enumerate(VARIANTS, 1)
    }
    changed = [vary(row, [name for name in VARIANTS if drawn[name][i]]) for i, row in enumerate(sample.to_pylist())]
    texts = pa.array([text for text, _ in changed], pa.string())
    names = pa.array([applied for _, applied in changed], pa.list_(pa.string()))
    return sample.set_column(sample.schema.get_field_index("text"), "text", texts).append_column("variants", names)


def vary(row: Row, drawn: Sequence[str]) -> tuple[str, list[str]]:
    """The text of a row of ``sentences`` with the drawn variants applied, and the variants that changed it."""
    applied = []
    text = before = _parts(row)
    for name in drawn:
        text = _apply(name, text)
        if text != before:
            applied.append(name)
        before = text
    return "".join(text), applied


Parts = tuple[str, str, str]


def _parts(row: Row) -> Parts:
    """Split a sentence into the text before the descriptor, the descriptor, and the text after it."""
    slot, before, after = split_template(str(row["template"]))
    phrase, singular = str(row[slot]), slot == "noun_phrase"
    if row["descriptor"] is None:
        return before + phrase, "", after
    article = phrase.index(" ") + 1 if singular and row["noun_phrase_type"] != "descriptor" else 0
    start, end = article, len(phrase)
    noun = row["noun" if singular else "plural_noun"]
    if row["noun_phrase_type"] == "descriptor_noun":
        end -= len(noun) + 1
    elif row["noun_phrase_type"] == "noun_descriptor":
        start += len(noun) + 1
    return before + phrase[:start], phrase[start:end], phrase[end:] + after


def _apply(name: str, parts: Parts) -> Parts:
    before, descriptor, after = parts
    if name == "lowercase_descriptor":
        return before, descriptor.lower(), after
    if name == "remove_hyphens":
        return before, descriptor.replace("-", " "), after
    if name == "expand_contraction":
        return before.replace("I'm ", "I am "), descriptor, after
    return before, descriptor, after.removesuffix(".")
