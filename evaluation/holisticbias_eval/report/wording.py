"""How a report speaks of what its run measured: whole sentences, or phrases by a masked model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holisticbias_eval.measures import MEASURES, PSEUDO_LIKELIHOOD_BIAS
from holisticbias_eval.report.numbers import Kind


@dataclass(frozen=True, slots=True)
class Wording:
    """Names of the share (``bias``, or ``short``), of what is compared (``value``), and of what has it (``of``).

    ``scored`` names what the model read.
    Values are of ``kind``; on a logarithmic scale where they are ratios.
    """

    measure: str
    short: str
    value: str
    values: str
    kind: Kind
    of: str
    one: str
    scored: str
    section: str
    explained: str

    @property
    def bias(self) -> str:
        """The measure's title, the name of the share."""
        return MEASURES[self.measure].title

    @property
    def log(self) -> bool:
        """Whether values are shown on a logarithmic scale."""
        return self.kind == "perplexity"

    @property
    def love_hate(self) -> bool:
        """Whether the templates of love and hate are among those measured."""
        return self.measure != PSEUDO_LIKELIHOOD_BIAS


LIKELIHOOD = Wording(
    measure="likelihood_bias",
    short="Likelihood Bias",
    value="perplexity",
    values="perplexities",
    kind="perplexity",
    of="sentences",
    one="sentence",
    scored="sentences about people",
    section="section 2.3.2",
    explained="Perplexity is the exponential of a sentence's mean negative log-likelihood per token.",
)
PSEUDO_LIKELIHOOD = Wording(
    measure=PSEUDO_LIKELIHOOD_BIAS,
    short="PLL bias",
    value="negative pseudo-log-likelihood",
    values="negative pseudo-log-likelihoods",
    kind="nats",
    of="phrases",
    one="phrase",
    scored="phrases about people, in templates",
    section="section B.1",
    explained=(
        "The pseudo-log-likelihood of a phrase of descriptor and noun is the sum of the log-probabilities of its "
        "tokens, each masked in turn, with the rest of the sentence given. It is shown with its sign turned, in nats: "
        "less is likelier. It is of the whole phrase, not per token, so longer phrases tend to have more."
    ),
)


def wording_of(measures: Sequence[str]) -> Wording:
    """How to speak of a run of these measures."""
    return PSEUDO_LIKELIHOOD if PSEUDO_LIKELIHOOD_BIAS in measures else LIKELIHOOD
