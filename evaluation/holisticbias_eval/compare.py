"""Two runs side by side, and which of release and model differs between them."""

from __future__ import annotations

from typing import Literal

from holisticbias_eval.measures.comparison import Comparison, compare_scores
from holisticbias_eval.measures.records import Part, TrustSettings
from holisticbias_eval.run import Run, Signature

Differs = Literal["nothing", "release", "model", "release and model"]


class ComparedRuns(Part):
    """What ``holisticbias compare`` gives: both signatures, what differs between the runs, and by how much."""

    first: Signature
    second: Signature
    differs: Differs
    settings: TrustSettings
    comparison: Comparison


def compare_runs(first: Run, second: Run, settings: TrustSettings) -> ComparedRuns:
    """The second run beside the first; ``SelectionError`` where they have no sentence in common."""
    one, other = first.result.signature, second.result.signature
    return ComparedRuns(
        first=one,
        second=other,
        differs=_differs(one, other),
        settings=settings,
        comparison=compare_scores(first.scores, second.scores, settings),
    )


def _differs(one: Signature, other: Signature) -> Differs:
    release = one.release.digest != other.release.digest
    known = one.model.weights_sha256 is not None and other.model.weights_sha256 is not None
    model = one.model.weights_sha256 != other.model.weights_sha256 if known else one.model.name != other.model.name
    if release and model:
        return "release and model"
    return "release" if release else "model" if model else "nothing"
