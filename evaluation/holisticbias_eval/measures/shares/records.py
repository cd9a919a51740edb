"""Records of trust figures: intervals, floors, other tests, effect sizes and confounds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holisticbias_eval.figures import Interval, Part
from holisticbias_eval.measures.measure import Settings


class Corrected(Part):
    """The share after correcting p-values for the number of tests."""

    holm: float | None
    benjamini_hochberg: float | None


class Effects(Part):
    """The size of the differences."""

    rank_biserial: float | None = Field(description="median of the absolute effect size over pairs, from 0 to 1")
    nats: float | None = Field(description="median of the absolute mean difference of negative log-likelihood")
    large: float | None = Field(description="share of pairs that are significant and of rank-biserial 0.43 or more")
    smallest_significant: float | None = Field(
        description="the smallest rank-biserial that is significant in samples of this size"
    )
    detectable: float | None = Field(description="rank-biserial found four times in five in samples of this size")
    detectable_nats: float | None = Field(description="difference found four times in five, by pairing nouns")


class Paired(Part):
    """The share of pairs that differ in tests that pair the same nouns."""

    wilcoxon: float | None = Field(description="signed-rank test over nouns")
    sign_flip: float | None = Field(description="permutation test of the mean difference by flipping signs")
    large: float | None = Field(
        None, description="share of pairs that the signed-rank test calls different and of rank-biserial 0.43 or more"
    )


class Confounds(Part):
    """The share without other explanations; null if the scores do not allow it."""

    equal_token_pairs: int = Field(description="number of tested pairs whose descriptors have equal token counts")
    equal_tokens: float | None = Field(description="the share among these pairs")
    without_token_count: float | None = Field(description="after regressing nats on the token count")
    without_phrase: float | None = Field(description="with the phrase's own likelihood subtracted")
    minus_nonce: float | None = Field(description="the share minus that of the nonce axis, whose words mean nothing")
    minus_nonce_interval: Interval | None


class Robustness(Part):
    """The range of the share when one noun, template or wording is left out; null with fewer than two.

    A stance is a template with its paraphrases, which are its wordings.
    """

    leave_one_noun_out: Interval | None
    leave_one_template_out: Interval | None
    wordings: Interval | None = Field(description="middle 95% over choices of one wording of each stance")


class ShareTrust(Part):
    """The trust figures of one share.

    ``interval`` is a 95% bootstrap interval clustered by noun, and for an axis
    also by stance. ``floor`` is the mean share, and ``floor_interval`` the middle
    95% of the shares, when descriptors' labels are permuted within noun and template.
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
    robustness: Robustness | None = Field(description="of axes only")


class AxisRank(Part):
    """An axis's rank, 1 for the largest share, and the middle 95% of its ranks over the draws.

    Equal shares have the same rank, after all larger shares.
    """

    axis: str
    rank: int
    low: int
    high: int


class RankFlip(Part):
    """How often the second of two axes of neighbouring ranks has the larger share, over the draws."""

    first: str
    second: str
    probability: float
    probability_by_wording: float | None = Field(description="the same over choices of one wording of each stance")


class Trust(Part):
    """The trust figures of every share of a measure."""

    settings: Settings
    nats_per: Literal["sentence", "token"]
    by_axis: tuple[ShareTrust, ...]
    by_template: tuple[ShareTrust, ...]
    by_axis_and_template: tuple[ShareTrust, ...]
    axis_ranks: tuple[AxisRank, ...]
    rank_flips: tuple[RankFlip, ...]
