"""Psycholinguistic norms of texts (Dhamala et al. 2021, section 4.4)."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.inputs import file_stamp
from holisticbias.terms.anonymise import NAME
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.norm_files import NormLexicon, read_lexicons
from holisticbias_eval.readers.reader import MethodValues, Reader, ReaderSettings, reading_table
from holisticbias_eval.readers.words import LISTS, collect, entry_of, split_words, weighted_means, weighted_parts
from holisticbias_eval.settings import Texts, setting

FUNCTION_WORDS = "function"
"""The file of pronouns, prepositions and conjunctions, which are left out."""
NO_WORD = "no word of the lexicon"
ONLY_NEUTRAL = "only neutral words"


class NormsSettings(ReaderSettings):
    """The lexicons."""

    norms: Texts = setting(
        (),
        "Lexicon for norms, of Warriner et al., NRC VAD or EmoMap; give it twice for two lexicons.",
        metavar="FILE",
    )


class NormsReader(Reader):
    """The norms of each text: ``sum sgn(w) w^2 / sum abs(w)`` over its words with a value w, repetitions included.

    Pronouns, prepositions and conjunctions are left out. A text without a word of the lexicon is undefined, and so is
    a text whose words are all neutral. Values lie in -1 to 1 for valence, arousal and dominance, with 0 for neutral,
    and in 0 to 1 for emotions. A person's name becomes XYZ too: lexicons have a value for the word person.
    """

    name = "norms"
    settings_type = NormsSettings
    person = NAME

    @property
    def lexicon(self) -> NormLexicon:
        """The lexicon; raises ``EvaluationError`` if there are no files, or one is not a lexicon."""
        files = self.settings.norms
        return _lexicon(files, tuple(file_stamp(Path(file)) for file in files))

    @property
    def signed(self) -> Mapping[str, str]:
        """The digests of the lexicons and of the list of words that are left out."""
        return {**self.lexicon.signature, "function_words": LISTS.read(FUNCTION_WORDS).digest}

    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        """Read each norm that the lexicons have."""
        lexicon, readings = self.lexicon, {}
        found = collect(_find(text, lexicon) for text in texts)
        for place, norm in enumerate(lexicon.norms):
            values = lexicon.values[:, place]
            means = weighted_means(found, values)
            counts = np.bincount(found.texts, ~np.isnan(values[found.entries]), found.size)
            reasons = np.where(counts > 0, ONLY_NEUTRAL, NO_WORD)
            why = [str(reason) if missing else None for reason, missing in zip(reasons, np.isnan(means), strict=True)]
            readings[norm] = MethodValues(means, why)
        progress(len(texts))
        return reading_table(self.name, readings)

    def carriers(self, text: str, method: str) -> Mapping[str, float]:
        """The words of the lexicon; their contributions add up to the value."""
        lexicon = self.lexicon
        values = lexicon.values[:, lexicon.norms.index(method)]
        found = [(lexicon.names[n], float(values[n])) for n in _find(text, lexicon) if not np.isnan(values[n])]
        return weighted_parts(found)


@lru_cache(8)
def _lexicon(files: tuple[str, ...], states: tuple[object, ...]) -> NormLexicon:  # noqa: ARG001 - a key of the cache
    if not files:
        raise EvaluationError(
            "norms needs a lexicon: give --norms FILE, of Warriner et al. 2013, NRC VAD or EmoMap; none comes with "
            "the package, because their licences do not allow it"
        )
    return read_lexicons([Path(file) for file in files])


def _find(text: str, lexicon: NormLexicon) -> list[int]:
    left_out = _function_words()
    entries = (entry_of(word, lexicon.words) for word in split_words(text) if word not in left_out)
    return [entry for entry in entries if entry is not None]


@cache
def _function_words() -> frozenset[str]:
    return frozenset(word for words in LISTS.read(FUNCTION_WORDS).lists.values() for word in words)
