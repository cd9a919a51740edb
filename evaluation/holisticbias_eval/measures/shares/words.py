"""Terms for the compared values: perplexities of sentences, or pseudo-log-likelihoods of phrases."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.statistics.cells import Compared


@dataclass(frozen=True, slots=True)
class Words:
    """Terms for the share (``bias``, or ``short``), the compared ``value``, and the texts that have it (``of``).

    ``measure`` is the measure that has the shares.

    ``column`` is the compared column of the answers, ``median`` the figure of its
    median, ``unit`` its unit; ``how`` explains the value.
    """

    measure: str
    bias: str
    short: str
    column: Compared
    median: str
    value: str
    values: str
    unit: str
    of: str
    how: str

    @property
    def log(self) -> bool:
        """Whether charts of the value have a logarithmic scale."""
        return self.column == "perplexity"


PERPLEXITIES = Words(
    measure="likelihood_bias",
    bias="Likelihood Bias",
    short="Likelihood Bias",
    column="perplexity",
    median="median_perplexity",
    value="perplexity",
    values="perplexities",
    unit="perplexity",
    of="sentence",
    how="Perplexity is the exponential of a sentence's mean negative log-likelihood per token.",
)
PHRASES = Words(
    measure="pseudo_likelihood_bias",
    bias="Pseudo-log-likelihood bias",
    short="PLL bias",
    column="nll",
    median="median_nll",
    value="negative pseudo-log-likelihood",
    values="negative pseudo-log-likelihoods",
    unit="nats per phrase",
    of="phrase",
    how=(
        "The pseudo-log-likelihood of a phrase of descriptor and noun is the sum of the log-probabilities of its "
        "tokens, each masked in turn, given the rest of the sentence. It is shown negated, in nats: less is likelier. "
        "It is of the whole phrase, not per token, so longer phrases tend to have more."
    ),
)
