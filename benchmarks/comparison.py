"""Calibrate ``holisticbias compare`` on simulated pairs of models whose true shares are known.

Prints for each world how many pairs have p < 0.05 and p < 0.01, how far the p-values are from uniform
(Kolmogorov-Smirnov distance), how often the interval covers the expected change, and the mean standard error of the
change (half the interval by the quantile of the normal distribution) over its true standard deviation.
"""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from scipy.special import ndtri
from scipy.stats import kstest

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.cells import Crossing, cross
from holisticbias_eval.statistics.clusters import estimate, moved_by_axis, moved_cells
from shared import make_parser, simulate_worlds


@dataclass(frozen=True)
class World:
    """Parameters of the log-perplexities of two models; all but the last four are the same for both.

    ``effect`` is the spread of descriptors' effects. Each model may prefer some
    words in a template (``own_template``) or with a noun in all templates
    (``own_noun``). The second model has its effects times ``gain``, and in
    reverse order if ``reverse``.
    """

    templates: int = 8
    nouns: int = 16
    descriptors: int = 8
    effect: float = 0.6
    noise: float = 0.8
    own_template: float = 0.0
    own_noun: float = 0.0
    gain: float = 1.0
    reverse: bool = False

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the perplexities of both models, each of shape ``[templates, descriptors, nouns]``."""
        effects = self.effect * ndtri((np.arange(self.descriptors) + 0.5) / self.descriptors)
        scale = np.exp(rng.normal(0, 0.5, (self.templates, 1, 1)))
        noun = rng.normal(0, 0.5, (self.templates, 1, self.nouns))
        others = self.gain * (effects[::-1] if self.reverse else effects)
        one, other = (self._model(scale * own[:, None] + noun, rng) for own in (effects, others))
        return one, other

    def _model(self, known: Floats, rng: np.random.Generator) -> Floats:
        template = rng.normal(0, self.own_template, (self.templates, self.descriptors, 1))
        noun = rng.normal(0, self.own_noun, (1, self.descriptors, self.nouns))
        found: Floats = np.exp(3 + known + template + noun + rng.normal(0, self.noise, known.shape))
        return found


FULL = World(templates=26, nouns=30, descriptors=12)
WORLDS = {
    "equal, 8 templates": World(),
    "equal, 26 templates": FULL,
    "equal, nothing differs": replace(FULL, effect=0.0),
    "equal, 3 templates": World(templates=3),
    "equal shares of other terms": World(reverse=True),
    "own words for templates": World(own_template=0.4),
    "own words for nouns, 8 templates": World(own_noun=0.5, noise=0.6),
    "own words for nouns, 26 templates": replace(FULL, own_noun=0.5, noise=0.6),
    "unequal, 8 templates": World(gain=1.5),
    "unequal, 26 templates": replace(FULL, gain=1.2),
}


@dataclass(frozen=True)
class Compared:
    """Changes of share between the models of each pair, with intervals and p-values; all of shape ``[pairs]``."""

    change: Floats
    low: Floats
    high: Floats
    p: Floats


def compare_pairs(world: World, pairs: int, seed: int) -> Compared:
    """Draw pairs of models and compare the two models of each pair."""
    rng = np.random.default_rng(seed)
    drawn = [world.draw(rng) for _ in range(pairs)]
    first, second = (_crossing([pair[i] for pair in drawn]) for i in (0, 1))
    moved = moved_by_axis(first, moved_cells(first, second))
    found = [(moved[str(i)], estimate(moved[str(i)])) for i in range(pairs)]
    rows = [(m.significant.sum() / m.tested.sum(), e[0].low, e[0].high, e[1]) for m, e in found if e]
    return Compared(*np.array(rows).T)


def _crossing(models: list[Floats]) -> Crossing:
    """All models as axes of one crossing."""
    values = np.stack(models)
    columns = dict(zip(("axis", "template", "descriptor_id", "noun_id"), np.indices(values.shape), strict=True))
    table = {name: _names(codes.ravel(), values.shape[i]) for i, (name, codes) in enumerate(columns.items())}
    return cross(pa.table({**table, "perplexity": values.ravel()}))


def _names(codes: Ints, size: int) -> pa.DictionaryArray:
    """Whole numbers as names."""
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), [str(i) for i in range(size)])


def summarise(found: Compared) -> dict[str, float]:
    """The figures of one world; the expected change is the mean over its pairs."""
    expected, spread = found.change.mean(), found.change.std()
    return {
        "change": expected,
        "below_05": (found.p < 0.05).mean(),
        "below_01": (found.p < 0.01).mean(),
        "from_uniform": kstest(found.p, "uniform").statistic,
        "covers": ((found.low <= expected) & (expected <= found.high)).mean(),
        "error_over_spread": np.mean(found.high - found.low) / 2 / ndtri(0.975) / spread,
    }


def main() -> None:
    """Print the figures of all worlds."""
    parser = make_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of models in each world")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    simulate_worlds(
        WORLDS,
        lambda world: summarise(compare_pairs(world, options.pairs, options.seed)),
        options.pairs,
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
