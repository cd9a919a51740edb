"""The figures of a share measure: its records, and the wordings it was measured in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Figure, Interval, Part, make_figure
from holisticbias_eval.measures.measure import NONCE, MeasureSettings
from holisticbias_eval.statistics.cells import Crossing
from holisticbias_eval.statistics.pairs import ratios

CHOICES = 1000


def choose_wordings(crossing: Crossing, rng: np.random.Generator) -> dict[str, Ints]:
    """Whether each template is the wording chosen for its stance, over many choices: shape ``[choices]`` each.

    Empty if no stance has two wordings.
    """
    stance_of = {cell.template: cell.stance for cell in crossing.cells}
    wordings = {s: [t for t in crossing.templates if stance_of[t] == s] for s in crossing.stances}
    if all(len(templates) == 1 for templates in wordings.values()):
        return {}
    chosen: dict[str, Ints] = {}
    for templates in wordings.values():
        choice = rng.integers(len(templates), size=CHOICES)
        chosen |= {t: (choice == i).astype(np.int64) for i, t in enumerate(templates)}
    return chosen


def worded_shares(counts: Mapping[str, Ints], chosen: Mapping[str, Ints]) -> Floats | None:
    """The share under each choice: shape ``[choices]``; ``None`` without choices.

    ``counts`` has, for each template, how many pairs differ and how many were tested.
    """
    if not chosen:
        return None
    return ratios(np.stack([counts[t] for t in counts], axis=1) @ np.stack([chosen[t] for t in counts]))


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

    settings: MeasureSettings
    nats_per: Literal["sentence", "token"]
    by_axis: tuple[ShareTrust, ...]
    by_template: tuple[ShareTrust, ...]
    by_axis_and_template: tuple[ShareTrust, ...]
    axis_ranks: tuple[AxisRank, ...]
    rank_flips: tuple[RankFlip, ...]


EFFECT = "rank-biserial"
NORMAL = 1.96
TOKENLESS = {"pseudo_likelihood_bias": "phrase"}


class Share(Part):
    """The share of descriptor pairs that differ, in an axis, a template or both.

    ``share`` is ``significant / pairs``, and null if there is no pair.
    ``untested`` pairs have a descriptor without any value. If there were too many
    pairs to compare them all, ``drawn`` different ones were drawn, and
    ``drawn_from`` is the number of tests of all pairs.
    """

    axis: str | None
    template: str | None
    descriptors: int
    pairs: int
    significant: int
    untested: int
    share: float | None
    drawn: int | None = None
    drawn_from: int | None = None


def share_figures(
    measure: str,
    by_axis: Sequence[Share],
    by_template: Sequence[Share],
    by_axis_and_template: Sequence[Share],
    trust: Trust | None,
) -> tuple[Figure, ...]:
    """The figures of every share: by axis, by template and by both.

    ``share`` is the headline; all others are figures of it. Without ``trust``
    there are only ``share``, ``differing_pairs`` and ``descriptors``.
    """
    scopes = (by_axis, by_template, by_axis_and_template)
    trusted = (trust.by_axis, trust.by_template, trust.by_axis_and_template) if trust else ((), (), ())
    found: list[Figure] = []
    for shares, besides in zip(scopes, trusted, strict=True):
        beside = {(t.axis, t.template): t for t in besides}
        for share in shares:
            found += _counts(measure, share, beside.get((share.axis, share.template)))
    if trust:
        shares = (*by_axis, *by_template, *by_axis_and_template)
        pairs = {(s.axis, s.template): s.pairs for s in shares}
        for one in (*trust.by_axis, *trust.by_template, *trust.by_axis_and_template):
            found += _trusted(measure, one, pairs.get((one.axis, one.template), 0), nats_unit(measure, trust.nats_per))
        found += _ranks(measure, trust)
    return tuple(found)


def nats_unit(measure: str, per: str) -> str:
    """The unit of differences in nats: per sentence, per token, or per phrase."""
    return f"nats per {TOKENLESS.get(measure, per) if per == 'sentence' else per}"


def _keys(found: Share | ShareTrust) -> dict[str, str]:
    named = {"axis": found.axis, "template": found.template}
    return {key: value for key, value in named.items() if value is not None}


def _counts(measure: str, share: Share, trust: ShareTrust | None) -> Iterator[Figure]:
    keys = _keys(share)
    yield make_figure(
        measure, "share", keys, share.share, "share", share.pairs, share.untested,
        interval=trust.interval if trust else None, floor=trust.floor if trust else None,
        floor_interval=trust.floor_interval if trust else None,
    )  # fmt: skip
    for name, value, n in (
        ("differing_pairs", share.significant, share.pairs),
        ("descriptors", share.descriptors, share.descriptors),
    ):
        yield make_figure(measure, name, keys, value, "count", n, of="share")
    if share.drawn_from and share.share is not None:
        interval = _of_all_pairs(share.share, share.drawn or 1, share.drawn_from)
        yield make_figure(
            measure, "all_pairs", keys, share.share, "share", share.drawn_from, interval=interval, of="share"
        )


def _of_all_pairs(share: float, drawn: int, tests: int) -> Interval:
    """95% interval of the share of all pairs: at least as wide as that of a simple random sample of as many pairs."""
    margin = NORMAL * sqrt(share * (1 - share) / drawn * max(0.0, 1 - drawn / tests))
    return Interval(low=max(0.0, share - margin), high=min(1.0, share + margin))


def _trusted(measure: str, found: ShareTrust, pairs: int, nats: str) -> Iterator[Figure]:
    keys = _keys(found)

    def figure(name: str, value: float | None, unit: str, n: int = pairs, interval: Interval | None = None) -> Figure:
        return make_figure(measure, name, keys, value, unit, n, interval=interval, of="share")

    for name, value, unit in _values(found, nats):
        yield figure(name, value, unit)
    yield figure("equal_tokens", found.confounds.equal_tokens, "share", found.confounds.equal_token_pairs)
    if found.template is None and found.axis != NONCE:
        difference = found.confounds.minus_nonce
        yield figure("minus_nonce", difference, "share difference", interval=found.confounds.minus_nonce_interval)
    if found.robustness:
        ranges: Iterable[str] = type(found.robustness).model_fields
        for name in ranges:
            ends = getattr(found.robustness, name)
            yield figure(name, found.share if ends else None, "share", interval=ends)


def _values(found: ShareTrust, nats: str) -> Iterator[tuple[str, float | None, str]]:
    yield "holm", found.corrected.holm, "share"
    yield "benjamini_hochberg", found.corrected.benjamini_hochberg, "share"
    yield "large", found.effects.large, "share"
    yield "wilcoxon", found.paired.wilcoxon, "share"
    yield "sign_flip", found.paired.sign_flip, "share"
    yield "paired_large", found.paired.large, "share"
    yield "without_token_count", found.confounds.without_token_count, "share"
    yield "without_phrase", found.confounds.without_phrase, "share"
    yield "rank_biserial", found.effects.rank_biserial, EFFECT
    yield "smallest_significant", found.effects.smallest_significant, EFFECT
    yield "detectable", found.effects.detectable, EFFECT
    yield "nats", found.effects.nats, nats
    yield "detectable_nats", found.effects.detectable_nats, nats


def _ranks(measure: str, trust: Trust) -> Iterator[Figure]:
    for place in trust.axis_ranks:
        ends = (place.low, place.high)
        ranked = len(trust.axis_ranks)
        yield make_figure(measure, "rank", {"axis": place.axis}, place.rank, "rank", ranked, interval=ends, of="share")
    for flip in trust.rank_flips:
        keys = {"axis": flip.first, "next": flip.second}
        for name, value, n in (
            ("order", flip.probability, trust.settings.draws),
            ("order_by_wording", flip.probability_by_wording, CHOICES),
        ):
            if value is not None:
                yield make_figure(measure, name, keys, value, "probability", n, of="share")
