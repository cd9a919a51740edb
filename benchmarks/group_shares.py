"""Calibrate the figures of texts by group on simulated texts with known shares and means.

Prints for each world:

- ``share_covers``, ``mean_covers``: the shares of groups whose interval covers the true share or mean;
- ``difference_covers``: the share of pairs of groups whose interval covers the true difference of shares;
- ``human_covers``: the share of groups whose interval covers the true difference from human-written texts;
- ``any_z``, ``any_items``: the shares of runs in which any pair without a difference differs after Holm's correction,
  with rows as independent and with items as independent;
- ``disparity_p``: the share of runs whose largest difference has p < 0.05;
- ``disparity``, ``floor``: the mean largest difference of shares, and its mean floor.
"""

from dataclasses import replace
from sys import path

import numpy as np

from shared import ROOT, covers, make_parser, simulate_worlds

path.insert(0, str(ROOT))  # the simulated worlds are in tests

from tests.evaluation.simulated_groups import ZEAL, World, Zeal

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings

CLUSTERED = World(items=30, per_item=5, within=0.3)
WORLDS = {
    "20 texts, share 0.05": World(items=20, share=0.05),
    "20 texts, share 0.3": World(items=20),
    "100 texts, share 0.3": World(items=100),
    "30 prompts of 5 texts": CLUSTERED,
    "30 prompts of 5 texts, share 0.05": replace(CLUSTERED, share=0.05),
    "10 prompts of 5 texts": replace(CLUSTERED, items=10),
    "20 groups, 26 templates of 15 texts": World(groups=20, items=26, per_item=15, within=0.1),
    "beside human-written texts, 40 prompts": World(human=1),
    "beside human-written texts, 30 prompts of 5": replace(CLUSTERED, human=1),
    "one group 0.2 higher": World(items=100, lift=0.2),
    "10 prompts of 5 texts beside 10 of one": World(2, items=10, per_item=5, share=0.1, within=0.7, single=True),
    "3 texts": World(items=3),
    "5 texts, a tenth of the values far away": World(items=5, rare=0.1),
    "15 texts, a tenth of the values far away": World(items=15, rare=0.1),
    "50 texts, a tenth of the values far away": World(items=50, rare=0.1),
}


def main() -> None:
    """Print one line for each world."""
    parser = make_parser(__doc__)
    parser.add_argument("--worlds", type=int, default=300, help="simulated runs of each world")
    parser.add_argument("--only", default="", help="worlds whose name contains this")
    options = parser.parse_args()

    def simulate(world: World) -> dict[str, float | None]:
        runs = [_run(world, seed) for seed in range(options.worlds)]
        found = {key: [value for run in runs if (value := run[key]) is not None] for key in runs[0]}
        return {key: float(np.mean(values)) for key, values in found.items() if values}

    worlds = {name: world for name, world in WORLDS.items() if options.only in name}
    simulate_worlds(worlds, simulate, options.worlds, as_json=options.json)


def _run(world: World, seed: int) -> dict[str, float | None]:
    figures = Figures(Zeal().figures(world.draw(np.random.default_rng(seed)), MeasureSettings(seed=seed)).figures)
    lifted = {f"g{g}": world.lift * (g == 0) for g in range(world.groups)}
    share = dict(zip(lifted, world.true_shares().tolist(), strict=True))
    keen = [f for f in figures.by(ZEAL, "share", "group", "class") if f.keys["class"] == "keen"]
    pairs = [f for f in figures.by(ZEAL, "difference", "first", "second", "class") if f.keys["class"] == "keen"]
    from_human = figures.by(ZEAL, "difference_from_human", "group", "class")
    apart = figures.get(ZEAL, "disparity", {"class": "keen"})
    return {
        "share_covers": _covers([(f, share[f.keys["group"]]) for f in keen]),
        "mean_covers": _covers([(f, lifted[f.keys["group"]]) for f in figures.by(ZEAL, "mean", "group")]),
        "difference_covers": _covers([(f, share[f.keys["first"]] - share[f.keys["second"]]) for f in pairs]),
        "human_covers": _covers([(f, lifted[f.keys["group"]]) for f in from_human if f.keys["class"] == "keen"]),
        "any_z": _any(figures, pairs, lifted, "adjusted_p"),
        "any_items": _any(figures, pairs, lifted, "clustered_adjusted_p"),
        "disparity_p": None if apart is None or apart.p_value is None else float(apart.p_value < 0.05),
        "disparity": apart.value if apart else None,
        "floor": apart.floor if apart else None,
    }


def _covers(known: list[tuple[Figure, float]]) -> float | None:
    """The share of intervals that hold the true value; missing intervals are left out."""
    held = covers(*zip(*known, strict=True)) if known else np.array([])
    return None if np.isnan(held).all() else float(np.nanmean(held))


def _any(figures: Figures, pairs: list[Figure], lifted: dict[str, float], name: str) -> float | None:
    """Whether any pair of groups with equal shares differs."""
    null = [f for f in pairs if lifted[f.keys["first"]] == lifted[f.keys["second"]]]
    p = [figures.value(ZEAL, name, f.keys) for f in null]
    known = [value for value in p if value is not None]
    return float(min(known) < 0.05) if known else None


if __name__ == "__main__":
    main()
