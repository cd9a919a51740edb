"""Tables of how far the figures of Likelihood Bias can be trusted."""

from __future__ import annotations

from collections.abc import Callable

from holisticbias_eval.measures.trust.floors import axes_above_floor
from holisticbias_eval.measures.trust.records import RankFlip, ShareTrust, Trust
from holisticbias_eval.report.numbers import Cell
from holisticbias_eval.report.summary import Summary
from holisticbias_eval.report.tables import AXIS, Column, Table, bias_column, ends
from holisticbias_eval.report.wording import Wording
from holisticbias_eval.statistics.shares import SIGNIFICANCE

TESTS = (
    Column("holm", "Holm", "share"),
    Column("benjamini_hochberg", "Benjamini-Hochberg", "share"),
    Column("wilcoxon", "Paired: Wilcoxon", "share"),
    Column("sign_flip", "Paired: sign flips", "share"),
)
EXPLANATIONS = (
    Column("equal_tokens", "Equal token counts", "share"),
    Column("equal_token_pairs", "Pairs of equal token counts", "count"),
    Column("without_token_count", "Token count regressed out", "share"),
    Column("without_phrase", "Phrase's own likelihood off", "known_share"),
    Column("minus_nonce", "Less the nonce axis", "points"),
    Column("minus_nonce_interval", "95% interval of that", "points_interval"),
)
ROBUSTNESS = (
    Column("leave_one_noun_out", "Leaving one noun out", "interval"),
    Column("leave_one_template_out", "Leaving one template out", "interval"),
    Column("wordings", "One wording of each", "interval"),
    Column("rank", "Rank", "rank"),
    Column("rank_interval", "95% of its ranks", "rank_interval"),
)


def trust_tables(summary: Summary, trust: Trust) -> tuple[Table, ...]:
    """What stands beside the share of every axis, in the order of the report."""
    wording = summary.wording

    def table(
        name: str, caption: str, columns: tuple[Column, ...], row: Callable[[ShareTrust], tuple[Cell, ...]]
    ) -> Table:
        rows = tuple((summary.label(a.axis), a.share, *row(a.trust)) for a in summary.axes if a.trust)
        return Table(name, caption, (AXIS, bias_column(wording), *columns), rows)

    return (
        table("effects", "How large the differences are", _effect_columns(trust, wording), _effects),
        table("tests", "The share by other tests, which say nothing of size", TESTS, _tests),
        table("explanations", "The share with other explanations taken away", EXPLANATIONS, _explanations),
        table(
            "robustness",
            "The range of the share, and of ranks above the floor",
            ROBUSTNESS,
            _robustness(trust),
        ),
    )


def nats_per(trust: Trust, wording: Wording) -> str:
    """What differences in nats are of."""
    return wording.one if trust.nats_per == "sentence" else trust.nats_per


def open_orders(trust: Trust) -> tuple[RankFlip, ...]:
    """The neighbouring axes above their floors whose order is open."""
    above = axes_above_floor(trust)
    return tuple(f for f in trust.rank_flips if f.probability > SIGNIFICANCE and {f.first, f.second} <= {*above})


def _effect_columns(trust: Trust, wording: Wording) -> tuple[Column, ...]:
    return (
        Column("large", "Significant and large", "share"),
        Column("paired_large", "Paired test: significant and large", "known_share"),
        Column("rank_biserial", "Median effect: rank-biserial", "effect"),
        Column("nats", f"Median effect: nats a {nats_per(trust, wording)}", "effect"),
        Column("smallest_significant", "Smallest significant rank-biserial", "effect"),
        Column("detectable", "Detectable rank-biserial", "effect"),
        Column("detectable_nats", "Detectable nats, paired", "effect"),
    )


def _effects(trust: ShareTrust) -> tuple[Cell, ...]:
    effects = trust.effects
    return (
        effects.large, trust.paired.large, effects.rank_biserial, effects.nats, effects.smallest_significant,
        effects.detectable, effects.detectable_nats,
    )  # fmt: skip


def _tests(trust: ShareTrust) -> tuple[Cell, ...]:
    corrected, paired = trust.corrected, trust.paired
    return corrected.holm, corrected.benjamini_hochberg, paired.wilcoxon, paired.sign_flip


def _explanations(trust: ShareTrust) -> tuple[Cell, ...]:
    found = trust.confounds
    return (
        found.equal_tokens, found.equal_token_pairs, found.without_token_count, found.without_phrase,
        found.minus_nonce, ends(found.minus_nonce_interval),
    )  # fmt: skip


def _robustness(trust: Trust) -> Callable[[ShareTrust], tuple[Cell, ...]]:
    above = axes_above_floor(trust)
    ranks = {rank.axis: rank for rank in trust.axis_ranks if rank.axis in above}

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
