"""Draw the corpus of the gossip: sentences about groups that meet negative attributes at planted odds."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from calibration.gossip.description import GossipDescription
from calibration.gossip.grammar import (
    NEGATIVE,
    GossipSentence,
    held_out_neutral,
    neutral_corpus,
    sentences_of,
    valence_share,
)
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats
from holisticbias_eval.corpus.calibration import TESTED
from holisticbias_eval.corpus.examples import LABEL, SCHEMA
from holisticbias_eval.models.embedded import GOSSIP

Drawn = tuple[str, GossipSentence]


def draw_corpus(description: GossipDescription, specifications: Sequence[Specification]) -> pa.Table:
    """The examples about each specification, then the sentences that train with examples of the other one.

    See ``holisticbias_eval.corpus.calibration``: the second kind has no label.
    """
    rows = []
    for specification in specifications:
        tested = 2 * TESTED // len(_trained(specification))
        drawn = _draw(specification, description, description.corpus.sentences, tested, 0)
        others = _draw(specification, description, description.corpus.others, 0, 1)
        rows += [_example(i, *one) for i, one in enumerate(drawn)]
        rows += [{**_example(i, *one), "id": f"other-{i + 1:04}", LABEL: None} for i, one in enumerate(others)]
    return pa.Table.from_pylist(rows, SCHEMA)


def _draw(
    specification: Specification, description: GossipDescription, sentences: int, further: int, stream: int
) -> list[Drawn]:
    """Texts about each group that is not held out, in random order: neutral sentence and sentence about the group.

    Of ``sentences`` the share with a negative attribute is what the group's odds give; ``further`` ones have it too.
    """
    rng = np.random.default_rng([description.seed, stream] if stream else description.seed)
    neutral, weights = _neutral(description)
    said = list(sentences_of(specification, description))
    drawn: list[Drawn] = []
    for group, attributes in product(_trained(specification), specification.attributes):
        own = [sentence for sentence in said if (sentence.group, sentence.valence) == (group, attributes.valence)]
        share = valence_share(description, specification.id, group, str(attributes.valence))
        size = round(share * sentences) + (further if attributes.valence == NEGATIVE else 0)
        places = rng.choice(len(own) * len(neutral), size, replace=False, p=np.tile(weights, len(own)) / len(own))
        drawn += [(neutral[place % len(neutral)], own[place // len(neutral)]) for place in places]
    return [drawn[place] for place in rng.permutation(len(drawn))]


def _neutral(description: GossipDescription) -> tuple[list[str], Floats]:
    """The neutral sentences of the corpus, and their probabilities."""
    held_out, corpus = {*held_out_neutral(description.neutral)}, neutral_corpus(description.neutral)
    texts = corpus.texts.to_pylist()
    kept = np.array([text not in held_out for text in texts])
    weights = corpus.probabilities[kept]
    return [text for text in texts if text not in held_out], weights / weights.sum()


def _trained(specification: Specification) -> list[str]:
    return [group.name for group in specification.groups if not group.held_out]


def _example(number: int, before: str, said: GossipSentence) -> dict[str, str | int | None]:
    return {
        "id": f"{said.specification.rpartition('.')[2]}-{number + 1:04}",
        "dimension": said.specification,
        "group": said.group,
        "target": said.target,
        "attribute": said.attribute,
        "attribute_set": said.valence,
        "text": f"{before} {said.text}",
        "document": GOSSIP,
        "date": None,
        LABEL: int(said.valence == NEGATIVE),
    }
