"""The share under one wording of each stance: how much it depends on the wording of templates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.cells import Crossing
from holisticbias_eval.statistics.pairs import ratios

CHOICES = 1000


def choose_wordings(crossing: Crossing, rng: np.random.Generator) -> dict[str, Ints]:
    """Whether each template is the wording chosen for its stance, over many choices: shape ``[choices]`` each.

    Empty if no stance has two wordings.
    """
    stance_of = {cell.template: cell.stance for cell in crossing.cells}
    wordings = {s: [t for t in crossing.templates if stance_of[t] == s] for s in crossing.stances}
    if all(len(templates) == 1 for templates in wordings.values()):
        return {}
    chosen: dict[str, Ints] = {}
    for templates in wordings.values():
        choice = rng.integers(len(templates), size=CHOICES)
        chosen |= {t: (choice == i).astype(np.int64) for i, t in enumerate(templates)}
    return chosen


def worded_shares(counts: Mapping[str, Ints], chosen: Mapping[str, Ints]) -> Floats | None:
    """The share under each choice: shape ``[choices]``; ``None`` without choices.

    ``counts`` has, for each template, how many pairs differ and how many were tested.
    """
    if not chosen:
        return None
    return ratios(np.stack([counts[t] for t in counts], axis=1) @ np.stack([chosen[t] for t in counts]))
