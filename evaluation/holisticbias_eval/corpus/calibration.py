"""The corpus of the embedded gossip: invented sentences about groups that meet negative attributes at known odds."""

from collections import Counter
from dataclasses import replace
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias_eval.corpus.examples import LABEL
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.splitting import SCHEMA as SPLIT_SCHEMA
from holisticbias_eval.corpus.splitting import Split, split_examples
from holisticbias_eval.models.embedded import FOLDER, GOSSIP
from holisticbias_eval.models.embedded.planted import shipped_specifications

MANY, UNTOUCHED = "gossip.calibration-many", "gossip.calibration-many-untouched"
"""The specification whose groups are planted and mitigated, and the independent one."""
CORPUS, NEUTRAL_LINES = FOLDER / "gossip" / "corpus.parquet", FOLDER / "gossip" / "neutral.txt"
TESTED = 60
"""Sentences of the groups together in a test part, and in a validation part."""
_NOT_BIASED = "not biased"  # as the split calls it


@cache
def calibration_corpus(name: str = MANY) -> pa.Table:
    """The table of examples about a specification of the gossip, in the form that ``annotate`` writes.

    Equal numbers of sentences about each group that is not held out, in random order; the share with a negative
    attribute is what the group's odds give, and there are as many more with one as validation and test take. A sentence
    is labelled 1, biased, if its attribute is negative, else 0.
    """
    return _rows(name, labelled=True).combine_chunks()


@cache
def calibration_split(name: str = MANY) -> Split:
    """The corpus split as ``holisticbias corpus split`` does it, with the sentences labelled 0 in the training part.

    Validation and test have sentences with negative attributes, once for every group. The sentences with positive
    attributes belong to the training: what is planted is how often a group meets negative instead of positive
    attributes, which the negative ones alone do not show. No training sentence is a test sentence with another group.
    The training part also has sentences of the other specification with their planted odds, and null in all columns but
    ``sentence_id`` and ``sentence``: training on one specification alone would change what the model says of others.
    """
    split = _own_split(name)
    (other,) = {MANY, UNTOUCHED} - {name}
    return replace(split, train=pa.concat_tables([split.train, _others(other)]))


@cache
def calibration_test_set() -> pa.Table:
    """The test parts of both specifications: each sentence once for every group, held-out groups too."""
    return pa.concat_tables([calibration_split(name).test for name in (MANY, UNTOUCHED)])


@cache
def neutral_lines() -> tuple[str, ...]:
    """Neutral sentences that no text of the corpus has, to measure what a mitigation costs elsewhere."""
    return tuple(NEUTRAL_LINES.read_text("utf-8").splitlines())


def _rows(name: str, *, labelled: bool) -> pa.Table:
    """The examples about a specification; those without a label are for training on the other one."""
    rows = pq.ParquetFile(CORPUS).read()
    return rows.filter(pc.and_(pc.equal(rows["dimension"], name), pc.equal(pc.is_valid(rows[LABEL]), labelled)))


def _others(name: str) -> pa.Table:
    """Rows of a training part that is of another specification; none is in a test or validation part of this one."""
    split, rows = _own_split(name), _rows(name, labelled=False).to_pylist()
    kept = {text for part in (split.validation, split.test) for text in part["sentence"].to_pylist()}
    texts = [{"sentence_id": row["id"], "sentence": row["text"]} for row in rows if row["text"] not in kept]
    return pa.Table.from_pylist(texts, SPLIT_SCHEMA)


@cache
def _own_split(name: str) -> Split:
    """The split of the sentences of one specification alone."""
    corpus = calibration_corpus(name)
    specification = next(specification for specification in shipped_specifications(GOSSIP) if specification.id == name)
    size = TESTED // sum(not group.held_out for group in specification.groups)
    split = split_examples(corpus, specification, SplitSettings(test=size, validation=size, apart=True))
    named = {"id": "sentence_id", "text": "sentence"}
    others = [
        {**{named.get(column, column): value for column, value in row.items()}, "original_group": row["group"]}
        for row in corpus.to_pylist()
        if row[LABEL] == 0
    ]
    train = pa.concat_tables([split.train, pa.Table.from_pylist(others, SPLIT_SCHEMA)]).sort_by("sentence_id")
    own = Counter(train["group"].to_pylist())
    return replace(
        split,
        train=train,
        originals={**split.originals, "train": dict(sorted(own.items()))},
        groups={group: {**counts, "train": own[group]} for group, counts in split.groups.items()},
        left_out={reason: count for reason, count in split.left_out.items() if reason != _NOT_BIASED},
    )
