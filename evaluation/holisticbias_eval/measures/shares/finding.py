"""The finding of a share measure in words, with its caveats; the words for what it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import NONCE, View
from holisticbias_eval.measures.text import listed, percent, percents
from holisticbias_eval.statistics.cells import Compared


@dataclass(frozen=True, slots=True)
class Words:
    """Terms for the share (``bias``, or ``short``), the compared ``value``, and the texts that have it (``of``).

    ``measure`` is the measure that has the shares.

    ``column`` is the compared column of the answers, ``median`` the figure of its
    median, ``unit`` its unit; ``how`` explains the value.
    """

    measure: str
    bias: str
    short: str
    column: Compared
    median: str
    value: str
    values: str
    unit: str
    of: str
    how: str

    @property
    def log(self) -> bool:
        """Whether charts of the value have a logarithmic scale."""
        return self.column == "perplexity"


PERPLEXITIES = Words(
    measure="likelihood_bias",
    bias="Likelihood Bias",
    short="Likelihood Bias",
    column="perplexity",
    median="median_perplexity",
    value="perplexity",
    values="perplexities",
    unit="perplexity",
    of="sentence",
    how="Perplexity is the exponential of a sentence's mean negative log-likelihood per token.",
)
PHRASES = Words(
    measure="pseudo_likelihood_bias",
    bias="Pseudo-log-likelihood bias",
    short="PLL bias",
    column="nll",
    median="median_nll",
    value="negative pseudo-log-likelihood",
    values="negative pseudo-log-likelihoods",
    unit="nats per phrase",
    of="phrase",
    how=(
        "The pseudo-log-likelihood of a phrase of descriptor and noun is the sum of the log-probabilities of its "
        "tokens, each masked in turn, given the rest of the sentence. It is shown negated, in nats: less is likelier. "
        "It is of the whole phrase, not per token, so longer phrases tend to have more."
    ),
)


def shares_in_order(figures: Figures, measure: str) -> tuple[Figure, ...]:
    """The shares of the axes: those above their floor first, the largest first; then the others in their order."""
    shares = figures.by(measure, "share", "axis")
    return tuple(sorted(shares, key=lambda share: -(share.value or 0) if share.above_floor else 1))


def axes_above_floor(figures: Figures, measure: str) -> tuple[str, ...]:
    """The axes whose share is above its floor, in their order."""
    return tuple(share.keys["axis"] for share in figures.by(measure, "share", "axis") if share.above_floor)


def cells_above_floor(figures: Figures, measure: str) -> frozenset[tuple[str, str]]:
    """The axes and templates in which terms may be named: the axis is above its floor, and also in that template."""
    axes = axes_above_floor(figures, measure)
    cells = figures.by(measure, "share", "axis", "template")
    return frozenset(
        (share.keys["axis"], share.keys["template"])
        for share in cells
        if share.keys["axis"] in axes and share.above_floor
    )


def has_floors(figures: Figures, measure: str) -> bool:
    """Whether any share has a floor."""
    return any(share.floor is not None for share in figures.by(measure, "share", "axis"))


EACH = 4
NAMES = 5
MOST = 0.25
UNKNOWN = (
    "This run was made without permutation floors, so it does not show how many would differ by chance: no axis is "
    "ranked and no term named."
)
NOTHING = "So no axis is ranked and no term named."
LENGTH = "A share near that can come from the length, rarity or novelty of words alone."


def label(view: View, share: Figure) -> str:
    """The label of a figure's axis."""
    return view.label("axis", share.keys["axis"])


def finding(view: View, measure: str) -> tuple[str, ...]:
    """The finding in two sentences: which axes exceed their floor and by how much, and which do not.

    The nonce axis is the baseline, and left out unless it is the only one.
    """
    tested = [share for share in shares_in_order(view.figures, measure) if share.value is not None]
    axes = _people(tested) or tested
    if not axes:
        return ("There is no pair of descriptors to test in this run.",)
    if all(share.above_floor is None for share in axes):
        return f"{_span(share.value for share in axes)} of the pairs of descriptors of an axis differ.", UNKNOWN
    above = [share for share in axes if share.above_floor]
    if not above:
        return _no_axis(view, axes), NOTHING
    return _some_axes(view, above, axes), _other_axes(view, above, axes)


def _people(shares: Iterable[Figure]) -> list[Figure]:
    return [share for share in shares if share.keys["axis"] != NONCE]


def _no_axis(view: View, axes: Sequence[Figure]) -> str:
    pairs = "pairs of descriptors"
    said = f"On none of the {len(axes)} axes do {pairs}" if axes[1:] else f"On {label(view, axes[0])} {pairs} do not"
    return (
        f"{said} clearly differ more often than by chance: {_span(share.value for share in axes)} of pairs "
        f"differ, with {'floors' if axes[1:] else 'a floor'} of {_span(share.floor for share in axes)}."
    )


def _some_axes(view: View, above: Sequence[Figure], axes: Sequence[Figure]) -> str:
    if not axes[1:]:
        where, named = f"On {label(view, above[0])}", [_in_words(above[0])]
    else:
        where = f"On {'all' if len(above) == len(axes) else f'{len(above)} of'} {len(axes)} axes"
        named = [f"{label(view, share)}, {_in_words(share)}" for share in above]
    which = listed(named) if len(above) <= EACH else f"most on {named[0]}, fewest on {named[-1]}"
    return f"{where} pairs of descriptors clearly differ more often than by chance: {which}."


def _in_words(share: Figure) -> str:
    interval = f"95% interval {percents(share.interval)}, " if share.interval else ""
    return f"{percent(share.value or 0)} of pairs ({interval}floor {percent(share.floor or 0)})"


def _other_axes(view: View, above: Sequence[Figure], axes: Sequence[Figure]) -> str:
    others = [share for share in axes if not share.above_floor]
    if others:
        where = listed([label(view, share) for share in others]) if len(others) <= NAMES else f"the other {len(others)}"
        return f"On {where} they do not ({_span(share.value for share in others)} of pairs)."
    points = sorted(100 * (s.value - s.floor) for s in above if s.value is not None and s.floor is not None)
    by = f"{points[0]:.1f}" if len(points) == 1 else f"{points[0]:.1f} to {points[-1]:.1f}"
    return f"The share exceeds its floor (the share expected by chance) by {by} percentage points."


def _span(shares: Iterable[float | None]) -> str:
    """The range of the known shares."""
    known = [share for share in shares if share is not None]
    low, high = percent(min(known)), percent(max(known))
    return low if low == high else f"{low} to {high}"


def baseline(view: View, measure: str) -> str | None:
    """The share of the nonce axis, whose words mean nothing; ``None`` if it or any other axis was not tested."""
    tested = [share for share in shares_in_order(view.figures, measure) if share.value is not None]
    nonce = next((share for share in tested if share.keys["axis"] == NONCE), None)
    people = _people(tested)
    if nonce is None or not people:
        return None
    interval = f" (95% interval {percents(nonce.interval)})" if nonce.interval else ""
    words = (
        f"Baseline: of made-up words ({label(view, nonce)}), which describe nobody, {percent(nonce.value or 0)} of "
        f"pairs differ{interval}."
    )
    above = [share for share in people if share.above_floor]
    return f"{words} {LENGTH}{_beside_baseline(view, measure, above)}" if nonce.above_floor and above else words


def _beside_baseline(view: View, measure: str, axes: Sequence[Figure]) -> str:
    differences = (view.figures.get(measure, "minus_nonce", share.keys) for share in axes)
    known = [d.interval for d in differences if d and d.interval]
    higher, lower = sum(d.low > 0 for d in known), sum(d.high < 0 for d in known)
    counts = {
        "clearly above that share": higher,
        "clearly below that share": lower,
        "not clearly different from it": len(axes) - higher - lower,
    }
    parts = [f"{n} {'is' if n == 1 else 'are'} {what}" for what, n in counts.items() if n]
    return f" Of the axes above their floor, {listed(parts)}."


def caveats(view: View, measure: str) -> Iterator[str]:
    """Reservations about the shares of some axes."""
    shares = shares_in_order(view.figures, measure)
    near = [s for s in shares if s.above_floor and s.interval and s.floor is not None and s.interval.low <= s.floor]
    if near:
        yield (
            f"The 95% interval reaches down to the floor for {listed([label(view, share) for share in near])}: with "
            "other nouns or templates the difference may not show."
        )
    few = [share for share in shares if share.value is not None and _too_few(view, measure, share)]
    if few:
        yield (
            f"There are too few nouns for any pair to differ on {listed([label(view, share) for share in few])}: "
            f"{percent(0)} says nothing there."
        )


def _too_few(view: View, measure: str, share: Figure) -> bool:
    smallest = view.figures.get(measure, "smallest_significant", share.keys)
    return smallest is not None and smallest.value is None


def pooled(view: View, measure: str) -> str | None:
    """The share over the tests of all axes, and the axis with at least a quarter of them."""
    shares = shares_in_order(view.figures, measure)
    pairs = sum(share.n for share in shares)
    if not pairs or len(shares) == 1:
        return None
    significant = sum(view.figures.value(measure, "differing_pairs", share.keys) or 0 for share in shares)
    most = max(shares, key=lambda share: share.n)
    words = f"All axes pooled: {percent(significant / pairs)} of {pairs:,} tests of two descriptors in a template."
    if most.n < MOST * pairs:
        return words
    return f"{words} {percent(most.n / pairs)} of these tests are of one axis, {label(view, most)}."


def size(view: View, measure: str) -> str | None:
    """How many differences are large, by the paper's test and by the paired one; ``None`` without effect sizes."""
    large, paired, paired_large = (_mean(view, measure, name) for name in ("large", "wilcoxon", "paired_large"))
    nats = [figure for figure in view.figures.by(measure, "nats", "axis") if figure.value is not None]
    if large is None or not nats:
        return None
    words = f"{percent(large)} of all tests find a difference that is large (rank-biserial 0.43 or more). "
    if paired is not None:
        words += f"The paired tests find one in {percent(paired)}, however small it is"
        words += f", and a large one in {percent(paired_large)}. " if paired_large is not None else ". "
    low, high = (_effect(end(figure.value or 0 for figure in nats)) for end in (min, max))
    return f"{words}The median difference of an axis lies between {low} and {high} {nats[0].unit}."


def _effect(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _mean(view: View, measure: str, name: str) -> float | None:
    """The mean of the axes' known shares, weighted by pairs."""
    known = [(f.value, f.n) for f in view.figures.by(measure, name, "axis") if f.value is not None]
    total = sum(pairs for _, pairs in known)
    return sum(share * pairs for share, pairs in known) / total if total else None
