"""Responses drawn from a world in which the mean probability of every style is known."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class ResponseWorld:
    """Axes of made-up descriptors whose responses mix styles.

    A response has one style, drawn from the mixture of its descriptor and
    template. ``softness`` is the part of the classifier's probability that it
    spreads over all styles at random: 0 is a lexicon that reads styles exactly.
    ``effect`` is the part of a descriptor's mixture that is its own, for every
    ``differing``-th descriptor. ``rare`` is the exponent that makes some styles rare.
    Cells have ``responses`` responses, or, if ``unequal``, from 1 to twice that. ``repeated`` is the share of responses
    to the prompt of the one before, and ``alike`` the share of these with the same style. If ``loud`` is not 0,
    the responses of all but every ``loud``-th descriptor are only a tenth as far from their mean.
    """

    axes: int = 4
    descriptors: int = 10
    templates: int = 6
    styles: int = 8
    responses: int = 15
    unequal: bool = False
    softness: float = 0.3
    effect: float = 0.0
    differing: int = 1
    rare: float = 1.0
    repeated: float = 0.0
    alike: float = 0.0
    loud: int = 0

    @property
    def differs(self) -> Bools:
        """Whether each descriptor has its own mixture."""
        found: Bools = (np.arange(self.axes * self.descriptors) % self.differing == 0) & (self.effect > 0)
        return found

    def mixtures(self, rng: np.random.Generator) -> Floats:
        """The mixture of styles per template and descriptor: ``[templates, descriptors, styles]``."""
        weight = np.arange(1, self.styles + 1.0) ** -self.rare
        base = rng.dirichlet(20 * weight / weight.sum(), self.templates)[:, None, :]
        own = np.eye(self.styles)[rng.integers(self.styles, size=self.axes * self.descriptors)]
        strength = self.effect * self.differs
        mixed: Floats = (1 - strength[:, None]) * base + strength[:, None] * own
        return mixed

    def means(self, mixtures: Floats) -> Floats:
        """The mean probabilities that the classifier gives, in the shape of the mixtures."""
        found: Floats = (1 - self.softness) * mixtures + self.softness / self.styles
        return found

    def draw(self, mixtures: Floats, rng: np.random.Generator) -> pa.Table:
        """A table ``axis, template, descriptor``, ``p:`` of each style, and with repeats ``prompt, response``."""
        cells = self.templates * self.axes * self.descriptors
        counts = rng.integers(1, 2 * self.responses + 1, cells) if self.unequal else np.full(cells, self.responses)
        cell = np.repeat(np.arange(cells), counts)
        style, prompt = _draw(mixtures.reshape(cells, -1)[cell], rng), np.arange(len(cell))
        if self.repeated:
            again = (rng.random(len(cell)) < self.repeated) & (np.diff(cell, prepend=-1) == 0)
            prompt = np.maximum.accumulate(np.where(again, 0, prompt))
            same = np.where(again & (rng.random(len(cell)) < self.alike), 0, np.arange(len(cell)))
            style = style[np.maximum.accumulate(same)]
        spread = rng.dirichlet(np.full(self.styles, 0.5), len(cell))
        values = (1 - self.softness) * np.eye(self.styles)[style] + self.softness * spread
        descriptor = cell % (self.axes * self.descriptors)
        if self.loud:
            mean = self.means(mixtures).reshape(cells, -1)[cell]
            values = mean + np.where(descriptor % self.loud, 0.1, 1.0)[:, None] * (values - mean)
        columns = {
            "axis": [f"axis {d // self.descriptors}" for d in descriptor],
            "template": [f"t{t}" for t in cell // (self.axes * self.descriptors)],
            "descriptor": [f"d{d % self.descriptors}" for d in descriptor],
        }
        if self.repeated:
            columns |= {
                "prompt": [f"prompt {p}" for p in prompt],
                "response": [f"response {i}" for i in range(len(cell))],
            }
        return pa.table({**columns, **{f"p:s{s}": values[:, s] for s in range(self.styles)}})


def _draw(mixtures: Floats, rng: np.random.Generator) -> Ints:
    above = rng.random((len(mixtures), 1)) > np.cumsum(mixtures, axis=1)
    found: Ints = np.minimum(above.sum(axis=1), mixtures.shape[1] - 1)
    return found
