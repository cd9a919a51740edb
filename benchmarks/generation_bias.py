"""Calibrate generation bias on simulated responses whose true bias is known.

Prints for each world:

- ``raw`` and ``corrected``: the mean raw and corrected Full Gen Bias minus the true bias, times 1000, and ``true``;
- ``covers``, ``axis_covers``, ``style_covers``: the shares of intervals that cover the true bias: of all axes together,
  of single axes, and of single styles;
- ``p_below_05``: the share of runs with p < 0.05 over all axes;
- ``any_axis``: the share of runs in which any axis has p < 0.05 after correction;
- ``any_name``: the share of runs in which a descriptor is named in any style, though no descriptor differs;
- ``named``: the share of differing descriptors that are named in a style.

With ``--changes``, two runs of the same world are compared instead: ``p_below_05`` is the share of changes of the bias
over all axes with p < 0.05, and ``covers`` the share of intervals that cover 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from sys import path

import numpy as np

from shared import ROOT, add_runs, covers, make_parser, simulate_worlds

path.insert(0, str(ROOT))  # the simulated worlds are in tests

from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.generation_bias import GenerationBias
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.responses.bias_figures import bias_changes

NAME = "generation_bias"
FIVE = ResponseWorld(responses=5)
TWO = ResponseWorld(responses=2)
UNEQUAL = ResponseWorld(responses=4, unequal=True)
LEXICON = ResponseWorld(responses=5, softness=0, rare=2)
SMALL = ResponseWorld(axes=2, descriptors=3, templates=2, responses=5)
WORLDS = {
    "no difference, 15 responses": ResponseWorld(),
    "no difference, 5 responses": FIVE,
    "no difference, 2 responses": TWO,
    "no difference, 1 to 8 responses": UNEQUAL,
    "no difference, 5 responses, lexicon, rare styles": LEXICON,
    "no difference, 8% repeats, a fifth of them alike": ResponseWorld(repeated=0.08, alike=0.2),
    "no difference, small": SMALL,
    "effect 0.1, 15 responses": ResponseWorld(effect=0.1),
    "effect 0.1, 5 responses": replace(FIVE, effect=0.1),
    "effect 0.3, 15 responses": ResponseWorld(effect=0.3),
    "effect 0.3, 5 responses": replace(FIVE, effect=0.3),
    "effect 0.3, 2 responses": replace(TWO, effect=0.3),
    "effect 0.3, 1 to 8 responses": replace(UNEQUAL, effect=0.3),
    "effect 0.3, 5 responses, lexicon, rare styles": replace(LEXICON, effect=0.3),
    "effect 0.5 in a tenth, 5 responses": replace(FIVE, effect=0.5, differing=10),
    "effect 0.8, 15 responses": ResponseWorld(effect=0.8),
    "effect 0.8, 5 responses": replace(FIVE, effect=0.8),
    "effect 0.8, 1 to 8 responses": replace(UNEQUAL, effect=0.8),
    "effect 0.5, small": replace(SMALL, effect=0.5),
    "effect 0.3, 2 responses, a tenth vary more": replace(TWO, effect=0.3, loud=10),
    "effect 0.3, 5 responses, a tenth vary more": replace(FIVE, effect=0.3, loud=10),
    "no difference, 2 responses, a tenth vary more": replace(TWO, loud=10),
    "no difference, 5 responses, a tenth vary more": replace(FIVE, loud=10),
}


@dataclass(frozen=True)
class Trial:
    """Results of one run."""

    raw: float
    corrected: float
    true: float
    covers: Floats
    axis_covers: Floats
    style_covers: Floats
    p_below_05: bool
    any_axis: bool
    names: int
    named: float


def measure(world: ResponseWorld, rng: np.random.Generator) -> Trial:
    """Draw responses and measure them."""
    mixtures = world.mixtures(rng)
    figures = Figures(GenerationBias().figures(world.draw(mixtures, rng), MeasureSettings()).figures)
    means = np.sqrt(1000) * world.means(mixtures)  # variances are then times 1000
    by_axis = np.split(means, world.axes, axis=1)
    full, corrected = (figures.by(NAME, f"full_gen_bias{suffix}") for suffix in ("", "_corrected"))
    adjusted = figures.by(NAME, "style_adjusted_p", "axis", "descriptor", "style")
    names = {(f.keys["axis"], f.keys["descriptor"]) for f in adjusted if f.value is not None and f.value < 0.05}
    differing = {(f"axis {d // world.descriptors}", f"d{d % world.descriptors}") for d in np.flatnonzero(world.differs)}
    return Trial(
        raw=full[0].value or 0,
        corrected=corrected[0].value or 0,
        true=_bias(means),
        covers=_held(corrected, [_bias(means)]),
        axis_covers=_held(figures.by(NAME, "full_gen_bias_corrected", "axis"), [_bias(part) for part in by_axis]),
        style_covers=_held(
            figures.by(NAME, "partial_gen_bias_corrected", "style"), means.var(axis=1).mean(axis=0).tolist()
        ),
        p_below_05=(full[0].p_value or 0) < 0.05,
        any_axis=any((f.p_value or 0) < 0.05 for f in figures.by(NAME, "full_gen_bias", "axis")),
        names=len(names),
        named=len(names & differing) / max(len(differing), 1),
    )


def _bias(means: Floats) -> float:
    return float(means.var(axis=1).sum(axis=1).mean())


def _held(figures: Sequence[Figure], truth: Sequence[float]) -> Floats:
    """Whether each interval covers the true value; a missing interval does not."""
    return np.nan_to_num(covers(figures, truth))


def summarise(world: ResponseWorld, trials: Sequence[Trial]) -> dict[str, float | None]:
    """The figures of one world; ``None`` if they do not apply."""

    def mean(name: str) -> float:
        return float(np.mean([getattr(trial, name) for trial in trials]))

    return {
        "raw": mean("raw") - mean("true"),
        "corrected": mean("corrected") - mean("true"),
        "true": mean("true"),
        **{name: mean(name) for name in ("covers", "axis_covers", "style_covers", "p_below_05", "any_axis")},
        "any_name": float(np.mean([trial.names > 0 for trial in trials])) if not world.effect else None,
        "named": mean("named") if world.effect else None,
    }


def compare(world: ResponseWorld, runs: int, rng: np.random.Generator) -> dict[str, float | None]:
    """Compare two runs of the same mixtures, this many times."""
    changes = []
    for _ in range(runs):
        mixtures = world.mixtures(rng)
        figures = Figures(bias_changes(world.draw(mixtures, rng), world.draw(mixtures, rng), {}))
        changes.append(figures.by(NAME, "change")[0])
    return {
        "p_below_05": float(np.mean([(change.p_value or 0) < 0.05 for change in changes])),
        "covers": float(np.mean([_held([change], [0.0]) for change in changes])),
    }


def main() -> None:
    """Print the figures of all worlds."""
    parser = make_parser(__doc__)
    add_runs(parser)
    parser.add_argument("--changes", action="store_true", help="compare two runs of each world")
    options = parser.parse_args()

    def simulate(world: ResponseWorld) -> dict[str, float | None]:
        rng = np.random.default_rng(options.seed)
        if options.changes:
            return compare(world, options.runs, rng)
        return summarise(world, [measure(world, rng) for _ in range(options.runs)])

    simulate_worlds(WORLDS, simulate, options.runs, as_json=options.json)


if __name__ == "__main__":
    main()
