"""Names of descriptors that the wording of responses gives by chance, and planted phrases that it finds.

Prints for each simulated world in which nothing differs the shares of runs in which any descriptor is named:

- ``found``: for a phrase that was found without a list;
- ``listed``: for a phrase of the list;
- ``parroting`` and ``length``: for how often it is parroted, and for the length of its responses;

and for the others ``planted``: the share of descriptors with a planted phrase for which it is found.
"""

import zlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures.response_wording import ResponseWording
from shared import make_parser, simulate_worlds

PHRASE = "i'm sorry to hear"
ADJUSTED = {"listed": "phrase_share", "parroting": "parroting_exact", "length": "length"}
FOUND = "phrase_log_odds"


@dataclass(frozen=True)
class WordingWorld:
    """Responses of random words to 40 made-up descriptors, unless stated.

    ``greedy`` responses are the same for equal prompts. ``parroted`` is the share
    of responses that repeat the prompt, in one template of two more often.
    ``planted`` is the share of the responses to every tenth descriptor that have the phrase, ``usual`` that of all.
    """

    descriptors: int = 40
    templates: int = 6
    draws: int = 15
    greedy: bool = False
    parroted: float = 0.0
    planted: float = 0.0
    usual: float = 0.0

    def draw(self, seed: int) -> pa.Table:
        """A table of responses."""
        rng = np.random.default_rng(seed)
        shape = (self.descriptors, self.templates, self.draws)
        rows = []
        for d, t, _ in np.ndindex(shape):
            prompt = f"t{t} says i am a d{d} person of kind n{rng.integers(5)}"
            own = np.random.default_rng([seed, zlib.crc32(prompt.encode())]) if self.greedy else rng
            rows.append((f"axis {d % 2}", f"d{d}", f"t{t}", prompt, self._respond(own, d, t, prompt)))
        names = ("axis", "descriptor", "template", "prompt", "response")
        return pa.table({name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)})

    def _respond(self, rng: np.random.Generator, descriptor: int, template: int, prompt: str) -> str:
        if rng.random() < self.parroted * (1 if template % 2 else 0.2):
            return prompt
        words = [f"w{w}" for w in np.minimum(rng.zipf(1.3, rng.geometric(0.08) + 2), 3000)]
        share = self.planted if descriptor % 10 == 0 else self.usual
        return " ".join([PHRASE, *words] if rng.random() < share else words)


WORLDS = {
    "nothing differs": WordingWorld(),
    "nothing differs, 200 descriptors, 3 responses a cell": WordingWorld(200, 3, 3),
    "nothing differs, always the likeliest token": WordingWorld(greedy=True),
    "nothing differs, parroting by template": WordingWorld(parroted=0.3),
    "nothing differs, parroting, always the likeliest token": WordingWorld(parroted=0.3, greedy=True),
    "nothing differs, 5% have the phrase": WordingWorld(planted=0.05, usual=0.05),
    "a tenth of the descriptors: 20% instead of 5%": WordingWorld(planted=0.2, usual=0.05),
    "a tenth of the descriptors: 40% instead of 5%": WordingWorld(planted=0.4, usual=0.05),
    "a tenth of the descriptors: 5% instead of 0%": WordingWorld(planted=0.05),
    "a tenth of the descriptors: 10% instead of 0%": WordingWorld(planted=0.1),
}


def run(world: WordingWorld, seed: int) -> dict[str, float]:
    """Whether anything is named by chance, and the share of planted phrases that are found."""
    figures = ResponseWording().figures(world.draw(seed), None).figures
    differ = {f"d{d}" for d in range(0, world.descriptors, 10)} if world.planted > world.usual else set()
    found = [f for f in figures if f.name == FOUND]
    named = {kind: [f for f in figures if f.name == f"{name}_adjusted_p"] for kind, name in ADJUSTED.items()}
    wrong = {kind: any(f.value is not None and f.value < SIGNIFICANCE for f in own) for kind, own in named.items()}
    planted = {f.keys["descriptor"] for f in found if "sorry" in f.keys["phrase"]} & differ
    return {
        "found": np.nan if differ else float(bool(found)),
        **{kind: np.nan if differ else float(value) for kind, value in wrong.items()},
        "planted": len(planted) / len(differ) if differ else np.nan,
    }


def main() -> None:
    """Print a line per world, or JSON."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=100, help="runs of each world")
    given = parser.parse_args()

    def simulate(world: WordingWorld) -> dict[str, float | None]:
        runs = [run(world, seed) for seed in range(given.runs)]
        return {key: float(np.mean([r[key] for r in runs])) for key in runs[0]}

    simulate_worlds(WORLDS, simulate, given.runs, as_json=given.json)


if __name__ == "__main__":
    main()
