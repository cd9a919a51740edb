"""Scores drawn from a world whose truth is known."""

import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class World:
    """Sources of log-perplexity, by axis: descriptors' effects, noise of nouns, and tokens."""

    effects: dict[str, tuple[float, ...]]
    templates: int = 6
    nouns: int = 16
    template_scale: float = 0.5
    noun_noise: float = 0.5
    noise: float = 1.0
    nats_per_extra_token: float = 0.0
    extra_tokens: dict[str, tuple[int, ...]] | None = None

    def draw(self, rng: np.random.Generator) -> pa.Table:
        """Scores with newly drawn nouns and templates; the descriptors' effects stay."""
        scale = np.exp(rng.normal(0, self.template_scale, self.templates))
        noun = rng.normal(0, self.noun_noise, (self.templates, self.nouns))
        columns: dict[str, list[str]] = {"axis": [], "template": [], "descriptor_id": [], "noun_id": []}
        logs, tokens = [], []
        for axis, effects in self.effects.items():
            extra = (self.extra_tokens or {}).get(axis, (0,) * len(effects))
            for t, d, n in itertools.product(range(self.templates), range(len(effects)), range(self.nouns)):
                columns["axis"].append(axis)
                columns["template"].append(f"t{t}")
                columns["descriptor_id"].append(f"{axis}.{d}")
                columns["noun_id"].append(f"n{n}")
                tokens.append(6 + extra[d])
                logs.append(3 + scale[t] * effects[d] + noun[t, n] + self.nats_per_extra_token * extra[d])
        log = np.array(logs) + rng.normal(0, self.noise, len(logs))
        counts = np.array(tokens)
        return pa.table({**columns, "perplexity": np.exp(log), "nll": log * counts, "tokens": counts})
