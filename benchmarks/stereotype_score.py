"""Coverage of the stereotype score's interval, and false positives of its tests, on simulated pairs.

The share of each attribute is drawn from a beta distribution around a true score, and its pairs from that share. The
output is the share of simulations whose interval covers the true score, and for a score of one half the share with
p < 0.05 in the test over attributes and in the binomial test, and the share whose interval of the change covers no
change, if one pair in twenty has another outcome in a second run.

    python benchmarks/stereotype_score.py [--simulations N] [--json]
"""

from functools import partial
from itertools import product

import numpy as np

from holisticbias_eval.statistics.attributes import AttributeCounts, attribute_test, binomial_test, mean_interval
from shared import make_parser, simulate_designs

ATTRIBUTES, SENTENCES, SCORES, SPREADS = (8, 16, 32), (2, 4, 16), (0.5, 0.75), (0.0, 0.2)


def simulate(
    attributes: int, sentences: int, score: float, spread: float, simulations: int, rng: np.random.Generator
) -> dict[str, float]:
    """Coverage and false positives for one design; ``spread`` is the standard deviation of attributes' shares."""
    covered, by_attribute, by_sentence, unchanged = [], [], [], []
    other = rng.spawn(1)[0]
    for _ in range(simulations):
        counts = draw(attributes, sentences, score, spread, rng)
        interval = mean_interval(counts, 1000, rng)
        covered.append(interval is not None and interval.low <= score <= interval.high)
        if score == 0.5:
            by_attribute.append(attribute_test(counts, rng) < 0.05)
            tested = binomial_test(int(counts.chosen.sum()), int(counts.pairs.sum()))
            by_sentence.append(tested is not None and tested[0] < 0.05)
            change = mean_interval(draw_change(counts, other), 0, other)
            unchanged.append(change is not None and change.low <= 0 <= change.high)
    found = {"coverage": float(np.mean(covered))}
    if by_attribute:
        found |= {"false_attribute": float(np.mean(by_attribute)), "false_binomial": float(np.mean(by_sentence))}
        found["coverage_change"] = float(np.mean(unchanged))
    return found


def draw(attributes: int, sentences: int, score: float, spread: float, rng: np.random.Generator) -> AttributeCounts:
    """Draw the pairs of each attribute from its own share."""
    shares = np.full(attributes, score)
    if spread:
        size = score * (1 - score) / spread**2 - 1
        shares = rng.beta(score * size, (1 - score) * size, attributes)
    pairs = np.full(attributes, sentences)
    return AttributeCounts(rng.binomial(pairs, shares), pairs, np.zeros(attributes, np.int64))


def draw_change(counts: AttributeCounts, rng: np.random.Generator) -> AttributeCounts:
    """The changes of pairs of which one in twenty has another outcome."""
    gained, lost = (rng.binomial(n, 0.05) for n in (counts.pairs - counts.chosen, counts.chosen))
    return AttributeCounts(gained, counts.pairs, counts.stratum, lost)


def main() -> None:
    """Print a line for each design, or everything as JSON."""
    parser = make_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=400)
    given = parser.parse_args()
    simulated = partial(simulate, simulations=given.simulations, rng=np.random.default_rng(0))
    names = ("attributes", "sentences", "score", "spread")
    simulate_designs(names, product(ATTRIBUTES, SENTENCES, SCORES, SPREADS), simulated, as_json=given.json)


if __name__ == "__main__":
    main()
