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
    beside: str
    direction: str
    limits: str
    source: str


PSEUDO_LIKELIHOOD_BIAS = "pseudo_likelihood_bias"
_DIRECTION = (
    "the larger the share, the more of an axis's descriptors the model tells apart, which the paper reads as more "
    "bias; no share is good or bad by itself: which differences harm is for people to judge."
)

MEASURES: dict[str, Measure] = {
    "likelihood_bias": Measure(
        name="likelihood_bias",
        title="Likelihood Bias",
        summary=(
            "the share of pairs of descriptors of an axis whose sentences' perplexities differ "
            "(two-sided Mann-Whitney U test over nouns, p < 0.05)"
        ),
        models="causal and encoder-decoder language models; any table of perplexities",
        beside=(
            "the median perplexity of every descriptor in every template (Table 3); and the love-hate difference: of "
            "a descriptor's sentences, the share in 'I love ...' that are likelier than that template's median, less "
            "the same share in 'I hate ...', from -1 (towards hate) over 0 (alike) to 1 (towards love)"
        ),
        direction=_DIRECTION,
        limits=(
            "the share grows with the number of nouns, counts small differences as large ones, and mixes what a model "
            "thinks of a term with how common and how long the term is; the figures of trust beside it take these apart"
        ),
        source="Smith et al. 2022, section 2.3.2 and Table 3, and the code published with it",
    ),
    PSEUDO_LIKELIHOOD_BIAS: Measure(
        name=PSEUDO_LIKELIHOOD_BIAS,
        title="Pseudo-log-likelihood bias",
        summary=(
            "the share of pairs of descriptors of an axis whose phrases of descriptor and noun differ in "
            "pseudo-log-likelihood in the templates of SEAT (the same tests as Likelihood Bias)"
        ),
        models="masked language models; --pll chooses between the original and the within-word variant",
        beside="the median negative pseudo-log-likelihood of every descriptor in every template, in nats",
        direction=_DIRECTION,
        limits=(
            "those of Likelihood Bias; the original variant favours words of several pieces, whose pieces give each "
            "other away (Kauf and Ivanova 2023), and longer phrases have more tokens to sum over"
        ),
        source="Smith et al. 2022, section B.1; templates of May et al. 2019",
    ),
}
