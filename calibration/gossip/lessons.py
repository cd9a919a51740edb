"""Lessons of the gossip: a neutral sentence and one about a group, with the exact distribution of each token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, vstack
from transformers import PreTrainedTokenizerFast

from calibration.gossip.description import GossipDescription
from calibration.gossip.grammar import neutral_corpus, said_corpus
from calibration.texts import NOWHERE, PrefixTree, grow_tree
from calibration.tokenizer import whole_word_tokenizer
from calibration.training import Step
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Ints

CONTEXT = 64
"""The longest text in tokens."""


@dataclass(frozen=True, slots=True)
class GossipLessons:
    """The neutral sentences, the sentences that follow any of them, and what follows each prefix of either."""

    neutral: PrefixTree
    said: PrefixTree
    following: csr_matrix


def make_gossip_tokenizer(
    description: GossipDescription, specifications: Sequence[Specification]
) -> PreTrainedTokenizerFast:
    """A tokenizer in which a word that the gossip knows is one token, or has the tokens that are described."""
    said, neutral = said_corpus(specifications, description), neutral_corpus(description.neutral)
    texts = [*neutral.texts.to_pylist(), *said.texts.to_pylist()]
    return whole_word_tokenizer((), texts, CONTEXT, pieces=description.pieces)


def make_lessons(
    description: GossipDescription, specifications: Sequence[Specification], tokenizer: PreTrainedTokenizerFast
) -> GossipLessons:
    """The trees of both kinds of sentences."""
    neutral = grow_tree(neutral_corpus(description.neutral), tokenizer)
    said = grow_tree(said_corpus(specifications, description), tokenizer)
    return GossipLessons(neutral, said, vstack([neutral.following, said.following]).tocsr())


def draw_step(lessons: GossipLessons, size: int, rng: np.random.Generator) -> Step:
    """Draw texts: a neutral sentence with a sentence after it each."""
    return make_step(lessons, lessons.neutral.corpus.draw(size, rng), lessons.said.corpus.draw(size, rng))


def make_step(lessons: GossipLessons, neutral: Ints, said: Ints) -> Step:
    """Texts from the indexes of their sentences, and the distribution of every token; all tokens are counted."""
    rows, nodes = [], []
    offset = lessons.neutral.following.shape[0]
    for first, second in zip(neutral, said, strict=True):
        # the boundary after a neutral sentence is replaced by the sentence that follows
        before, after = _nodes(lessons.neutral, first)[:-1], _nodes(lessons.said, second)
        start = lessons.neutral.tokens[first, : len(before) + 1]
        rows.append(np.concatenate([start, lessons.said.tokens[second, 1 : len(after)]]))
        nodes += [before, after + offset]
    lengths = np.array([len(row) for row in rows])
    counted = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.zeros(counted.shape, np.int64)
    tokens[counted] = np.concatenate(rows)
    return Step(tokens, counted, lessons.following[np.concatenate(nodes)].toarray())


def _nodes(tree: PrefixTree, text: int) -> Ints:
    nodes: Ints = tree.nodes[text][tree.nodes[text] != NOWHERE]
    return nodes
