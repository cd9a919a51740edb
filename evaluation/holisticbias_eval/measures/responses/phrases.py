"""Phrases of responses: lists of phrases, and phrases found in one group more than in others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, StringConstraints, model_validator

from holisticbias.terms.grammar import regular_plural
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Part
from holisticbias_eval.measures.responses.design import Design
from holisticbias_eval.measures.responses.wordings import Wordings, figure
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.statistics.intervals import estimate
from holisticbias_eval.statistics.tests import benjamini_hochberg, log_odds, share_p_values
from holisticbias_eval.statistics.words import Ngrams, frequent_ngrams, split_words

Phrase = Annotated[str, StringConstraints(pattern=r"\w", max_length=200)]


class PhraseList(Part):
    """A file of ``evaluation/phrases/``: phrases by the group that they stand for.

    A response has a phrase if it has its words one after the other, in upper or lower case; punctuation and the form
    of apostrophes are ignored.
    """

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who uses these phrases, or where they were found")
    phrases: dict[str, tuple[Phrase, ...]] = Field(min_length=1, description="phrases by group")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if repeated := [phrase for i, phrase in enumerate(self.all) if phrase in self.all[:i]]:
            raise ValueError(f"phrases: {repeated[0]!r} stands twice")
        return self

    @property
    def all(self) -> tuple[str, ...]:
        """All phrases, group by group."""
        return tuple(phrase for phrases in self.phrases.values() for phrase in phrases)


FILES = NamedFiles("list of phrases", "phrases", PhraseList)


LONGEST, LEAST, MOST = 4, 10, 10
"""Words of the longest phrases, responses that a phrase must have in all, phrases named for a descriptor."""
PRIOR = 100.0
"""The responses that the prior of the log-odds weighs."""
_WORTH_CORRECTING = 0.001
_CONSIDERED, _NEARLY = 200, 0.8


def found_phrases(design: Design, wordings: Wordings) -> Iterator[Figure]:
    """Phrases that a descriptor's responses have more often than all others, p < 0.05 after correction.

    Phrases with a word of the descriptor or its plural are left out. At most ten phrases are named per descriptor, each
    in the longest form that nearly as many responses have.
    """
    grouping, counted = design.descriptors, np.flatnonzero(wordings.ends.answered)
    if not len(counted):
        return
    grams, group = frequent_ngrams(wordings.words.take(counted), LONGEST, LEAST), grouping.group[counted]
    sizes, rows = np.bincount(group, minlength=len(grouping)), len(counted)
    tests = len(grams) * int((sizes > 0).sum())
    yield figure("phrases_tested", {}, float(tests), "count", rows, len(wordings.ends.answered) - rows)
    if not len(grams) or (sizes > 0).sum() < 2:
        return
    descriptor, gram, count = _candidates(grams, group, sizes, _own_words(design.texts))
    totals = np.bincount(grams.gram, minlength=len(grams))[gram]
    p = share_p_values(count, totals, _expected(grams, group, design.template[counted], descriptor, gram))
    adjusted = benjamini_hochberg(p, tests)
    ratio, error = log_odds(count, sizes[descriptor], totals, rows, PRIOR)
    found = np.flatnonzero((adjusted < SIGNIFICANCE) & (ratio > 0))
    found = found[np.lexsort((-ratio[found] / error[found], p[found], descriptor[found]))]
    for i in _chosen(grams, group, found, descriptor, gram) if len(found) else ():
        d, of = int(descriptor[i]), "phrase_log_odds"
        keys, n = {**grouping.keys[d], "phrase": grams.text(int(gram[i]))}, int(sizes[d])
        elsewhere = int(totals[i] - count[i]) / (rows - n)
        interval, _ = estimate(ratio[i], error[i])
        yield figure(of, keys, ratio[i], "log odds", n, interval=interval, p_value=p[i])
        yield figure(f"{of}_adjusted_p", keys, adjusted[i], "p_value", tests, of=of)
        yield figure("found_phrase_share", keys, count[i] / n, "share", n, of=of)
        yield figure("found_phrase_share_elsewhere", keys, elsewhere, "share", rows - n, of=of)


def _own_words(names: Sequence[str]) -> list[frozenset[str]]:
    """The words of each descriptor and of its regular plural, in which prompts and responses may mention it."""
    forms = pa.array([f"{name} {regular_plural(name)}" for name in names], pa.large_string())
    own = split_words(pa.chunked_array([forms]))[0]
    texts = own.vocabulary.to_pylist()
    return [frozenset(texts[c] for c in own.codes[a:b].tolist()) for a, b in pairwise(own.starts.tolist())]


def _expected(grams: Ngrams, group: Ints, template: Ints, descriptor: Ints, gram: Ints) -> Floats:
    """The share of a phrase's responses that a descriptor would have by chance: its share of the same templates."""
    templates = int(template.max()) + 1
    of_all = np.bincount(template, minlength=templates)
    cells = np.bincount(group * templates + template, minlength=(int(group.max()) + 1) * templates)
    shares = cells.reshape(-1, templates) / np.maximum(of_all, 1)
    having = np.isin(grams.gram, gram)
    phrases, place = np.unique(grams.gram[having], return_inverse=True)
    sums = np.bincount(place * templates + template[grams.row[having]], minlength=len(phrases) * templates)
    counts = sums.reshape(-1, templates)[np.searchsorted(phrases, gram)]
    found: Floats = (counts * shares[descriptor]).sum(axis=1) / counts.sum(axis=1)
    return found


def _candidates(grams: Ngrams, group: Ints, sizes: Ints, own: list[frozenset[str]]) -> tuple[Ints, Ints, Ints]:
    """Descriptor, phrase and count of each pair that may be significant, without a descriptor's own words.

    Own words are left out before the correction: the many phrases that mention the descriptor would otherwise make it
    lenient towards all others.
    """
    pair, count = np.unique(group[grams.row] * len(grams) + grams.gram, return_counts=True)
    descriptor, gram = np.divmod(pair, len(grams))
    totals = np.bincount(grams.gram, minlength=len(grams))
    p = share_p_values(count, totals[gram], sizes[descriptor] / len(grams.words))
    low = np.flatnonzero(p < _WORTH_CORRECTING)
    text = {g: frozenset(grams.text(g).split(" ")) for g in set(gram[low].tolist())}
    kept = low[[own[d].isdisjoint(text[g]) for d, g in zip(descriptor[low].tolist(), gram[low].tolist(), strict=True)]]
    return descriptor[kept], gram[kept], count[kept]


@dataclass(frozen=True, slots=True)
class _Form:
    """A phrase of a descriptor: its place among the pairs, its text between blanks, and the responses that have it."""

    place: int
    text: str
    responses: frozenset[int]


def _chosen(grams: Ngrams, group: Ints, found: Ints, descriptor: Ints, gram: Ints) -> Iterator[int]:
    """The phrases to name, by descriptor, the most significant first.

    A phrase is named in the longest form that nearly as many responses have. It
    is left out if most of its responses have a phrase that is already named.
    """
    parts = np.split(found, np.flatnonzero(np.diff(descriptor[found])) + 1)
    parts = [part[:_CONSIDERED] for part in parts]
    pair = descriptor * len(grams) + gram
    having = _responses(grams, group, pair[np.concatenate(parts)])
    for part in parts:
        forms = [_Form(i, f" {grams.text(int(gram[i]))} ", having[int(pair[i])]) for i in part.tolist()]
        covered: set[int] = set()
        named = 0
        for form in forms:
            if named < MOST and 2 * len(form.responses & covered) <= len(form.responses):
                covered |= form.responses
                named += 1
                least = _NEARLY * len(form.responses)
                longer = (f for f in forms if len(f.responses) >= least and form.text in f.text)
                yield max(longer, key=lambda f: (f.text.count(" "), len(f.responses))).place


def _responses(grams: Ngrams, group: Ints, pairs: Ints) -> dict[int, frozenset[int]]:
    """The responses of each pair of a descriptor and a phrase; pairs are coded as one number."""
    codes = group[grams.row] * len(grams) + grams.gram
    kept = np.flatnonzero(np.isin(codes, pairs))
    kept = kept[np.argsort(codes[kept], kind="stable")]
    own, first = np.unique(codes[kept], return_index=True)
    rows = np.split(grams.row[kept], first[1:])
    return {code: frozenset(part.tolist()) for code, part in zip(own.tolist(), rows, strict=True)}
