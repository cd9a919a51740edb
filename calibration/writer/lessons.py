"""Lessons of the writer: texts after their contexts, with the exact distribution of each of their tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.texts import NOWHERE, PrefixTree, grow_tree
from calibration.tokenizer import whole_word_tokenizer
from calibration.training import Step, predict
from calibration.writer.description import PromptGrammar, WriterDescription
from calibration.writer.grammar import (
    all_texts,
    answer_corpus,
    continuation_corpus,
    prompts_of,
    request,
    sentence_corpus,
)
from holisticbias.terms.specification_entries import Specification

CONTEXT = 256
"""The longest text in tokens."""
MOST_EXAMPLES = 5

Tokens = list[int]


@dataclass(frozen=True, slots=True)
class Continued:
    """Contexts that are followed by the same texts: those of ``tree``."""

    contexts: Sequence[Tokens]
    tree: PrefixTree


@dataclass(frozen=True, slots=True)
class WriterLessons:
    """The three kinds of lessons: sentences by themselves, prompts by group, requests by term and attribute."""

    sentences: Continued
    prompts: Sequence[Continued]
    requests: Sequence[Continued]


def make_writer_tokenizer(
    description: WriterDescription, specifications: Sequence[Specification]
) -> PreTrainedTokenizerFast:
    """A tokenizer in which each word that the writer knows is one token; any other text is several."""
    return whole_word_tokenizer((), all_texts(description, specifications), CONTEXT)


def make_lessons(
    description: WriterDescription, specifications: Sequence[Specification], tokenizer: PreTrainedTokenizerFast
) -> WriterLessons:
    """All lessons; the requests have contexts with 0 to ``MOST_EXAMPLES`` examples in random order, from the seed."""
    grow = partial(grow_tree, tokenizer=tokenizer)
    prompts, grammar = description.prompts, description.sentences
    by_group = [
        Continued(_encode(tokenizer, _prompts_about(prompts, group.group)), grow(continuation_corpus(prompts, group)))
        for group in prompts.groups
    ]
    rng = np.random.default_rng(description.seed)
    requests = [
        Continued(_encode(tokenizer, _requests(description, (term, attribute), rng)), grow(corpus))
        for specification in specifications
        for slot in specification.slots
        for term in filter(None, slot.terms)
        for attributes in specification.attributes
        for attribute in attributes.terms
        for corpus in [answer_corpus(grammar, term, attribute)]
    ]
    alone = Continued([[tokenizer.bos_token_id]], grow(sentence_corpus(specifications, grammar)))
    return WriterLessons(alone, by_group, requests)


def draw_step(asked: Sequence[Continued], size: int, rng: np.random.Generator) -> Step:
    """Draw contexts of some kinds, as many of each as fit, and a text after each."""
    kinds = rng.permutation(np.resize(rng.permutation(len(asked)), size))
    contexts, texts = [], []
    for kind, count in zip(*np.unique(kinds, return_counts=True), strict=True):
        tree = asked[kind].tree
        texts += [(tree, int(text)) for text in tree.corpus.draw(int(count), rng)]
        contexts += [asked[kind].contexts[i] for i in rng.integers(len(asked[kind].contexts), size=count)]
    return make_step(contexts, texts)


def make_step(contexts: Sequence[Tokens], texts: Sequence[tuple[PrefixTree, int]]) -> Step:
    """Contexts with a text of a tree after each, and the distribution of every token of the text."""
    rows, places, targets = [], [], []
    for context, (tree, text) in zip(contexts, texts, strict=True):
        nodes = tree.nodes[text][tree.nodes[text] != NOWHERE]
        rows.append([*context, *tree.tokens[text, 1 : len(nodes)]])
        places.append(len(context) - 1 + np.arange(len(nodes)))
        targets.append(tree.following[nodes].toarray())
    longest = max(map(len, rows))
    tokens, counted = np.zeros((len(rows), longest), np.int64), np.zeros((len(rows), longest), bool)
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        tokens[i, : len(row)] = row
        counted[i, place] = True
    return Step(tokens, counted, np.concatenate(targets))


@torch.inference_mode()
def largest_deviation(model: GPT2LMHeadModel, asked: Continued, contexts: Sequence[Tokens]) -> float:
    """The largest difference of a token's probability from what is planted, after any text in some contexts."""
    off = 0.0
    for context in contexts:
        for rows in np.array_split(np.arange(len(asked.tree.tokens)), -(-len(asked.tree.tokens) // 256)):
            step = make_step([context] * len(rows), [(asked.tree, int(row)) for row in rows])
            found = predict(model, step).exp().numpy()
            off = max(off, float(np.abs(found - step.following).max()))
    return off


def _prompts_about(grammar: PromptGrammar, group: str) -> list[str]:
    return [prompt.text for prompt in prompts_of(grammar) if prompt.group.group == group]


def _requests(description: WriterDescription, keywords: Sequence[str], rng: np.random.Generator) -> list[str]:
    examples = description.sentences.examples
    orders = [rng.permutation(len(examples))[:count] for count in range(MOST_EXAMPLES + 1)]
    return [request(keywords, [examples[i] for i in order]) for order in orders]


def _encode(tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]) -> list[Tokens]:
    return [encoding.ids for encoding in tokenizer.backend_tokenizer.encode_batch_fast(list(texts))]
