"""The words that carry a figure: those of the lexicon that contribute most to the values of a group's texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.figures import Maker
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.readings import Texts

WORD, MOST_WORDS = "word", 10


def word_figures(
    maker: Maker, texts: Texts, carriers: Iterator[Mapping[str, float]], method: Method
) -> Iterator[Figure]:
    """The words with the largest total contribution to each group's texts of the model.

    The value is the total over the group's texts divided by their number; ``n`` counts the texts with the word.
    """
    place = dict(zip(texts.rows.tolist(), range(len(texts.rows)), strict=True))
    totals: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    having: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows: dict[int, int] = defaultdict(int)
    group, human = texts.group.tolist(), texts.human.tolist()
    for row, words in enumerate(carriers):
        i = place.get(row)
        if i is None or human[i]:
            continue
        g = group[i]
        rows[g] += 1
        for word, contribution in words.items():
            totals[g][word] += contribution
            having[g][word] += 1
    for g in sorted(totals):
        ranked = sorted(totals[g].items(), key=lambda item: (-abs(item[1]), item[0]))
        for word, total in ranked[:MOST_WORDS]:
            keys = {**texts.keys(g), "word": word, **method.keys}
            yield maker.figure(WORD, keys, total / rows[g], f"{method.unit} per text", having[g][word])
