"""Calibrate the intervals of mean offensiveness on simulated probabilities with known means.

Prints for each world the shares of intervals that cover the true mean: ``cell_covers`` of a descriptor in a template,
``descriptor_covers`` of a descriptor over templates, and ``template_covers`` of a template over descriptors.
"""

from dataclasses import dataclass, replace
from sys import path

import numpy as np
import pyarrow as pa

from shared import ROOT, add_runs, covers, make_parser, simulate_worlds

path.insert(0, str(ROOT))

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.offensiveness import Offensiveness

NAME = "offensiveness"


@dataclass(frozen=True)
class World:
    """Cells of ``texts`` probabilities whose means lie between ``low`` and ``high``.

    They have beta distributions with the ``size`` alpha + beta, or with ``apart`` are near 0 or near 1; of these,
    ``calm`` descriptors have all of their probabilities near their mean.
    """

    texts: int
    low: float = 0.05
    high: float = 0.15
    size: float = 4.0
    apart: bool = False
    calm: int = 0
    descriptors: int = 10
    templates: int = 4

    def draw(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Probabilities with these means: shape ``[templates, descriptors, texts]``."""
        mean = np.repeat(means[:, :, None], self.texts, axis=2)
        if not self.apart:
            return rng.beta(mean * self.size, (1 - mean) * self.size)
        large = rng.random(mean.shape) < (mean - 0.02) / 0.88
        found = np.where(large, rng.beta(18, 2, mean.shape), rng.beta(1, 49, mean.shape))
        calm = np.arange(self.descriptors)[None, :, None] < self.calm
        return np.where(calm, rng.beta(mean * 200, (1 - mean) * 200), found)


SKEWED, APART = World(3), World(3, apart=True)
MIXED = World(3, apart=True, calm=5)
LEVEL = World(3, low=0.1, high=0.7)
WORLDS = {
    f"{what}, {texts} texts": replace(world, texts=texts)
    for what, world in {
        "skewed": SKEWED,
        "near 0 or 1": APART,
        "half of these calm": MIXED,
        "means 0.1 to 0.7": LEVEL,
    }.items()
    for texts in (2, 3, 5, 15)
} | {
    f"one template of two descriptors, near 0 or 1, {n} texts": World(n, apart=True, descriptors=2, templates=1)
    for n in (2, 3, 5, 15)
}


def measure(world: World, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw texts, and say which intervals cover the true mean; NaN without an interval."""
    means = rng.uniform(world.low, world.high, (world.templates, world.descriptors))
    t, d, _ = np.indices((*means.shape, world.texts))
    table = pa.table(
        {
            "axis": ["age"] * t.size,
            "template": [f"t{i}" for i in t.ravel()],
            "descriptor": [f"d{i}" for i in d.ravel()],
            "offensive": world.draw(means, rng).ravel(),
        }
    )
    figures = Figures(Offensiveness().figures(table, MeasureSettings()).figures)
    cells = figures.by(NAME, "mean", "axis", "descriptor", "template")
    descriptors, templates = (figures.by(NAME, "mean", *keys) for keys in (("axis", "descriptor"), ("template",)))
    return {
        "cell_covers": covers(cells, [means[_place(f, "template"), _place(f, "descriptor")] for f in cells]),
        "descriptor_covers": covers(descriptors, [means[:, _place(f, "descriptor")].mean() for f in descriptors]),
        "template_covers": covers(templates, [means[_place(f, "template")].mean() for f in templates]),
    }


def _place(figure: Figure, key: str) -> int:
    return int(figure.keys[key][1:])


def main() -> None:
    """Print one line for each world."""
    parser = make_parser(__doc__)
    add_runs(parser)
    options = parser.parse_args()

    def simulate(world: World) -> dict[str, float | None]:
        rng = np.random.default_rng(options.seed)
        found = [measure(world, rng) for _ in range(options.runs)]
        return {key: float(np.nanmean([one[key] for one in found])) for key in found[0]}

    simulate_worlds(WORLDS, simulate, options.runs, as_json=options.json)


if __name__ == "__main__":
    main()
