"""Two tables of scores side by side: what the sentences did to Likelihood Bias, and what the model did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.cells import Crossing, cross
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.measures.records import Interval, Part, TrustSettings
from holisticbias_eval.measures.resampling import expansion, noun_draws, significant_when_weighted

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    interval: Interval | None = Field(description="95 % interval of it, drawing the same nouns and stances for both")
    p_value: float | None = Field(description="two-sided, of no difference on those sentences, from the same draws")
    flip: float | None = Field(description="how often over the draws the order of the two is the other way round")


class Comparison(Part):
    """Two runs side by side; the sentences are counted by what became of them."""

    common: int = Field(description="sentences of one text in both runs, with a perplexity in both")
    changed: int = Field(description="sentences of one id whose text changed, or that a run has no perplexity for")
    gone: int
    added: int
    nats: float | None = Field(description="mean difference of negative log-likelihood on common sentences, B less A")
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Rows of both tables, those of one sentence at the same place in ``first`` and ``second``."""

    first: pa.Table
    second: pa.Table
    same: npt.NDArray[np.bool_]


def compare_scores(first: pa.Table, second: pa.Table, settings: TrustSettings | None = None) -> Comparison:
    """Likelihood Bias of two tables of scored sentences, paired on the sentences that both have.

    Raises ``SelectionError`` where they have none.
    """
    settings = settings or TrustSettings()
    aligned = _align(first, second)
    common = aligned.first.filter(pa.array(aligned.same)), aligned.second.filter(pa.array(aligned.same))
    if not common[0].num_rows:
        raise SelectionError("the two runs have no sentence in common: there is nothing to compare")
    steps = [_shares(t) for t in (first, aligned.first, *common, aligned.second, second)]
    drawn = _drawn_differences(*common, settings)
    axes = list(dict.fromkeys([*steps[0], *steps[-1]]))
    return Comparison(
        common=common[0].num_rows,
        changed=int((~aligned.same).sum()),
        gone=first.num_rows - aligned.first.num_rows,
        added=second.num_rows - aligned.second.num_rows,
        nats=pc.mean(pc.subtract(common[1]["nll"], common[0]["nll"])).as_py(),
        changes=tuple(_change(a, [s.get(a) for s in steps], drawn.get(a)) for a in axes),
    )


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


def _change(axis: str | None, steps: list[float | None], drawn: Floats | None) -> Change:
    first, kept, common_first, common_second, kept_second, second = steps
    model = _less(common_second, common_first)
    moved = None
    if drawn is not None and model is not None and not np.isnan(drawn).any():
        moved = drawn + model
    return Change(
        axis=axis,
        first=first,
        second=second,
        gone=_less(kept, first),
        changed=_sum(_less(common_first, kept), _less(kept_second, common_second)),
        added=_less(second, kept_second),
        model=model,
        interval=None if moved is None else _interval(moved),
        p_value=None if moved is None else _p_value(moved),
        flip=None if moved is None or not model else float((np.sign(moved) == -np.sign(model)).mean()),
    )


def _less(later: float | None, earlier: float | None) -> float | None:
    return None if later is None or earlier is None else later - earlier


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _interval(values: Floats) -> Interval:
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))


def _p_value(values: Floats) -> float:
    """How often the draws cross zero, both sides, the share observed counted among them so that it is never 0."""
    sides = (values <= 0).sum(), (values >= 0).sum()
    return float(min(1.0, 2 * (min(sides) + 1) / (len(values) + 1)))


def _drawn_differences(first: pa.Table, second: pa.Table, settings: TrustSettings) -> dict[str | None, Floats]:
    """How the second's share less the first's varies over draws of nouns and stances, the same for both.

    Around a mean of 0, and spread by ``expansion``.
    """
    crossings = cross(first), cross(second)
    rng = np.random.default_rng(settings.seed)
    nouns = noun_draws(len(crossings[0].nouns), settings.draws, rng)
    stances = noun_draws(len(crossings[0].stances), settings.draws, rng)
    one, other = (_drawn_shares(c, nouns, stances) for c in crossings)
    spread = expansion(len(crossings[0].stances))
    return {axis: spread * (moved - moved.mean()) for axis in one for moved in [other[axis] - one[axis]]}


def _drawn_shares(crossing: Crossing, nouns: Ints, stances: Ints) -> dict[str | None, Floats]:
    places = {s: i for i, s in enumerate(crossing.stances)}
    counts: dict[str | None, Ints] = {a: np.zeros((2, len(nouns)), np.int64) for a in (None, *crossing.axes)}
    for cell in crossing.cells:
        drawn = np.stack(significant_when_weighted(cell.perplexity, nouns)) * stances[:, places[cell.stance]]
        counts[cell.axis] += drawn
        counts[None] += drawn
    with np.errstate(invalid="ignore", divide="ignore"):
        return {axis: significant / tested for axis, (significant, tested) in counts.items()}
