"""The interface of classifiers; each distinct text is classified once, and its probabilities are kept between runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.store.shards import ShardStore, fingerprint, stored_values
from holisticbias_eval.progress import Notice, Progress, in_rows
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.reader import distinct_texts

BLOCK = 1024  # texts whose results are given, and stored, together
VERSION = 1  # version of the computation: with another version every text is classified again


PREFIX = "p:"
"""Begins the columns of probabilities, before their labels."""


class Classifier:
    """Gives every text a probability for each label of its card; an engine has ``judge`` or ``classify``.

    ``settings`` is everything that the probabilities depend on: the content of
    the card, the digest of weights or phrases, versions. It is recorded in the
    run and is the key of the store, which keeps probabilities between runs if there is one.
    """

    store: ShardStore | None = None

    def __init__(self, card: Card, settings: Mapping[str, str]) -> None:
        self.card = card
        self.settings = settings
        self.columns = tuple(f"{PREFIX}{label}" for label in card.labels)

    def judge(self, texts: Sequence[str]) -> Floats:
        """The probabilities of a block of distinct texts, shape ``[texts, labels]``, NaN for a text without any."""
        raise NotImplementedError

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify distinct texts; yield positions and probabilities of each batch as it is done, in any order.

        Probabilities have shape ``[batch, labels]``, NaN for a text that cannot be judged. Call ``progress`` with the
        number of texts done since the last call.
        """
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            values = self.judge(block)
            progress(len(block))
            yield np.arange(start, start + len(block)), values

    def keep_in(self, folder: Path, notice: Notice) -> None:
        """Keep the probabilities in a subfolder named after the fingerprint of the settings."""
        settings = dict(self.settings)
        key = fingerprint({"version": VERSION, "settings": settings})
        schema = pa.schema([("text", pa.large_string()), *((name, pa.float64()) for name in self.columns)])
        self.store = ShardStore(folder / key, schema, ("text",), {"settings": json.dumps(settings)}, notice)

    def probabilities(self, texts: Sequence[str | None], progress: Progress) -> Floats:
        """The probabilities of each text, shape ``[texts, labels]``; NaN for a text that is null or blank.

        Each distinct text is classified once. With a store, only the texts that it
        does not hold are classified, and each batch is stored as it is done. NaN
        that a classifier gives is stored too. ``progress`` counts texts.
        """
        encoded = distinct_texts(texts)
        distinct = encoded.dictionary
        advance = in_rows(progress, len(texts), len(distinct))

        def compute(rows: Ints) -> Iterator[tuple[Ints, Floats]]:
            for places, found in self.classify(distinct.take(pa.array(rows)).to_pylist(), advance):
                yield rows[places], found

        asked = pa.Table.from_arrays([distinct], ["text"])
        values = stored_values(self.store, asked, len(self.columns), compute, advance)
        which = pc.fill_null(encoded.indices, len(distinct)).to_numpy()
        probabilities: Floats = np.concatenate((values, np.full((1, len(self.columns)), np.nan)))[which]
        return probabilities
