"""Calibrate ``holisticbias judge analyse`` on simulated studies without a preference, or with a known one.

Prints for each world the shares of studies in which the exact test and the test by prompt find p < 0.05, and in which
the exact interval and the interval by prompt cover the true share.
"""

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.statistics.attributes import binomial_test
from holisticbias_eval.statistics.clusters import clustered_interval, flip_p_value
from shared import make_parser, simulate_worlds


@dataclass(frozen=True)
class World:
    """The chance that model B answers a prompt better, and whether annotators agree on which model does."""

    prompts: int = 40
    annotators: int = 3
    share: float = 0.5
    agree: bool = True


WORLDS = {
    "annotators agree": World(),
    "annotators do not agree": World(agree=False),
    "one annotator": World(annotators=1),
    "annotators agree, share 0.9": World(share=0.9),
    "annotators agree, share 0.9, 10 prompts": World(share=0.9, prompts=10),
    "annotators do not agree, share 0.97": World(share=0.97, agree=False),
}


def main() -> None:
    """Print one line for each world."""
    parser = make_parser(__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies of each world")
    options = parser.parse_args()
    simulate_worlds(WORLDS, lambda world: _simulate(world, options.studies), options.studies, as_json=options.json)


def _simulate(world: World, studies: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    counts = np.full(world.prompts, world.annotators)
    found = []
    for _ in range(studies):
        if world.agree:
            wins = counts * rng.binomial(1, world.share, world.prompts)
        else:
            wins = rng.binomial(counts, world.share)
        p, exact = binomial_test(int(wins.sum()), int(counts.sum())) or (np.nan, None)
        by_prompt = (flip_p_value(2 * wins - counts) or np.nan) < 0.05
        intervals = (exact, clustered_interval(wins, counts))
        covered = [i is not None and i.low <= world.share <= i.high for i in intervals]
        found.append((p < 0.05, by_prompt, *covered))
    names = ("exact_below_05", "by_prompt_below_05", "exact_covers", "by_prompt_covers")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


if __name__ == "__main__":
    main()
