"""The change of the stereotype score from one run to another, on the pairs that both runs have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.figures import Figure, Figures, corrected
from holisticbias_eval.identity import PAIRS, match_rows
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.measures.stereotype.figures import DRAWS, of_people
from holisticbias_eval.measures.stereotype.made import figure
from holisticbias_eval.measures.stereotype.outcomes import NAME, STEREOTYPE, Outcomes, read_outcomes
from holisticbias_eval.statistics.attributes import AttributeChanges, change_interval, change_test
from holisticbias_eval.statistics.tests import holm

_IDENTITY = replace(PAIRS, same=("sentence", "other_sentence", "stereotyped"))
CHANGE = "share difference"


@dataclass(frozen=True, slots=True)
class Paired:
    """The outcomes of the pairs that both runs have, in the same rows; ``counted`` has an outcome in both."""

    first: Outcomes
    second: Outcomes
    counted: Bools

    def changes(self, rows: Bools) -> AttributeChanges:
        """The pairs of each attribute whose outcome changed."""
        rows = rows & self.counted
        size = len(self.second.attributes)
        attribute = self.second.attribute[rows]
        before, after = (o.state[rows] == STEREOTYPE for o in (self.first, self.second))
        pairs = np.bincount(attribute, minlength=size)
        own = np.flatnonzero(pairs)
        gained, lost = (
            np.bincount(attribute[kept], minlength=size)[own] for kept in (after & ~before, before & ~after)
        )
        stratum = np.array([specification for specification, _ in self.second.attributes], np.int64)[own]
        return AttributeChanges(gained, lost, pairs[own], stratum)


def score_changes(first: View, second: View, settings: Settings) -> Iterator[Figure]:
    """The score of both runs and its change, of each specification and over all (without keys).

    ``change`` is the mean over attributes of the change of their shares, on pairs that both runs have with the same
    sentences and an outcome; its interval and p-value are paired. ``change_adjusted_p`` is corrected for the number
    of specifications (Holm), controls apart.
    """
    paired = pair_outcomes(first.answers, second.answers)
    outcomes, rng = paired.second, np.random.default_rng(settings.seed)
    found = []
    for i, name in enumerate(outcomes.specifications):
        found.append(_change(paired, outcomes.of(i) & outcomes.main, {"specification": name}, rng))
        yield from _both(first.figures, second.figures, found[-1].keys)
        yield found[-1]
    yield from _unpaired(first.figures, second.figures, outcomes.specifications)
    yield from corrected(of_people(found, outcomes), holm)
    yield from _both(first.figures, second.figures, {})
    yield _change(paired, outcomes.main & outcomes.people, {}, rng)


def pair_outcomes(first: pa.Table, second: pa.Table) -> Paired:
    """The outcomes of pairs with the same ``pair_id``, sentences and stereotyped side in both tables."""
    shared = match_rows(first, second, _IDENTITY)
    one, other = (table.filter(pa.array(shared.same)) for table in shared.rows(first, second))
    outcomes = read_outcomes(one), read_outcomes(other)
    return Paired(*outcomes, outcomes[0].counted & outcomes[1].counted)


def _change(paired: Paired, rows: Bools, keys: dict[str, str], rng: np.random.Generator) -> Figure:
    counts = paired.changes(rows)
    return figure(
        "change",
        keys,
        counts.mean,
        CHANGE,
        int(counts.pairs.sum()),
        int((rows & ~paired.counted).sum()),
        interval=change_interval(counts, DRAWS, rng),
        p_value=change_test(counts, rng),
        of=NAME,
    )


def _unpaired(first: Figures, second: Figures, paired: Sequence[str]) -> Iterator[Figure]:
    """The scores of specifications without a pair in both runs; their change is not defined."""
    known = (f.keys["specification"] for run in (first, second) for f in run.by(NAME, NAME, "specification"))
    for name in dict.fromkeys(known):
        if name not in paired:
            keys = {"specification": name}
            yield from _both(first, second, keys)
            yield figure("change", keys, None, CHANGE, 0, of=NAME)


def _both(first: Figures, second: Figures, keys: Mapping[str, str]) -> Iterator[Figure]:
    """The scores of both runs, on all their pairs."""
    for name, figures in (("first", first), ("second", second)):
        own = figures.get(NAME, NAME, dict(keys))
        if own is not None:
            yield own.model_copy(update={"name": name, "of": NAME})
