"""Tables of how far the figures of Likelihood Bias can be trusted."""

from __future__ import annotations

from collections.abc import Callable

from holisticbias_eval.measures.records import ShareTrust, Trust
from holisticbias_eval.report.numbers import Cell
from holisticbias_eval.report.tables import AXIS, Column, Table, ends

BIAS = Column("likelihood_bias", "Likelihood Bias", "share")


def trust_tables(trust: Trust, label: Callable[[str | None], str]) -> tuple[Table, ...]:
    """What stands beside the share of every axis, in the order in which the figures stand."""
    return (
        _table(
            trust,
            label,
            "tests",
            "The same share by other tests, and how large the differences are",
            (
                Column("holm", "Holm", "share"),
                Column("benjamini_hochberg", "Benjamini-Hochberg", "share"),
                Column("wilcoxon", "Paired: Wilcoxon", "share"),
                Column("sign_flip", "Paired: sign flips", "share"),
                Column("large", "Significant and large", "share"),
                Column("rank_biserial", "Effect: rank-biserial", "effect"),
                Column("nats", f"Effect: nats a {trust.nats_per}", "effect"),
                Column("smallest_significant", "Smallest significant", "effect"),
                Column("detectable", "Detectable", "effect"),
            ),
            _tests,
        ),
        _table(
            trust,
            label,
            "explanations",
            "The same share with other explanations taken away",
            (
                Column("equal_tokens", "Equal token counts", "share"),
                Column("equal_token_pairs", "Such pairs", "count"),
                Column("without_token_count", "Token count regressed out", "share"),
                Column("without_phrase", "Phrase's own likelihood off", "known_share"),
                Column("minus_nonce", "Less the nonce axis", "points"),
                Column("minus_nonce_interval", "95% interval of that", "points_interval"),
            ),
            _explanations,
        ),
        _table(
            trust,
            label,
            "robustness",
            "The range of the share, and of the axis's rank",
            (
                Column("leave_one_noun_out", "Leaving one noun out", "interval"),
                Column("leave_one_template_out", "Leaving one template out", "interval"),
                Column("wordings", "One wording of each", "interval"),
                Column("rank", "Rank", "count"),
                Column("rank_interval", "95% of its ranks", "count_interval"),
            ),
            _robustness(trust),
        ),
    )


def _table(
    trust: Trust,
    label: Callable[[str | None], str],
    name: str,
    caption: str,
    columns: tuple[Column, ...],
    row: Callable[[ShareTrust], tuple[Cell, ...]],
) -> Table:
    rows = tuple((label(t.axis), t.share, *row(t)) for t in trust.by_axis)
    return Table(name, caption, (AXIS, BIAS, *columns), rows)


def _tests(trust: ShareTrust) -> tuple[Cell, ...]:
    corrected, paired, effects = trust.corrected, trust.paired, trust.effects
    return (
        corrected.holm, corrected.benjamini_hochberg, paired.wilcoxon, paired.sign_flip, effects.large,
        effects.rank_biserial, effects.nats, effects.smallest_significant, effects.detectable,
    )  # fmt: skip


def _explanations(trust: ShareTrust) -> tuple[Cell, ...]:
    found = trust.confounds
    return (
        found.equal_tokens, found.equal_token_pairs, found.without_token_count, found.without_phrase,
        found.minus_nonce, ends(found.minus_nonce_interval),
    )  # fmt: skip


def _robustness(trust: Trust) -> Callable[[ShareTrust], tuple[Cell, ...]]:
    ranks = {rank.axis: rank for rank in trust.axis_ranks}

    def row(found: ShareTrust) -> tuple[Cell, ...]:
        ranges = found.robustness
        rank = ranks.get(found.axis or "")
        return (
            ends(ranges.leave_one_noun_out) if ranges else None,
            ends(ranges.leave_one_template_out) if ranges else None,
            ends(ranges.wordings) if ranges else None,
            *((rank.rank, (rank.low, rank.high)) if rank else (None, None)),
        )

    return row
