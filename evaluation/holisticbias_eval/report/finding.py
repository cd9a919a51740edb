"""The finding of a run in words, and the caveats that belong beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holisticbias_eval.measures.trust.trust import NONCE
from holisticbias_eval.report.axes import AxisShare
from holisticbias_eval.report.numbers import show
from holisticbias_eval.report.summary import Summary
from holisticbias_eval.report.tables import ends

EACH = 4
NAMES = 5
MOST = 0.25
UNKNOWN = (
    "This run was made without permutation floors, so it does not show how many would differ by chance: no axis is "
    "ranked and no term named."
)
NOTHING = "So no axis is ranked and no term named."
LENGTH = "A share near that can come from the length, rarity or novelty of words alone."


def finding(summary: Summary) -> tuple[str, ...]:
    """The finding in two sentences: which axes exceed their floor and by how much, and which do not.

    The nonce axis is the baseline, and left out unless it is the only one.
    """
    axes = _people(summary) or [a for a in summary.axes if a.share is not None]
    if not axes:
        return ("There is no pair of descriptors to test in this run.",)
    if all(a.above is None for a in axes):
        return f"{_span(a.share for a in axes)} of the pairs of descriptors of an axis differ.", UNKNOWN
    above = [a for a in axes if a.above]
    if not above:
        return _no_axis(summary, axes), NOTHING
    return _some_axes(summary, above, axes), _other_axes(summary, above, axes)


def _people(summary: Summary) -> list[AxisShare]:
    """The axes that were tested, without the baseline."""
    return [a for a in summary.axes if a.axis != NONCE and a.share is not None]


def _no_axis(summary: Summary, axes: Sequence[AxisShare]) -> str:
    where = (
        f"On none of the {len(axes)} axes do clearly" if axes[1:] else f"On {summary.label(axes[0].axis)} not clearly"
    )
    return (
        f"{where} more pairs of descriptors differ than by chance: {_span(a.share for a in axes)} of pairs differ, "
        f"with {'floors' if axes[1:] else 'a floor'} of {_span(a.floor for a in axes)}."
    )


def _some_axes(summary: Summary, above: Sequence[AxisShare], axes: Sequence[AxisShare]) -> str:
    if not axes[1:]:
        where, named = f"On {summary.label(above[0].axis)}", [_figures(above[0])]
    else:
        where = f"On {'all' if len(above) == len(axes) else f'{len(above)} of'} {len(axes)} axes"
        named = [f"{summary.label(a.axis)}, {_figures(a)}" for a in above]
    which = listed(named) if len(above) <= EACH else f"most on {named[0]}, fewest on {named[-1]}"
    return f"{where} clearly more pairs of descriptors differ than by chance: {which}."


def _figures(found: AxisShare) -> str:
    interval = f"95% interval {show(ends(found.interval), 'interval')}, " if found.interval else ""
    return f"{show(found.share, 'share')} of pairs ({interval}floor {show(found.floor, 'share')})"


def _other_axes(summary: Summary, above: Sequence[AxisShare], axes: Sequence[AxisShare]) -> str:
    others = [a for a in axes if not a.above]
    if others:
        where = listed([summary.label(a.axis) for a in others]) if len(others) <= NAMES else f"the other {len(others)}"
        return f"On {where} they do not ({_span(a.share for a in others)} of pairs)."
    points = sorted(100 * (a.share - a.floor) for a in above if a.share is not None and a.floor is not None)
    by = f"{points[0]:.1f}" if len(points) == 1 else f"{points[0]:.1f} to {points[-1]:.1f}"
    return f"The share exceeds its floor, which is what chance gives, by {by} percentage points."


def _span(shares: Iterable[float | None]) -> str:
    """From the smallest to the largest share that is known."""
    known = sorted({show(s, "share"): s for s in shares if s is not None}.items(), key=lambda found: found[1])
    low, high = known[0][0], known[-1][0]
    return low if low == high else f"{low} to {high}"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def baseline(summary: Summary) -> str | None:
    """The share of the nonce axis, whose words mean nothing; ``None`` if it or any other axis was not tested."""
    nonce = next((a for a in summary.axes if a.axis == NONCE and a.share is not None), None)
    if nonce is None or not _people(summary):
        return None
    interval = f" (95% interval {show(ends(nonce.interval), 'interval')})" if nonce.interval else ""
    words = (
        f"Baseline: of made-up words ({summary.label(NONCE)}), which describe nobody, {show(nonce.share, 'share')} of "
        f"pairs differ{interval}."
    )
    axes = [a for a in _people(summary) if a.above]
    return f"{words} {LENGTH}{_beside_baseline(axes)}" if nonce.above and axes else words


def _beside_baseline(axes: Sequence[AxisShare]) -> str:
    known = [a.trust.confounds.minus_nonce_interval for a in axes if a.trust]
    higher, lower = sum(d is not None and d.low > 0 for d in known), sum(d is not None and d.high < 0 for d in known)
    counts = {
        "clearly above that share": higher,
        "clearly below that share": lower,
        "not clearly different from it": len(axes) - higher - lower,
    }
    parts = [f"{n} {'is' if n == 1 else 'are'} {what}" for what, n in counts.items() if n]
    return f" Of the axes above their floor, {listed(parts)}."


def caveats(summary: Summary) -> Iterator[str]:
    """What must be read beside the shares of the axes."""
    near = [a for a in summary.axes if a.above and a.interval and a.floor is not None and a.interval.low <= a.floor]
    if near:
        yield (
            f"The 95% interval reaches down to the floor for {listed([summary.label(a.axis) for a in near])}: with "
            "other nouns or templates the difference may not show."
        )
    few = [a for a in summary.axes if a.trust and a.share is not None and a.trust.effects.smallest_significant is None]
    if few:
        yield (
            f"There are too few nouns for any pair to differ on {listed([summary.label(a.axis) for a in few])}: "
            f"{show(0.0, 'share')} says nothing there."
        )


def pooled(summary: Summary) -> str | None:
    """The share over the tests of all axes, and which axis has a quarter of them or more."""
    counts = [a.counts for a in summary.axes]
    pairs, significant = sum(c.pairs for c in counts), sum(c.significant for c in counts)
    if not pairs:
        return None
    most = max(counts, key=lambda c: c.pairs)
    words = (
        f"All axes pooled: {show(significant / pairs, 'share')} of {pairs:,} tests of two descriptors in a template."
    )
    if len(counts) == 1 or most.pairs < MOST * pairs:
        return words
    return f"{words} {show(most.pairs / pairs, 'share')} of these tests are of one axis, {summary.label(most.axis)}."
