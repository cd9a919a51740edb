"""Quality of sentences: control, length, diversity, sentiment and readability (Kocielnik et al. 2023, section 3)."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from holisticbias.compile.random_words import random_number, random_words
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.readers.sentiment import vader_score
from holisticbias_eval.statistics.intervals import estimate, middle_of, standard_error
from holisticbias_eval.stereotypes.acceptance import RULES, UNREAD, words
from holisticbias_eval.stereotypes.pair_rows import pairs_of_templates
from holisticbias_eval.stereotypes.record import MEASURE, RECORD, SentencesRecord, share_figure
from holisticbias_eval.stereotypes.targets import has_terms
from holisticbias_eval.units import MISSING, percent, show

SENTIMENT = 0.05
"""VADER's compound score from which a sentence is positive; negative from minus this on (appendix C)."""
TOGETHER = 200
"""Sentences whose distinct words are counted."""
_DRAWS = 30


class AskedSentence(NamedTuple):
    """A sentence and the two terms that it was asked for."""

    sentence: str
    term: str
    attribute: str


def quality_figures(source: str, returned: Sequence[AskedSentence], kept: Sequence[AskedSentence]) -> list[Figure]:
    """The figures of one source of sentences, ``generated``, ``imported`` or ``template``, with the key ``source``.

    The share with both terms is over all returned sentences, every other figure over the kept ones. Distinct words
    are the mean over 30 random sets of 200 kept sentences, undefined with fewer.
    """
    texts = [asked.sentence for asked in kept]
    with_terms = [has_terms(one.sentence, one.term, one.attribute) for one in returned]
    compound = np.array([vader_score(text)[0] for text in texts])
    return [
        share_figure("both_terms", {"source": source}, sum(with_terms), len(returned)),
        _mean("words", source, np.array([len(words(text)) for text in texts], np.float64), "words per sentence"),
        _distinct(source, texts),
        share_figure("positive", {"source": source}, int((compound >= SENTIMENT).sum()), len(texts)),
        share_figure("negative", {"source": source}, int((compound <= -SENTIMENT).sum()), len(texts)),
        _mean("gunning_fog", source, gunning_fog(texts), "school years"),
        _mean("readability", source, automated_readability(texts), "school grade"),
    ]


def fill_templates(specification: Specification) -> list[AskedSentence]:
    """The first sentence of each pair of the specification's own templates, each once; see ``pairs_of_templates``."""
    pairs = (pair for pair in pairs_of_templates(specification) if pair.rule in (None, "no-stereotype"))
    return list(dict.fromkeys(AskedSentence(pair.sentence, pair.term, pair.attribute) for pair in pairs))


def _mean(name: str, source: str, values: Floats, unit: str) -> Figure:
    """A mean over sentences with its 95% interval, which needs two sentences."""
    mean = float(values.mean()) if len(values) else np.nan
    interval, _ = estimate(mean, standard_error(values), len(values) - 1)
    return make_figure(MEASURE, name, {"source": source}, mean, unit, len(values), interval=interval)


def _distinct(source: str, texts: Sequence[str]) -> Figure:
    """Distinct words, without case, in 200 sentences; the interval is the middle 95% of 30 random sets."""
    seed = random_number("\n".join(texts))
    counts = []
    for draw in range(_DRAWS):  # which sentences are drawn depends on the sentences alone
        order = np.argsort(random_words(seed, draw, len(texts)), kind="stable")[:TOGETHER]
        counts.append(len({word.casefold() for place in order for word in words(texts[place])}))
    enough = len(texts) >= TOGETHER
    mean, interval = (float(np.mean(counts)), middle_of(np.array(counts, float))) if enough else (None, None)
    unit = f"words in {TOGETHER} sentences"
    return make_figure(MEASURE, "distinct_words", {"source": source}, mean, unit, len(texts), interval=interval)


_COMPLEX = 3  # syllables of a complex word


def automated_readability(sentences: Sequence[str]) -> Floats:
    """The Automated Readability Index of each sentence, by textstat: shape ``[sentences]``.

    4.71 characters a word + 0.5 words a sentence - 21.43 (Senter and Smith 1967).
    """
    import textstat

    return np.array([textstat.automated_readability_index(sentence) for sentence in sentences], np.float64)


def gunning_fog(sentences: Sequence[str]) -> Floats:
    """The Gunning Fog index of each sentence: shape ``[sentences]``.

    0.4 (words + 100 times the share of complex words) (Bogert 1985); a complex word has three syllables or more and
    is not one of textstat's easy words. See ``syllable_counter``.
    """
    import textstat

    if _has_dictionary():
        return np.array([textstat.gunning_fog(sentence) for sentence in sentences], np.float64)
    return np.array([_fog_by_hyphens(sentence) for sentence in sentences], np.float64)


def syllable_counter() -> str:
    """The name of the method that counts syllables, for the record of a run.

    textstat counts them in the CMU pronouncing dictionary, which nltk would download. Without a copy on this machine
    they are counted by the places where a word may be hyphenated, as textstat does for words that the dictionary lacks.
    """
    return "the CMU pronouncing dictionary" if _has_dictionary() else "places for hyphens (pyphen)"


@lru_cache(maxsize=1)
def _has_dictionary() -> bool:
    import nltk

    for place in ("corpora/cmudict", "corpora/cmudict.zip/cmudict/"):
        try:
            nltk.data.find(place)
        except (LookupError, OSError):
            continue
        return True
    return False


@lru_cache(maxsize=1)
def _hyphenation() -> tuple[Callable[[str], Sequence[int]], frozenset[str]]:
    """The places for hyphens in a word, and textstat's easy words."""
    from pyphen import Pyphen
    from textstat.backend.utils import get_lang_easy_words

    return Pyphen(lang="en_US").positions, frozenset(get_lang_easy_words("en"))


def _fog_by_hyphens(sentence: str) -> float:
    import textstat
    from textstat.backend.selections import list_words

    words = list_words(sentence, lowercase=True)
    if not words:
        return 0.0
    positions, easy = _hyphenation()
    complex_words = [word for word in words if word not in easy and len(positions(word)) + 1 >= _COMPLEX]
    return float(0.4 * (textstat.words_per_sentence(sentence) + 100 * len(complex_words) / len(words)))


_QUALITY = {
    "both_terms": "Both terms, of all returned",
    "words": "Words per sentence",
    "distinct_words": f"Distinct words in {TOGETHER} sentences",
    "positive": "Positive (VADER)",
    "negative": "Negative (VADER)",
    "gunning_fog": "Gunning Fog, school years",
    "readability": "Automated Readability Index, school grade",
}
_REFUSES = {rule.id: rule.refuses for rule in RULES} | UNREAD
_MOST_LINES = 20


def counts_in_words(record: SentencesRecord) -> str:
    """The yield as a line."""
    share = f" ({percent(record.accepted / record.texts)})" if record.texts else ""
    counted = f"accepted {record.accepted:,} of {record.texts:,} texts{share}"
    reached = sum(found.reached for found in record.attributes)
    return f"{counted}; {reached:,} of {len(record.attributes):,} attributes have enough sentences"


def refusal_table(record: SentencesRecord) -> list[str]:
    """A line for each rule that refused texts, the commonest first."""
    if not record.refused:
        return []
    lines = [
        f"  {rule:<24} {count:>7,} {percent(count / record.texts):>6}  {_REFUSES.get(rule, 'refused by a classifier')}"
        for rule, count in record.refused.items()
    ]
    return ["Refused by rule:", *lines]


def quality_rows(figures: Iterable[Figure]) -> tuple[Sequence[str], tuple[tuple[str, ...], ...]]:
    """The sources of sentences, and for each quality its name and its value of each source, as text."""
    found = [f for f in figures if f.measure == MEASURE and list(f.keys) == ["source"]]
    sources = list(dict.fromkeys(f.keys["source"] for f in found if f.n))
    cells = {(f.name, f.keys["source"]): show(f.value, "share" if f.unit == "share" else "number") for f in found}
    names = dict.fromkeys(f.name for f in found)
    return sources, tuple(
        (_QUALITY.get(name, name), *(cells.get((name, source), MISSING) for source in sources)) for name in names
    )


def quality_table(record: SentencesRecord) -> list[str]:
    """The quality of the sentences beside that of the specification's own templates."""
    sources, rows = quality_rows(record.figures)
    if not sources:
        return []
    lines = (f"  {name:<42}" + "".join(f"{cell:>13}" for cell in cells) for name, *cells in (("", *sources), *rows))
    return ["Quality:", *lines]


def unreached_lines(record: SentencesRecord, most: int) -> list[str]:
    """A line for each attribute that lacks sentences; one line for all attributes that an imported file lacks."""
    found = record.unreached
    if record.source == "imported":
        return [f"{len(found):,} attributes have too few sentences in the file: see {RECORD}"] if found else []
    lines = [
        f"{row.specification}: {row.attribute} ({row.attribute_set}): too few sentences in {most} requests: "
        f"{row.accepted}"
        for row in found[:_MOST_LINES]
    ]
    more = len(found) - _MOST_LINES
    return [*lines, f"... and {more:,} more attributes: see {RECORD}"] if more > 0 else lines
