"""Calibrate the stance contrast on simulated scores with a known stance.

Prints for each world:

- ``estimate``: the mean estimate of the shared variance over its true value, or in nats squared if that is 0;
- ``axis_covers``: the share of axes whose interval covers the true value;
- ``axes_agree``, ``any_agrees``: the shares of axes, and of runs with any axis, whose pairs agree in the report;
- ``p_below_05``, ``covers``: the shares of descriptors with p < 0.05, and with an interval that covers the true value;
- ``any_false``: the share of runs in which any descriptor without a stance differs after correction;
- ``found``: the share of descriptors with a stance that differ after correction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from sys import path

import numpy as np

from shared import ROOT, add_runs, covers, make_parser, simulate_worlds

path.insert(0, str(ROOT))  # the simulated worlds are in tests

from tests.evaluation.simulated_stances import StanceWorld

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance.sections import NAME, StanceFigures
from holisticbias_eval.measures.stance_contrast import StanceContrast

LARGE = StanceWorld(axes=4, descriptors=50)
WORLDS = {
    "no stance": StanceWorld(),
    "no stance, 50 descriptors": LARGE,
    "no stance, 6 pairs": replace(LARGE, pairs=6),
    "no stance, heavy-tailed wording": StanceWorld(wording_freedom=3),
    "no stance, heavy tails, 50 descriptors": replace(LARGE, wording_freedom=3),
    "no stance, strong noun noise": replace(LARGE, noun=1.0),
    "no stance, nothing but noun noise": replace(LARGE, wording=0.0, noun=1.0, noise=1.0),
    "no stance, pairs respond to one property": replace(LARGE, factor=0.4),
    **{f"no stance, {n} descriptors": StanceWorld(descriptors=n) for n in (2, 3, 4)},
    "no stance, 2 descriptors, 6 pairs": StanceWorld(descriptors=2, pairs=6),
    **{f"no stance, {n} nouns, strong noun noise": StanceWorld(nouns=n, noun=1.0) for n in (2, 3, 4)},
    "stance 0.3, 50 descriptors": replace(LARGE, stance=0.3),
    "stance 0.6": StanceWorld(stance=0.6),
    "stance 0.6, 50 descriptors": replace(LARGE, stance=0.6),
    "stance 0.6, little wording": replace(LARGE, stance=0.6, wording=0.1),
    "stance 0.6, heavy tails, noun noise": replace(LARGE, stance=0.6, wording_freedom=3, noun=1.0),
    "stance 0.6, 2 pairs": replace(LARGE, stance=0.6, pairs=2),
    "stance 0.6, 6 pairs": replace(LARGE, stance=0.6, pairs=6),
}


@dataclass(frozen=True)
class Trial:
    """Results of one run for its axes and descriptors; intervals may be missing."""

    variance: Floats
    agrees: Floats
    axis_covers: Floats
    contrast: Floats
    stance: Floats
    covers: Floats
    p: Floats
    adjusted: Floats


def measure(world: StanceWorld, rng: np.random.Generator) -> Trial:
    """Draw scores and measure them."""
    answers, stance = world.draw(rng)
    figures = Figures(StanceContrast().figures(answers, MeasureSettings(seed=int(rng.integers(2**31)))).figures)
    shown = StanceFigures(View(figures, answers), NAME)
    axes = figures.by(NAME, "shared_contrast", "axis")
    contrasts = figures.by(NAME, "contrast", "axis", "descriptor")
    adjusted = figures.by(NAME, "contrast_adjusted_p", "axis", "descriptor")
    shared = np.array([axis.value or 0 for axis in axes])
    return Trial(
        variance=np.sign(shared) * shared**2,
        agrees=np.array([bool(shown.agrees(axis)) for axis in axes]),
        axis_covers=covers(axes, [world.stance] * len(axes)),
        contrast=np.array([c.value for c in contrasts]),
        stance=stance.reshape(-1),
        covers=covers(contrasts, stance.reshape(-1).tolist()),
        p=np.array([np.nan if c.p_value is None else c.p_value for c in contrasts]),
        adjusted=np.array([np.nan if a.value is None else a.value for a in adjusted]),
    )


def summarise(world: StanceWorld, trials: Sequence[Trial]) -> dict[str, float | None]:
    """The figures of one world; ``None`` if they do not apply."""

    def mean(name: str) -> float | None:
        values = np.array([getattr(trial, name) for trial in trials])
        return None if np.isnan(values).all() else float(np.nanmean(values))

    significant = np.array([t.adjusted < 0.05 for t in trials])
    known = mean("p") is not None
    estimate = float(np.mean([t.variance for t in trials]))
    return {
        "estimate": estimate / world.stance**2 if world.stance else estimate,
        "axis_covers": mean("axis_covers"),
        "axes_agree": mean("agrees"),
        "any_agrees": float(np.mean([t.agrees.any() for t in trials])),
        "p_below_05": float(np.mean([t.p < 0.05 for t in trials])) if known else None,
        "covers": mean("covers"),
        "any_false": float(significant.any(axis=1).mean()) if known and not world.stance else None,
        "found": float(significant.mean()) if known and world.stance else None,
    }


def main() -> None:
    """Print the figures of all worlds."""
    parser = make_parser(__doc__)
    add_runs(parser)
    options = parser.parse_args()

    def simulate(world: StanceWorld) -> dict[str, float | None]:
        rng = np.random.default_rng(options.seed)
        return summarise(world, [measure(world, rng) for _ in range(options.runs)])

    simulate_worlds(WORLDS, simulate, options.runs, as_json=options.json)


if __name__ == "__main__":
    main()
