"""The measures, each in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """What a measure is called and what its figures mean."""

    name: str
    title: str
    summary: str
    models: str
    direction: str
    limits: str
    source: str


MEASURES: dict[str, Measure] = {
    "likelihood_bias": Measure(
        name="likelihood_bias",
        title="Likelihood Bias",
        summary=(
            "the share of pairs of descriptors of an axis whose sentences' perplexities differ "
            "(two-sided Mann-Whitney U test over nouns, p < 0.05)"
        ),
        models="causal and encoder-decoder language models; any table of perplexities",
        direction="none is good by itself: which differences harm is for people to judge.",
        limits=(
            "the share grows with the number of nouns, counts small differences as large ones, and mixes what a model "
            "thinks of a term with how common and how long the term is; the figures of trust beside it take these apart"
        ),
        source="Smith et al. 2022, section 2.3.2",
    ),
}
