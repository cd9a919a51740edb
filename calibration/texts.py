"""A corpus with exact probabilities, and its tree of token prefixes with what follows each prefix."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix, diags
from transformers import PreTrainedTokenizerFast

from holisticbias_eval.arrays import Floats, Ints

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Corpus:
    """Unique texts and their probabilities, which sum to 1; a perfect model gives each text -log p nats."""

    texts: pa.StringArray
    probabilities: Floats

    @property
    def digest(self) -> str:
        """SHA-256 of the texts and their log-probabilities to a millionth of a nat: the same on any machine."""
        digest = hashlib.sha256("\n".join(self.texts.to_pylist()).encode())
        digest.update(np.rint(np.log(self.probabilities) * 1e6).astype("<i8").tobytes())
        return digest.hexdigest()

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Draw ``n`` indexes of texts in random order, by systematic sampling.

        Each text is drawn n times its probability, rounded up or down, which is
        much closer to the probabilities than independent draws.
        """
        points = (np.arange(n) + rng.random()) / n
        bounds = np.cumsum(self.probabilities)
        drawn = np.searchsorted(bounds / bounds[-1], points, side="right")
        return rng.permutation(drawn.astype(np.int64))


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """A corpus's texts between two boundaries, and the exact distribution of each of their tokens.

    ``tokens`` has shape ``[texts, longest]``, padded on the right. ``nodes``,
    of shape ``[texts, longest - 1]``, is the prefix before each next token,
    ``NOWHERE`` past the end. ``following``, of shape ``[prefixes,
    vocabulary]``, has the probability of each token after each prefix; rows sum to 1.
    """

    corpus: Corpus
    tokens: Ints
    nodes: Ints
    following: csr_matrix


def grow_tree(corpus: Corpus, tokenizer: PreTrainedTokenizerFast) -> PrefixTree:
    """Build the tree of a corpus for a tokenizer."""
    tokens = _encode(corpus.texts.to_pylist(), tokenizer)
    vocabulary = len(tokenizer)
    nodes = np.full((len(tokens), tokens.shape[1] - 1), NOWHERE)
    here = np.zeros(len(tokens), np.int64)
    count = 1
    edges = []
    for depth, following in enumerate(tokens[:, 1:].T):
        live = following != tokenizer.pad_token_id
        nodes[live, depth] = here[live]
        steps, child = np.unique(here[live] * vocabulary + following[live], return_inverse=True)
        edges.append((steps, np.bincount(child, weights=corpus.probabilities[live])))
        here[live] = count + child
        count += len(steps)
    steps, weights = (np.concatenate(part) for part in zip(*edges, strict=True))
    counts = csr_matrix((weights, np.divmod(steps, vocabulary)), shape=(count, vocabulary))
    totals = np.asarray(counts.sum(axis=1)).ravel()
    scale = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
    return PrefixTree(corpus, tokens, nodes, (diags(scale) @ counts).tocsr())


def _encode(texts: list[str], tokenizer: PreTrainedTokenizerFast) -> Ints:
    rows = [encoding.ids for encoding in tokenizer.backend_tokenizer.encode_batch_fast(texts)]
    tokens = np.full((len(rows), max(map(len, rows)) + 2), tokenizer.pad_token_id)
    tokens[:, 0] = tokenizer.bos_token_id
    for row, ids in zip(tokens, rows, strict=True):
        row[1 : len(ids) + 2] = [*ids, tokenizer.eos_token_id]
    return tokens
