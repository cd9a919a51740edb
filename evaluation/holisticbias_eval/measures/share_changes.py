"""Two tables of scores side by side: what the sentences did to Likelihood Bias, and what the model did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from holisticbias_eval.arrays import Bools
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import P_RESOLUTION, Interval, Part
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.statistics.cells import Crossing, cross
from holisticbias_eval.statistics.clusters import Moved, estimate, moved_by_axis


class Change(Part):
    """How one share of Likelihood Bias changed from the first run to the second, over an axis or (``None``) over all.

    ``gone + changed + model + added`` is the whole change, one step after
    another: sentences of the first run alone are taken out, sentences worded in
    another way are exchanged, the scores of the sentences that both have are
    those of the second run, and its new sentences come in. A figure is missing
    where a share on the way has no pair.
    """

    axis: str | None
    first: float | None
    second: float | None
    gone: float | None = Field(description="what sentences did that only the first run has")
    changed: float | None = Field(description="what sentences did whose text changed")
    added: float | None = Field(description="what sentences did that only the second run has")
    model: float | None = Field(description="what the model did: the difference on the sentences that both have")
    interval: Interval | None = Field(description="95 % interval of it, clustered by stance and by noun")
    p_value: float | None = Field(description="two-sided, of no difference; below 0.05 exactly if interval excludes 0")


class Comparison(Part):
    """Two runs side by side; the sentences are counted by what became of them."""

    common: int = Field(description="sentences of one text in both runs, with a perplexity in both")
    changed: int = Field(description="sentences of one id whose text changed, or that a run has no perplexity for")
    gone: int
    added: int
    nats: float | None = Field(description="mean difference of negative log-likelihood on common sentences, B less A")
    p_resolution: float = Field(
        P_RESOLUTION, description="read a smaller p_value as below this: simulations do not test the tail further out"
    )
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Rows of both tables, those of one sentence at the same place in ``first`` and ``second``."""

    first: pa.Table
    second: pa.Table
    same: Bools


def compare_scores(first: pa.Table, second: pa.Table) -> Comparison:
    """Likelihood Bias of two tables of scored sentences, paired on the sentences that both have.

    Raises ``SelectionError`` where they have none.
    """
    aligned = _align(first, second)
    common = aligned.first.filter(pa.array(aligned.same)), aligned.second.filter(pa.array(aligned.same))
    if not common[0].num_rows:
        raise SelectionError("the two runs have no sentence in common: there is nothing to compare")
    steps = [_shares(t) for t in (first, aligned.first, *common, aligned.second, second)]
    moved = moved_by_axis(*_crossings(*common))
    axes = list(dict.fromkeys([*steps[0], *steps[-1]]))
    return Comparison(
        common=common[0].num_rows,
        changed=int((~aligned.same).sum()),
        gone=first.num_rows - aligned.first.num_rows,
        added=second.num_rows - aligned.second.num_rows,
        nats=pc.mean(pc.subtract(common[1]["nll"], common[0]["nll"])).as_py(),
        changes=tuple(_change(a, [s.get(a) for s in steps], moved.get(a)) for a in axes),
    )


def _crossings(first: pa.Table, second: pa.Table) -> tuple[Crossing, Crossing]:
    """Both tables crossed alike: an older one may lack the columns that say which templates are paraphrases."""
    known = first if "paraphrase_of" in first.column_names else second
    names = [name for name in ("axis", "template", "template_id", "paraphrase_of", "descriptor_id", "noun_id")
             if name in known.column_names]  # fmt: skip
    one, other = (known.select(names).append_column("perplexity", t["perplexity"]) for t in (first, second))
    return cross(one), cross(other)


def _align(first: pa.Table, second: pa.Table) -> _Aligned:
    place = pc.index_in(first["sentence_id"], second["sentence_id"].combine_chunks())
    found = pc.is_valid(place)
    one, other = first.filter(found), second.take(pc.drop_null(place))
    same = pc.equal(one["text"], other["text"]).to_numpy()
    known = ~np.isnan(one["perplexity"].to_numpy()) & ~np.isnan(other["perplexity"].to_numpy())
    return _Aligned(one, other, same & known)


def _shares(scores: pa.Table) -> dict[str | None, float | None]:
    bias = measure_likelihood_bias(scores)
    pairs, significant = (sum(getattr(s, name) for s in bias.by_axis) for name in ("pairs", "significant"))
    return {**{s.axis: s.share for s in bias.by_axis}, None: significant / pairs if pairs else None}


def _change(axis: str | None, steps: list[float | None], moved: Moved | None) -> Change:
    first, kept, common_first, common_second, kept_second, second = steps
    estimated = None if moved is None else estimate(moved)
    return Change(
        axis=axis,
        first=first,
        second=second,
        gone=_less(kept, first),
        changed=_sum(_less(common_first, kept), _less(kept_second, common_second)),
        added=_less(second, kept_second),
        model=_less(common_second, common_first),
        interval=None if estimated is None else estimated.interval,
        p_value=None if estimated is None else estimated.p_value,
    )


def _less(later: float | None, earlier: float | None) -> float | None:
    return None if later is None or earlier is None else later - earlier


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
