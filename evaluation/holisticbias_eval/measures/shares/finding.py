"""The shares of a measure in a view: their finding in words, with its caveats; the words for what they are of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import MeasureFigures
from holisticbias_eval.settings import listed
from holisticbias_eval.statistics.cells import Compared
from holisticbias_eval.units import EACH, interval_words, most_and, percent, show


@dataclass(frozen=True, slots=True)
class Words:
    """Terms for the share (``bias``, or ``short``), the compared ``value``, and the texts that have it (``of``).

    ``measure`` is the measure that has the shares.

    ``column`` is the compared column of the answers, ``unit`` its unit; ``how`` explains the value.
    """

    measure: str
    bias: str
    short: str
    column: Compared
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


NAMES = 5
MOST = 0.25
UNKNOWN = (
    "This run was made without permutation floors, so it does not show how many would differ by chance: no axis is "
    "ranked and no descriptor named."
)
NOTHING = "So no axis is ranked and no descriptor named."
LENGTH = "A share near that can come from the length, rarity or novelty of words alone."


WORDS = {words.measure: words for words in (PERPLEXITIES, PHRASES)}


class ShareFigures(MeasureFigures):
    """The shares of a measure in a view, and the figures beside them."""

    @property
    def words(self) -> Words:
        """The terms for the share."""
        return WORDS[self.measure]

    def labels(self, shares: Iterable[Figure]) -> str:
        """The labels of the axes of figures, as a list in a sentence."""
        return listed([self.axis(share) for share in shares])

    @cached_property
    def in_order(self) -> tuple[Figure, ...]:
        """The shares of the axes: those above their floor first, the largest first; then the others in their order."""
        return tuple(sorted(self.by("share", "axis"), key=lambda s: -(s.value or 0) if s.above_floor else 1))

    @cached_property
    def above(self) -> frozenset[str]:
        """The axes whose share is above its floor."""
        return frozenset(share.keys["axis"] for share in self.in_order if share.above_floor)

    @cached_property
    def cells_above(self) -> frozenset[tuple[str, str]]:
        """The axes and templates in which descriptors may be named: the axis is above its floor, and also there."""
        cells = (share for share in self.by("share", "axis", "template") if share.above_floor)
        return frozenset((c.keys["axis"], c.keys["template"]) for c in cells if c.keys["axis"] in self.above)

    @property
    def has_floors(self) -> bool:
        """Whether any share has a floor."""
        return any(share.floor is not None for share in self.in_order)

    @cached_property
    def tested(self) -> tuple[Figure, ...]:
        """The shares with a value, in order."""
        return tuple(share for share in self.in_order if share.value is not None)

    @property
    def people(self) -> tuple[Figure, ...]:
        """The shares with a value, without that of made-up words."""
        return tuple(share for share in self.tested if share.keys["axis"] != MADE_UP)

    @property
    def found(self) -> tuple[Figure, ...]:
        """The shares that the finding is about: without that of made-up words, the baseline, if there are others."""
        return self.people or self.tested

    def finding(self) -> tuple[str, ...]:
        """The finding in two sentences: which axes exceed their floor and by how much, and which do not."""
        axes = self.found
        if not axes:
            return ("There is no pair of descriptors to test in this run.",)
        if all(share.above_floor is None for share in axes):
            return f"{_span(share.value for share in axes)} of the pairs of descriptors of an axis differ.", UNKNOWN
        above = [share for share in axes if share.above_floor]
        return (
            (self._some_axes(above, axes), self._other_axes(above, axes)) if above else (self._no_axis(axes), NOTHING)
        )

    def _no_axis(self, axes: Sequence[Figure]) -> str:
        pairs = "pairs of descriptors"
        said = f"On none of the {len(axes)} axes do {pairs}" if axes[1:] else f"On {self.axis(axes[0])} {pairs} do not"
        return (
            f"{said} clearly differ more often than by chance: {_span(share.value for share in axes)} of pairs "
            f"differ, with {'floors' if axes[1:] else 'a floor'} of {_span(share.floor for share in axes)}."
        )

    def _some_axes(self, above: Sequence[Figure], axes: Sequence[Figure]) -> str:
        where = f"On {'all' if len(above) == len(axes) else f'{len(above)} of'} {len(axes)} axes"
        named = [f"{self.axis(share)}, {_in_words(share)}" for share in above]
        if not axes[1:]:
            where, named = f"On {self.axis(above[0])}", [_in_words(above[0])]
        shares = {percent(share.value) for share in above}
        alike = len(shares) == 1 and len(above) > EACH
        said = f"{shares.pop()} of pairs on each" if alike else most_and("fewest", named)
        return f"{where} pairs of descriptors clearly differ more often than by chance: {said}."

    def _other_axes(self, above: Sequence[Figure], axes: Sequence[Figure]) -> str:
        if others := [share for share in axes if not share.above_floor]:
            where = self.labels(others) if len(others) <= NAMES else f"the other {len(others)}"
            return f"On {where} they do not ({_span(share.value for share in others)} of pairs)."
        points = sorted(100 * (s.value - s.floor) for s in above if s.value is not None and s.floor is not None)
        by = " to ".join(dict.fromkeys(f"{end:.1f}" for end in (points[0], points[-1])))
        return f"The share exceeds its floor (the share expected by chance) by {by} percentage points."

    def baseline(self) -> Iterator[str]:
        """The share of the nonce axis, whose words mean nothing; nothing if it or any other axis was not tested."""
        for nonce in self.tested:
            if nonce.keys["axis"] == MADE_UP and self.people:
                yield (
                    f"Baseline: of made-up words ({self.axis(nonce)}), which describe nobody, "
                    f"{percent(nonce.value or 0)} of pairs differ{interval_words(nonce.interval)}.{self._beside(nonce)}"
                )

    def _beside(self, nonce: Figure) -> str:
        """How many axes above their floor differ from the baseline, if that is above its own."""
        above = [share for share in self.people if share.above_floor]
        if not nonce.above_floor or not above:
            return ""
        known = [d.interval for share in above if (d := self.get("minus_nonce", share.keys)) and d.interval]
        higher, lower = sum(d.low > 0 for d in known), sum(d.high < 0 for d in known)
        counts = {
            "clearly above that share": higher,
            "clearly below that share": lower,
            "not clearly different from it": len(above) - higher - lower,
        }
        parts = [f"{n} {'is' if n == 1 else 'are'} {what}" for what, n in counts.items() if n]
        return f" {LENGTH} Of the axes above their floor, {listed(parts)}."

    def caveats(self) -> Iterator[str]:
        """Reservations about the shares of some axes."""
        above = [s for s in self.in_order if s.above_floor and s.interval and s.floor is not None]
        if near := [s for s in above if s.interval and s.interval.low <= (s.floor or 0)]:
            yield (
                f"The 95% interval reaches down to the floor for {self.labels(near)}: with other nouns or templates "
                "the difference may not show."
            )
        if few := [
            s for s in self.tested if (found := self.get("smallest_significant", s.keys)) and found.value is None
        ]:
            yield (
                f"There are too few nouns for any pair to differ on {self.labels(few)}: {percent(0)} says nothing "
                "there."
            )

    def pooled(self) -> Iterator[str]:
        """The share over the tests of all axes, and the axis with at least a quarter of them; nothing for one axis."""
        if not self.found[1:]:
            return
        pairs = sum(share.n for share in self.found)
        differing = sum(self.value("differing_pairs", share.keys) or 0 for share in self.found)
        most = max(self.found, key=lambda share: share.n)
        which = "All axes" if self.found == self.tested else "All axes but made-up words"
        words = f"{which} pooled: {percent(differing / pairs)} of {pairs:,} tests of two descriptors in a template."
        if most.n >= MOST * pairs:
            words += f" {percent(most.n / pairs)} of these tests are of one axis, {self.axis(most)}."
        yield words

    def size(self) -> Iterator[str]:
        """How many differences are large, by the paper's test and by the paired one; nothing without effect sizes."""
        large, paired, paired_large = map(self._mean, ("large", "wilcoxon", "paired_large"))
        nats = [f for share in self.found if (f := self.get("nats", share.keys)) and f.value is not None]
        if large is None or not nats:
            return
        words = f"{percent(large)} of all tests find a difference that is large (rank-biserial 0.43 or more). "
        if paired is not None:
            words += f"The paired tests find one in {percent(paired)}, however small it is"
            words += f", and a large one in {percent(paired_large)}. " if paired_large is not None else ". "
        unit = nats[0].unit
        low, high = (show(end(figure.value or 0 for figure in nats), unit) for end in (min, max))
        span = f"is {low}" if low == high else f"lies between {low} and {high}"
        yield f"{words}The median difference of an axis {span} {unit}."

    def _mean(self, name: str) -> float | None:
        """The mean of the axes' known shares, weighted by pairs."""
        figures = (self.get(name, share.keys) for share in self.found)
        known = [(f.value, f.n) for f in figures if f and f.value is not None]
        total = sum(pairs for _, pairs in known)
        return sum(share * pairs for share, pairs in known) / total if total else None


def _in_words(share: Figure) -> str:
    interval = interval_words(share.interval, form="{}, ")
    return f"{percent(share.value or 0)} of pairs ({interval}floor {percent(share.floor or 0)})"


def _span(shares: Iterable[float | None]) -> str:
    """The range of the known shares."""
    known = [share for share in shares if share is not None]
    low, high = percent(min(known)), percent(max(known))
    return low if low == high else f"{low} to {high}"
