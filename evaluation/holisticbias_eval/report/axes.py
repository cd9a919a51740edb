"""The axes of a run in the order in which every form of the report shows them."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.figures import Interval
from holisticbias_eval.measures.trust.floors import exceeds_floor
from holisticbias_eval.measures.trust.records import ShareTrust
from holisticbias_eval.results.run import Result, Share


@dataclass(frozen=True, slots=True)
class AxisShare:
    """An axis's share with its interval and floor, which runs made without figures of trust lack.

    ``above`` says whether the share exceeds its floor; ``None`` if it has no share or no floor.
    """

    axis: str
    counts: Share
    trust: ShareTrust | None

    @property
    def share(self) -> float | None:
        """Likelihood Bias."""
        return self.counts.share

    @property
    def interval(self) -> Interval | None:
        """The share's 95 % interval."""
        return self.trust.interval if self.trust else None

    @property
    def floor(self) -> float | None:
        """The share when descriptors' labels are permuted."""
        return self.trust.floor if self.trust else None

    @property
    def above(self) -> bool | None:
        """Whether the share exceeds its floor."""
        return exceeds_floor(self.trust) if self.trust else None


def axes_in_order(result: Result) -> tuple[AxisShare, ...]:
    """The axes above their floor, largest share first; then all others in the order of the result."""
    trusted = {t.axis: t for t in result.trust.by_axis} if result.trust else {}
    found = [AxisShare(s.axis or "", s, trusted.get(s.axis)) for s in result.likelihood_bias.by_axis]
    return tuple(sorted(found, key=lambda a: -(a.share or 0) if a.above else 1))


def cells_above_floor(result: Result) -> frozenset[tuple[str, str]]:
    """The axes and templates in which terms may be named: the axis exceeds its floor, and does so in that template."""
    if result.trust is None:
        return frozenset()
    axes = {a.axis for a in axes_in_order(result) if a.above}
    return frozenset(
        (t.axis or "", t.template or "")
        for t in result.trust.by_axis_and_template
        if t.axis in axes and exceeds_floor(t)
    )
