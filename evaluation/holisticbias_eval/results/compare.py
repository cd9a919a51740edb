"""Two runs side by side, and what differs between them besides their figures."""

from __future__ import annotations

from typing import Literal

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Part
from holisticbias_eval.measures.share_changes import Comparison, compare_scores
from holisticbias_eval.results.differences import same_model
from holisticbias_eval.results.run import Run, Signature

Difference = Literal["release", "model", "scoring"]


class ComparedRuns(Part):
    """What ``holisticbias compare`` gives: both signatures, what differs between the runs, and by how much.

    ``settings_that_differ`` are those of the scoring, by name.
    """

    first: Signature
    second: Signature
    differs: tuple[Difference, ...]
    settings_that_differ: tuple[str, ...]
    comparison: Comparison


def compare_runs(first: Run, second: Run) -> ComparedRuns:
    """The second run beside the first.

    Raises ``SelectionError`` where they are of different measures, or have no sentence in common.
    """
    one, other = first.result.signature, second.result.signature
    if one.measures != other.measures:
        measures = " and ".join(",".join(s.measures) for s in (one, other))
        raise SelectionError(f"the runs are of different measures, {measures}: compare runs of one measure")
    differing = _settings_that_differ(one, other)
    found = {
        "release": one.release.digest != other.release.digest,
        "model": not same_model(one.model, other.model),
        "scoring": bool(differing),
    }
    return ComparedRuns(
        first=one,
        second=other,
        differs=tuple(name for name in ("release", "model", "scoring") if found[name]),
        settings_that_differ=differing,
        comparison=compare_scores(first.scores, second.scores),
    )


def _settings_that_differ(one: Signature, other: Signature) -> tuple[str, ...]:
    """The settings of the scoring that are not the same; models have tokenizers of their own, which is no setting."""
    first, second = ({**s.scoring, "dtype": s.model.dtype} for s in (one, other))
    own = set() if same_model(one.model, other.model) else {"tokenizer_sha256"}
    return tuple(name for name in {**first, **second} if name not in own and first.get(name) != second.get(name))
