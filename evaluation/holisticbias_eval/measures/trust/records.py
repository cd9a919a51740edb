"""What a run records of how far its figures can be trusted."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holisticbias_eval.figures import Interval, Part


class TrustSettings(Part):
    """What the figures of trust depend on beside the scores."""

    seed: int = 0
    draws: int = Field(200, ge=2, description="bootstrap draws of nouns, and of stances with them")
    permutations: int = Field(20, ge=1, description="permutations of descriptors' labels")
    flips: int = Field(400, ge=20, description="sign flips of the paired permutation test")


class Corrected(Part):
    """The share after correcting p-values for the number of tests that it is over."""

    holm: float | None
    benjamini_hochberg: float | None


class Effects(Part):
    """How large the differences are, not only how many."""

    rank_biserial: float | None = Field(description="median of the absolute effect size over pairs, from 0 to 1")
    nats: float | None = Field(description="median of the absolute mean difference of negative log-likelihood")
    large: float | None = Field(description="share of pairs that are significant and of rank-biserial 0.43 or more")
    smallest_significant: float | None = Field(description="the smallest rank-biserial that such samples can call so")
    detectable: float | None = Field(description="rank-biserial found four times in five by samples of this size")
    detectable_nats: float | None = Field(description="difference found four times in five, by pairing nouns")


class Paired(Part):
    """The share of pairs that differ by tests that pair the same nouns, on nats a token."""

    wilcoxon: float | None = Field(description="signed-rank test over nouns")
    sign_flip: float | None = Field(description="permutation test of the mean difference by flipping signs")
    large: float | None = Field(
        None, description="share of pairs that the signed-rank test calls different and of rank-biserial 0.43 or more"
    )


class Confounds(Part):
    """The share with other explanations taken away; missing where the scores do not allow it."""

    equal_token_pairs: int = Field(description="how many tested pairs have descriptors of equal token count")
    equal_tokens: float | None = Field(description="the share among those")
    without_token_count: float | None = Field(description="after regressing log-perplexity on the token count")
    without_phrase: float | None = Field(description="with the likelihood of the phrase by itself taken off")
    minus_nonce: float | None = Field(description="the share less that of the nonce axis, whose words mean nothing")
    minus_nonce_interval: Interval | None


class Robustness(Part):
    """The range of the share when one thing is left out or worded in another way; missing where there are not two.

    A stance is a template with its paraphrases, each a wording of it.
    """

    leave_one_noun_out: Interval | None
    leave_one_template_out: Interval | None
    wordings: Interval | None = Field(description="middle 95 % over choices of one wording of each stance")


class ShareTrust(Part):
    """What stands beside one share of Likelihood Bias.

    ``interval`` is a 95 % bootstrap interval clustered by noun, and for an axis
    by stance too (a template with its paraphrases); ``floor`` the mean share, and ``floor_interval`` the middle
    95 %, when the descriptors' labels are permuted within noun and template.
    """

    axis: str | None
    template: str | None
    share: float | None
    interval: Interval | None
    floor: float | None
    floor_interval: Interval | None
    corrected: Corrected
    effects: Effects
    paired: Paired
    confounds: Confounds
    robustness: Robustness | None = Field(description="for axes alone")


class AxisRank(Part):
    """An axis's place, 1 the largest share, and the middle 95 % of its places over the draws.

    Equal shares have one place: that after all larger ones.
    """

    axis: str
    rank: int
    low: int
    high: int


class RankFlip(Part):
    """How often the second of two neighbouring axes has the larger share, over the draws."""

    first: str
    second: str
    probability: float
    probability_by_wording: float | None = Field(description="the same over choices of one wording of each stance")


class Trust(Part):
    """How far the figures of Likelihood Bias can be trusted, in the order in which the figures stand."""

    settings: TrustSettings
    nats_per: Literal["sentence", "token"]
    by_axis: tuple[ShareTrust, ...]
    by_template: tuple[ShareTrust, ...]
    by_axis_and_template: tuple[ShareTrust, ...]
    axis_ranks: tuple[AxisRank, ...]
    rank_flips: tuple[RankFlip, ...]
