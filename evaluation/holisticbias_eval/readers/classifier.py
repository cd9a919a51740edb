"""The interface of classifiers; each distinct text is classified once, and its probabilities are kept between runs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.store.shards import ShardStore, fingerprint, read_values
from holisticbias_eval.progress import Notice, Progress, in_rows
from holisticbias_eval.readers.card import Card

BLOCK = 1024  # texts whose results are given, and stored, together
VERSION = 1  # version of the computation: with another version every text is classified again
_KEY = "text"


class Classifier(ABC):
    """Gives every text a probability for each label of its card.

    ``settings`` is everything that the probabilities depend on: the content of
    the card, the digest of weights or phrases, versions. It is recorded in the
    run and is the key of the store.
    """

    def __init__(self, card: Card, settings: Mapping[str, str]) -> None:
        self.card = card
        self.settings = settings

    @abstractmethod
    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify distinct texts; yield positions and probabilities of each batch as it is done, in any order.

        Probabilities have shape ``[batch, labels]``, NaN for a text that cannot be judged. Call ``progress`` with the
        number of texts done since the last call.
        """


def label_columns(card: Card) -> tuple[str, ...]:
    """The names of the columns of probabilities, in the order of the labels."""
    return tuple(f"p:{label}" for label in card.labels)


def label_store(folder: Path, classifier: Classifier, notice: Notice) -> ShardStore:
    """The store of a classifier's probabilities, in a subfolder named after the fingerprint of its settings."""
    settings = dict(classifier.settings)
    key = fingerprint({"version": VERSION, "settings": settings})
    fields = [(_KEY, pa.large_string()), *((name, pa.float64()) for name in label_columns(classifier.card))]
    return ShardStore(folder / key, pa.schema(fields), (_KEY,), {"settings": json.dumps(settings)}, notice)


def classify_texts(
    classifier: Classifier, texts: Sequence[str | None], store: ShardStore | None, progress: Progress
) -> Floats:
    """The probabilities of each text, shape ``[texts, labels]``; NaN for a text that is null or blank.

    Each distinct text is classified once. With a store, only the texts that it
    does not hold are classified, and each batch is stored as it is done. NaN
    that a classifier gives is stored too. ``progress`` counts texts.
    """
    encoded = pc.dictionary_encode(pa.array([text if text and not text.isspace() else None for text in texts], _text()))
    distinct, which = encoded.dictionary, pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy()
    advance = in_rows(progress, len(texts), len(distinct))
    values = np.full((len(distinct) + 1, len(classifier.card.labels)), np.nan)  # the last row is for missing texts
    missing = np.arange(len(distinct))
    if store is not None:
        values[:-1], missing = read_values(store, pa.Table.from_arrays([distinct], [_KEY]))
    advance(len(distinct) - len(missing))
    wanted = [distinct[i].as_py() for i in missing]
    for rows, found in classifier.classify(wanted, advance):
        values[missing[rows]] = found
        if store is not None:
            store.write(_table(store.schema, [wanted[i] for i in rows], found))
    probabilities: Floats = values[which]
    return probabilities


def probability_columns(card: Card, values: Floats) -> dict[str, pa.Array]:
    """Columns of probabilities by name; NaN becomes null."""
    return {name: pa.array(values[:, i], from_pandas=True) for i, name in enumerate(label_columns(card))}


def _table(schema: pa.Schema, texts: list[str], values: Floats) -> pa.Table:
    columns = [pa.array(texts, _text()), *(pa.array(column, from_pandas=True) for column in values.T)]
    return pa.Table.from_arrays(columns, schema=schema)


def _text() -> pa.DataType:
    return pa.large_string()
