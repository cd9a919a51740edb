"""The finding of the stance contrast in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import NONCE
from holisticbias_eval.measures.stance.shown import NAME, Shown
from holisticbias_eval.sections import Paragraph

_EACH = 4
EXPLANATIONS = (
    Paragraph(
        "The contrast of a descriptor is how much less likely its sentences become when the stance turns from "
        "positive to negative, in nats, minus the mean of its axis; the noun phrase is the same in both and cancels. "
        "At 0.69 nats the odds of the positive sentence are twice those of the axis's mean. The shared contrast is "
        "the standard deviation over descriptors of the part that different pairs of templates agree on; negative "
        "if they contradict each other.",
        "note",
    ),
    Paragraph(
        "The floor is the value for shuffled descriptors. Pairs agree on an axis if p < 0.05 in that test, corrected "
        "for the number of axes (Holm), and if the value stays above 0 whichever pair is left out. The interval says "
        "how far the value would vary with other pairs of templates and other nouns; with few pairs it is wide, and "
        "can include 0 for an axis on which they agree.",
        "note",
    ),
)


def describe_finding(shown: Shown, axes: Sequence[Figure]) -> Iterator[Paragraph]:
    """State the axes on which pairs of templates agree, the results of all axes and made-up words, and the limits."""
    people = [a for a in axes if a.keys["axis"] != NONCE and a.value is not None]
    if not people:
        yield Paragraph(
            "The stance contrast of no axis can be measured: it needs two pairs of templates of opposite stance, and "
            "two descriptors and two nouns that have scores in all of them.",
            "finding",
        )
        return
    yield Paragraph(" ".join(_by_axis(shown, people)), "finding")
    yield from _together(shown, people)
    yield from _single_pairs(shown)
    yield from _baseline(shown)
    yield Paragraph(
        "A contrast compares the descriptors of one axis with each other, in these templates. It is not a model's "
        "opinion of people, and it does not say which differences harm.",
        "caveat",
    )


def _by_axis(shown: Shown, people: Sequence[Figure]) -> Iterator[str]:
    pairs = f"the {len(shown.pairs)} pairs of opposite templates"
    what = "on which descriptors the model prefers in positive sentences"
    if all(a.above_floor is None for a in people):
        yield f"This run has no floors, so it does not show whether {pairs} agree {what}."
        return
    agreed = [a for a in people if shown.agrees(a)]
    if agreed:
        where = f"On {len(agreed)} of {len(people)} axes" if people[1:] else f"On {shown.axis(people[0])}"
        named = [f"{shown.axis(a)} ({_nats(a)})" for a in agreed]
        listed = ", ".join(named) if len(named) <= _EACH else f"most on {named[0]}, least on {named[-1]}"
        yield f"{where} {pairs} agree {what}: {listed}."
    else:
        where = (
            f"On none of {len(people)} axes do" if people[1:] else f"It is not shown that on {shown.axis(people[0])}"
        )
        yield f"{where} {pairs} agree {what}, more than by chance."
    for a in people:
        without = shown.without_one_pair(a)
        if a.above_floor and not shown.agrees(a) and without:
            alone = f"{a.value:+z.2f} nats, {without[0]:+z.2f} without it"
            yield f"On {shown.axis(a)} the agreement depends on one pair: {alone}."


def _together(shown: Shown, people: Sequence[Figure]) -> Iterator[Paragraph]:
    every = shown.figures.get(NAME, "shared_contrast")
    if every is None or every.value is None or not people[1:]:
        return
    verdict = {True: ", agreement above chance", False: ", no agreement shown", None: ""}[shown.agrees(every)]
    yield Paragraph(f"Over all axes but made-up words together: {_nats(every)}{verdict}.")


def _single_pairs(shown: Shown) -> Iterator[Paragraph]:
    spreads = [f.value for f in shown.figures.by(NAME, "wording_spread", "axis", "pair") if f.value is not None]
    if spreads:
        yield Paragraph(
            f"One pair alone tells the descriptors of an axis apart by {min(spreads):.2f} to {max(spreads):.2f} nats "
            "(standard deviation). The part on which the pairs do not agree depends on the wording of the templates."
        )


def _baseline(shown: Shown) -> Iterator[Paragraph]:
    nonce = shown.figures.get(NAME, "shared_contrast", {"axis": NONCE})
    if nonce is None or nonce.value is None:
        return
    text = f"Baseline: made-up words ({shown.axis(nonce)}), which describe nobody: {_nats(nonce)}"
    if shown.agrees(nonce):
        text += ", agreement above chance. So pairs can agree for reasons that have nothing to do with people"
    elif nonce.above_floor is not None:
        text += ", no agreement shown"
    yield Paragraph(f"{text}.")


def _nats(figure: Figure) -> str:
    interval = f", 95% interval {figure.interval.low:+z.2f} to {figure.interval.high:+z.2f}" if figure.interval else ""
    return f"{figure.value or 0:+z.2f} nats{interval}"
