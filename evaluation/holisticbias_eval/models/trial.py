"""Plan a run of responses or pairs: count what the store lacks, and time a few."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.sequences import evenly
from holisticbias_eval.progress import duration

_FIRST, _BATCH = 8, 64
"""The rows that are asked first, and those of a batch, which take less time for each row."""
_ENOUGH, _SLOW = 1.0, 5.0
"""Seconds that are enough to know the speed of a batch, and after which no more rows are asked."""
_SPREAD = 0.6
"""How far the speed of a whole run is from that of a trial: its batches are larger, and rows differ in length."""
_LONG = 600.0
"""Seconds from which a run has advice, and that a shorter run takes."""


def time_range(seconds: tuple[float, float]) -> str:
    """A range of seconds in words."""
    low, high = map(duration, seconds)
    return low if low == high else f"{low} to {high}"


def shortening(ways: Mapping[str, str], usable: Collection[str], answers: str) -> str:
    """Advice to shorten a run by ``--small`` or one of ``ways``; empty if none of these settings is ``usable``."""
    words = [said for name, said in {"small": "--small (100 descriptors)", **ways}.items() if name in usable]
    if not words:
        return ""
    return f"To shorten it: {', or '.join(words)}; finished {answers} are kept, and a longer run continues from them"


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The number of answers of a run, how many are missing, and the range of the seconds that these take.

    ``what`` names them with what is done, such as "responses to write". ``shorter`` names the settings that would
    shorten the run.
    """

    what: str
    count: int
    missing: int
    seconds: tuple[float, float]
    shorter: tuple[str, ...] = ()

    def __str__(self) -> str:
        asked = f"{self.missing:,} of {self.count:,} {self.what}"
        if not self.missing:
            return f"{asked}: all are in the store"
        return f"{asked}: {time_range(self.seconds)}"

    def advice(self) -> str:
        """Ways to shorten the run; empty if it is short, or nothing shortens it."""
        fewer = max(1, int(self.missing * _LONG / max(self.seconds[1], 1e-9)))
        fewer -= fewer % 10 ** (len(str(fewer)) - 1)
        if self.seconds[1] <= _LONG:
            return ""
        return shortening({"limit": f"--limit {fewer} (at most {duration(_LONG)})"}, self.shorter, "answers")


def plan_trial(
    what: str,
    count: int,
    missing: Ints,
    ask: Callable[[Ints], object],
    clock: Callable[[], float] = time.perf_counter,
) -> TrialPlan:
    """Plan the answers to ``missing`` rows from the time that a few of them take, at equal distances.

    ``ask`` asks rows and keeps nothing. The first rows take longer than others: they only tell how many to ask, unless
    the model is slow.
    """
    number = _FIRST
    while True:
        rows = missing[evenly(len(missing), number)]
        start = clock()
        if len(rows):
            ask(rows)
        taken = clock() - start
        if taken > _SLOW or len(rows) == len(missing) or (number >= _BATCH and taken > _ENOUGH):
            break
        number = max(_BATCH, int(number * _ENOUGH / max(taken, 1e-6)) if number >= _BATCH else 0)
    seconds = taken * len(missing) / max(1, len(rows))
    return TrialPlan(what, count, len(missing), (seconds / (1 + _SPREAD), seconds * (1 + _SPREAD)))
