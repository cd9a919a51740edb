"""The measures, each in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """What a measure is called and what its figures mean."""

    name: str
    title: str
    summary: str
    direction: str
    source: str


MEASURES: dict[str, Measure] = {
    "likelihood_bias": Measure(
        name="likelihood_bias",
        title="Likelihood Bias",
        summary=(
            "the share of pairs of descriptors of an axis whose sentences' perplexities differ "
            "(two-sided Mann-Whitney U test over nouns, p < 0.05)"
        ),
        direction="A difference is a difference: which ones harm is for people to judge.",
        source="Smith et al. 2022, section 2.3.2",
    ),
}
