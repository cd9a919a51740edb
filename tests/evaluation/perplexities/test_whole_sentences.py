"""F of whole sentences, and the note on groups whose sentences have different numbers of tokens."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Measured


def measured(nll: list[float | None], tokens: list[int]) -> Measured:
    table = pa.table(
        {
            "dimension": ["d"] * 4,
            "group": ["one", "one", "other", "other"],
            "sentence_id": ["1", "2", "1", "2"],
            "sentence": ["a", "b", "a", "b"],
            "perplexity": [2.0, 3.0, 4.0, 6.0],
            "nll": pa.array(nll, pa.float64()),
            "tokens": tokens,
        }
    )
    return MEASURES["group_perplexity"].figures(table, None)


@pytest.mark.parametrize(
    ("nll", "f"),
    [
        ([1.0, 3.0, 4.0, 8.0], 3.2),  # means 2 and 6: between 16 / 1, within (2 + 8) / 2
        ([1.0, 3.0, 3.0, 1.0], 0.0),
        ([2.0, 2.0, 2.0, 2.0], None),
        ([1.0, 3.0, None, 8.0], None),
    ],
)
def test_f_of_whole_sentences(nll: list[float | None], f: float | None) -> None:
    found = Figures(measured(nll, [5, 5, 5, 5]).figures).get(
        "group_perplexity", "f_whole_sentences", {"dimension": "d"}
    )
    assert found is not None
    assert found.value == (None if f is None else pytest.approx(f))
    assert (found.n, found.missing) == (4 - nll.count(None), nll.count(None))


@pytest.mark.parametrize(
    ("tokens", "said"),
    [([5, 5, 5, 5], False), ([4, 6, 5, 5], False), ([4, 6, 6, 7], True)],
)
def test_different_numbers_of_tokens_are_named(tokens: list[int], said: bool) -> None:
    notes = [note for note in measured([1.0, 3.0, 4.0, 8.0], tokens).notes if "tokens" in note]
    assert len(notes) == said
    assert not said or "5.0 tokens about one and 6.5 about other" in notes[0]
    assert not said or "F of the likelihoods of whole sentences is 3.20" in notes[0]
