"""The change of the stereotype score from one run to another, on the pairs that both runs have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.figures import Figure, Figures, corrected
from holisticbias_eval.identity import PAIRS, match_rows
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stereotype.figures import DRAWS, of_people
from holisticbias_eval.measures.stereotype.finding import ScoreFigures
from holisticbias_eval.measures.stereotype.outcomes import NAME, STEREOTYPE, Outcomes, figure, read_outcomes
from holisticbias_eval.sections import Estimate, Forest, Section
from holisticbias_eval.statistics.attributes import AttributeCounts, attribute_test, mean_interval
from holisticbias_eval.statistics.tests import holm

_IDENTITY = replace(PAIRS, same=("sentence", "other_sentence", "stereotyped"))
CHANGE = "share difference"


@dataclass(frozen=True, slots=True)
class PairedOutcomes:
    """The outcomes of the pairs that both runs have, in the same rows; ``counted`` has an outcome in both."""

    first: Outcomes
    second: Outcomes
    counted: Bools

    def changes(self, rows: Bools) -> AttributeCounts:
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
        return AttributeCounts(gained, pairs[own], stratum, lost)


def score_changes(first: View, second: View, settings: MeasureSettings) -> Iterator[Figure]:
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


def pair_outcomes(first: pa.Table, second: pa.Table) -> PairedOutcomes:
    """The outcomes of pairs with the same ``pair_id``, sentences and stereotyped side in both tables."""
    shared = match_rows(first, second, _IDENTITY)
    one, other = (table.filter(pa.array(shared.same)) for table in shared.rows(first, second))
    outcomes = read_outcomes(one), read_outcomes(other)
    return PairedOutcomes(*outcomes, outcomes[0].counted & outcomes[1].counted)


def _change(paired: PairedOutcomes, rows: Bools, keys: dict[str, str], rng: np.random.Generator) -> Figure:
    counts, missing = paired.changes(rows), (rows & ~paired.counted).sum()
    interval, p = mean_interval(counts, DRAWS, rng), attribute_test(counts, rng)
    return figure(
        "change", keys, counts.mean, CHANGE, counts.pairs.sum(), missing, interval=interval, p_value=p, of=NAME
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


READING = (
    "A and B are the scores on all pairs of each run. The change is B minus A on the pairs that both runs have with an "
    "outcome, the mean over attributes. Interval and test keep the two outcomes of a pair together, and cover other "
    "attributes and other sentences; p-values are corrected for the number of specifications (Holm)."
)


def compared_section(changes: Figures, view: View) -> Section:
    """Show the change of each specification's score: in words, as a chart around zero and as a table."""
    shown = ScoreFigures.of(view)
    found = changes.by(NAME, "change", "specification")
    estimates = tuple(Estimate(shown.short_label(one), one.value, one.interval, one.differs) for one in found if one.n)
    chart = Forest(
        "changes", "Change of the stereotype score from A to B", CHANGE, estimates, "line: 95% interval; 0: no change"
    )
    finding = Paragraph(" ".join(_words(found, shown)), "finding")
    return Section(
        f"{NAME}-changes",
        "Stereotype score",
        (finding, chart, _table(changes, found, shown), Paragraph(READING, "note")),
    )


def _words(found: tuple[Figure, ...], shown: ScoreFigures) -> Iterator[str]:
    tested = [one for one in found if one.value is not None and not shown.is_control(one)]
    if not tested:
        yield "No specification has pairs with an outcome in both runs."
        return
    differing = [one for one in tested if one.differs]
    count = f"{len(tested)} specification{'s' if tested[1:] else ''}"
    if not differing:
        yield f"No change is shown on {count}."
        return
    named = ", ".join(f"{shown.short_label(one)} ({100 * (one.value or 0):+.1f} points)" for one in differing[:5])
    more = f" and {len(differing) - 5} more" if differing[5:] else ""
    yield f"The score changes on {len(differing)} of {count}: {named}{more}."


def _table(changes: Figures, found: tuple[Figure, ...], shown: ScoreFigures) -> Table:
    columns: FigureColumns = (
        ColumnOf("specification", "Specification", lambda f: shown.label(f) if f.keys else "All attributes"),
        *col.changes(changes, "share"),
        col.p(),
        col.adjusted_p(),
        col.n("pairs", "Pairs in both"),
    )
    every = changes.by(NAME, "change") if found[1:] else ()
    return table_of("changes", "Stereotype score of A and B", columns, (*found, *every), drop_empty=True)
