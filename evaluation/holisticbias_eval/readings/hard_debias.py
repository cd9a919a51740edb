"""Hard debiasing of word vectors (Bolukbasi et al. 2016), and the gender polarity of words after it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.errors import EvaluationError

Pairs = Sequence[tuple[str, str]]


def gender_polarities(
    words: Sequence[str], vectors: Floats, definitional: Pairs, specific: Collection[str], equalise: Pairs
) -> Floats:
    """The polarity of each word: the cosine of its debiased vector with she - he, below 0 for male.

    Sources: Bolukbasi et al. 2016, section 6, for debiasing; Dhamala et al. 2021, section 4.5, for the polarity.
    """
    place = {word: row for row, word in enumerate(words)}
    for word in ("she", "he"):
        if word not in place:
            raise EvaluationError(f"the vectors have no word {word!r}")
    debiased = hard_debias(words, vectors, definitional, specific, equalise)
    direction = debiased[place["she"]] - debiased[place["he"]]
    polarities: Floats = debiased @ direction / np.linalg.norm(direction)
    return polarities


def hard_debias(
    words: Sequence[str], vectors: Floats, definitional: Pairs, specific: Collection[str], equalise: Pairs
) -> Floats:
    """Unit vectors in which only gender-specific words and equalised pairs have a part along the gender direction.

    The direction is the first principal component of the definitional pairs, each centred at its mean. Neutral words
    lose their part along it; the two words of an equalised pair become equal but for it. Pairs with a missing word
    are left out. Raises ``EvaluationError`` without a definitional pair.
    """
    place = {word: row for row, word in enumerate(words)}
    units = _unit(np.asarray(vectors, np.float64))
    direction = gender_direction(place, units, definitional)
    kept = set(specific)
    neutral: Bools = np.array([word not in kept for word in words])
    units[neutral] -= np.outer(units[neutral] @ direction, direction)
    units = _unit(units)
    for pair in equalise:
        if all(word in place for word in pair):
            first, second = (place[word] for word in pair)
            middle = (units[first] + units[second]) / 2
            middle -= middle @ direction * direction
            height = np.sqrt(max(0.0, 1 - float(middle @ middle)))
            sign = 1.0 if (units[first] - units[second]) @ direction >= 0 else -1.0
            units[first] = middle + sign * height * direction
            units[second] = middle - sign * height * direction
    return _unit(units)


def gender_direction(place: dict[str, int], units: Floats, definitional: Pairs) -> Floats:
    """The first principal component of the words of definitional pairs, each pair centred at its mean."""
    pairs = [(units[place[a]], units[place[b]]) for a, b in definitional if a in place and b in place]
    if not pairs:
        raise EvaluationError("the vectors have none of the definitional pairs")
    centred = np.concatenate([np.stack((a - b, b - a)) / 2 for a, b in pairs])
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    direction: Floats = components[0]
    return direction


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
