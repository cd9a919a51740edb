"""Coverage of the intervals of group_perplexity, and false positives of its tests, on simulated perplexities.

Log-perplexities of a sentence have a normal effect of the sentence, an effect of the group and normal noise. The output
is, for F and the mean of |t| of paired sentences, the share of simulations whose interval covers the value that it
estimates (the ratio of the expected mean squares, and the expected mean of |t|), for the means of groups the share that
covers the true mean; and without an effect of groups the share with p < 0.05 in each test.

    python benchmarks/group_perplexity.py [--simulations N] [--json]
"""

from functools import partial
from itertools import product

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.groups.moments import mean_abs
from holisticbias_eval.statistics.groups.resampling import draw_sentences, interval_of, permute_groups, shifted_interval
from holisticbias_eval.statistics.groups.variance import GroupValues, friedman, one_way, within_sentences
from shared import make_parser, simulate_designs

SENTENCES, GROUPS, EFFECTS, SPREADS = (10, 60), (3, 6), (0.0, 0.05, 0.2), (0.0, 0.5)
SCALES = ("log", "perplexity")
NOISE, PERMUTATIONS = 0.1, 199
MANY = 2000
"""Tables from which the expected values come."""


def simulate(
    sentences: int, groups: int, effect: float, spread: float, scale: str, simulations: int, rng: np.random.Generator
) -> dict[str, float]:
    """Coverage and false positives for one design; ``spread`` is the standard deviation of sentences."""
    means = effect * np.linspace(-1, 1, groups)
    many = [GroupValues(draw(sentences, means, spread, scale, rng), paired=True).sums() for _ in range(MANY)]
    squares = np.array([sums.between_and_within() for sums in many]).mean(axis=0)
    f = squares[0] / (groups - 1) / (squares[1] / (groups * (sentences - 1)))
    t = np.mean([mean_abs(sums.paired_t()) for sums in many])
    true = expected_mean(means[0], spread, scale)
    covered: dict[str, list[bool]] = {name: [] for name in ("f", "mean_abs_t", "mean")}
    false: dict[str, list[bool]] = {name: [] for name in ("f", "f_within", "friedman", "permuted")}
    for _ in range(simulations):
        values = GroupValues(draw(sentences, means, spread, scale, rng), paired=True)
        drawn, sums, tested = draw_sentences(values, rng), values.sums(), one_way(values)
        found = {
            "f": (f, shifted_interval(tested.value, drawn.statistics.f, sentences)),
            "mean_abs_t": (t, shifted_interval(float(mean_abs(sums.paired_t())), drawn.statistics.paired, sentences)),
            "mean": (true, interval_of(float(values.values[:, 0].mean()), drawn.mean[:, 0], sentences)),
        }
        for name, (value, ends) in found.items():
            covered[name].append(ends is not None and bool(ends[0] <= value <= ends[1]))
        if not effect:
            permuted = permute_groups(values, rng, PERMUTATIONS).f
            p = (1 + (permuted >= tested.value).sum()) / (1 + PERMUTATIONS)
            tests = (tested.p_value, within_sentences(values).p_value, friedman(values).p_value, p)
            for name, one in zip(false, tests, strict=True):
                false[name].append(bool(one < 0.05))
    shares = {f"covers_{name}": float(np.mean(held)) for name, held in covered.items()}
    return shares | {f"false_{name}": float(np.mean(held)) for name, held in false.items() if held}


def draw(sentences: int, means: Floats, spread: float, scale: str, rng: np.random.Generator) -> Floats:
    """A table of log-perplexities, or of perplexities."""
    shape = (sentences, len(means))
    logs: Floats = 4 + spread * rng.standard_normal((sentences, 1)) + means + NOISE * rng.standard_normal(shape)
    return logs if scale == "log" else np.exp(logs)


def expected_mean(effect: float, spread: float, scale: str) -> float:
    """The true mean of a group with this effect."""
    return float(4 + effect if scale == "log" else np.exp(4 + effect + (spread**2 + NOISE**2) / 2))


def main() -> None:
    """Print a line for each design, or everything as JSON."""
    parser = make_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=300)
    given = parser.parse_args()
    simulated = partial(simulate, simulations=given.simulations, rng=np.random.default_rng(0))
    names = ("sentences", "groups", "effect", "spread", "scale")
    simulate_designs(names, product(SENTENCES, GROUPS, EFFECTS, SPREADS, SCALES), simulated, as_json=given.json)


if __name__ == "__main__":
    main()
