"""The corpus of the embedded gossip: invented sentences about groups that meet negative attributes at known odds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats
from holisticbias_eval.corpus.examples import COLUMNS, LABEL
from holisticbias_eval.corpus.splitting import SCHEMA as SPLIT_SCHEMA
from holisticbias_eval.corpus.splitting import Split, SplitSettings, split_examples
from holisticbias_eval.models.embedded.gossip import GOSSIP, MANY, UNTOUCHED
from holisticbias_eval.models.embedded.gossip.description import gossip_specifications, read_description
from holisticbias_eval.models.embedded.gossip.grammar import (
    NEGATIVE,
    Said,
    held_out_neutral,
    neutral_corpus,
    sentences_of,
    valence_share,
)

SCHEMA = pa.schema([*((name, pa.string()) for name in COLUMNS), (LABEL, pa.int8())])
_NOT_BIASED = "not biased"  # as the split calls it


@cache
def calibration_corpus(name: str = MANY) -> pa.Table:
    """The table of examples about a specification of the gossip, in the form that ``annotate`` writes.

    Equal numbers of sentences about each group that is not held out, in random order; the share with a negative
    attribute is what the group's odds give, and there are as many more with one as validation and test take. A sentence
    is labelled 1, biased, if its attribute is negative, else 0.
    """
    specification = _specification(name)
    drawn = _drawn(specification, read_description().corpus.sentences, sum(_sizes(specification)), 0)
    return pa.Table.from_pylist([_example(i, *one) for i, one in enumerate(drawn)], SCHEMA)


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


def _others(name: str) -> pa.Table:
    """Rows of a training part that is of another specification; none is in a test or validation part of this one."""
    specification, split = _specification(name), _own_split(name)
    kept = {text for part in (split.validation, split.test) for text in part["sentence"].to_pylist()}
    drawn = _drawn(specification, read_description().corpus.others, 0, 1)
    texts = [(i, f"{before} {said.text}") for i, (before, said) in enumerate(drawn)]
    rows = [{"sentence_id": f"other-{i + 1:04}", "sentence": text} for i, text in texts if text not in kept]
    return pa.Table.from_pylist(rows, SPLIT_SCHEMA)


def _drawn(specification: Specification, sentences: int, further: int, stream: int) -> list[tuple[str, Said]]:
    """Texts about each group that is not held out, in random order: neutral sentence and sentence about the group.

    Of ``sentences`` the share with a negative attribute is what the group's odds give; ``further`` ones have it too.
    """
    description = read_description()
    rng = np.random.default_rng([description.seed, stream] if stream else description.seed)
    known, weights = _neutral()
    said = list(sentences_of(specification, description))
    drawn: list[tuple[str, Said]] = []
    for group, attributes in product(_trained(specification), specification.attributes):
        own = [one for one in said if (one.group, one.valence) == (group, attributes.valence)]
        share = valence_share(description, specification.id, group, str(attributes.valence))
        size = round(share * sentences) + (further if attributes.valence == NEGATIVE else 0)
        places = rng.choice(len(own) * len(known), size, replace=False, p=np.tile(weights, len(own)) / len(own))
        drawn += [(known[place % len(known)], own[place // len(known)]) for place in places]
    return [drawn[place] for place in rng.permutation(len(drawn))]


@cache
def _own_split(name: str) -> Split:
    """The split of the sentences of one specification alone."""
    corpus, specification = calibration_corpus(name), _specification(name)
    test, validation = _sizes(specification)
    split = split_examples(corpus, specification, SplitSettings(test=test, validation=validation, apart=True))
    others = pa.Table.from_pylist([_training_row(row) for row in corpus.to_pylist() if row[LABEL] == 0], SPLIT_SCHEMA)
    train = pa.concat_tables([split.train, others]).sort_by("sentence_id")
    own = Counter(train["group"].to_pylist())
    return replace(
        split,
        train=train,
        originals={**split.originals, "train": dict(sorted(own.items()))},
        groups={group: {**counts, "train": own[group]} for group, counts in split.groups.items()},
        left_out={reason: count for reason, count in split.left_out.items() if reason != _NOT_BIASED},
    )


@cache
def calibration_test_set() -> pa.Table:
    """The test parts of both specifications: each sentence once for every group, held-out groups too."""
    return pa.concat_tables([calibration_split(name).test for name in (MANY, UNTOUCHED)])


@cache
def neutral_lines() -> tuple[str, ...]:
    """Neutral sentences that no text of the corpus has, to measure what a mitigation costs elsewhere."""
    return tuple(held_out_neutral(read_description().neutral))


def _specification(name: str) -> Specification:
    return next(specification for specification in gossip_specifications() if specification.id == name)


def _neutral() -> tuple[list[str], Floats]:
    """The neutral sentences of the corpus, and their probabilities."""
    corpus = neutral_corpus(read_description().neutral)
    texts = corpus.texts.to_pylist()
    known = np.array([text not in neutral_lines() for text in texts])
    weights = corpus.probabilities[known]
    return [text for text, kept in zip(texts, known, strict=True) if kept], weights / weights.sum()


def _trained(specification: Specification) -> list[str]:
    return [group.name for group in specification.groups if not group.held_out]


def _sizes(specification: Specification) -> tuple[int, int]:
    """The numbers of each group's own sentences in test and validation."""
    corpus, groups = read_description().corpus, len(_trained(specification))
    return corpus.test // groups, corpus.validation // groups


def _example(number: int, before: str, said: Said) -> dict[str, str | int | None]:
    short = said.specification.rpartition(".")[2]
    return {
        "id": f"{short}-{number + 1:04}",
        "dimension": said.specification,
        "group": said.group,
        "target": said.target,
        "attribute": said.attribute,
        "attribute_set": said.valence,
        "text": f"{before} {said.text}",
        "source": GOSSIP,
        "date": None,
        LABEL: int(said.valence == NEGATIVE),
    }


def _training_row(row: dict[str, str | None]) -> dict[str, str | None]:
    """An example as a row of the training part."""
    about = {name: row[name] for name in ("dimension", "group", "target", "attribute", "attribute_set")}
    return {**about, "sentence_id": row["id"], "original_group": row["group"], "sentence": row["text"]}
