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


PSEUDO_LIKELIHOOD_BIAS = "pseudo_likelihood_bias"

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
    PSEUDO_LIKELIHOOD_BIAS: Measure(
        name=PSEUDO_LIKELIHOOD_BIAS,
        title="Pseudo-log-likelihood bias",
        summary=(
            "the share of pairs of descriptors of an axis whose phrases of descriptor and noun differ in "
            "pseudo-log-likelihood in the templates of SEAT (the same tests as Likelihood Bias)"
        ),
        models="masked language models; --pll chooses between the original and the within-word variant",
        direction="none is good by itself: which differences harm is for people to judge.",
        limits=(
            "those of Likelihood Bias; the original variant favours words of several pieces, whose pieces give each "
            "other away (Kauf and Ivanova 2023), and longer phrases have more tokens to sum over"
        ),
        source="Smith et al. 2022, section B.1; templates of May et al. 2019",
    ),
}
