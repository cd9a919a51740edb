"""Compare two runs: the change of every measure, and the differences between the runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import P_RESOLUTION, Figure, Figures, Part
from holisticbias_eval.identity import SharedSentences, count_shared
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.results.comparable import not_comparable
from holisticbias_eval.results.replacement import same_model
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import Signature

Difference = Literal["release", "model", "scoring"]


class ComparedRuns(Part):
    """The output of ``holisticbias compare``: both signatures, the differences between the runs, and the changes.

    ``settings_that_differ`` are those of the scoring, by name. ``figures`` are
    the changes of each measure that both runs have; see ``Measure.compare``.
    ``left_out`` has a line for each measure that both have and that cannot be
    compared, with the reason.
    """

    first: Signature
    second: Signature
    differs: tuple[Difference, ...]
    settings_that_differ: tuple[str, ...]
    sentences: SharedSentences
    p_resolution: float = Field(
        P_RESOLUTION, description="read a smaller p_value as below this: simulations do not test the tail further out"
    )
    figures: tuple[Figure, ...]
    left_out: tuple[str, ...] = ()


def compare_runs(first: Run, second: Run) -> ComparedRuns:
    """Compare the second run with the first.

    Raises ``SelectionError`` if they have no measure that can be compared, or no sentence in common.
    """
    one, other = first.result.signature, second.result.signature
    shared = [name for name in one.measures if name in other.measures and name in MEASURES]
    if not shared:
        measures = " and ".join(",".join(s.measures) for s in (one, other))
        raise SelectionError(f"the runs are of different measures, {measures}: compare runs of one measure")
    reasons = {name: not_comparable(name, one, other) for name in shared}
    left_out = tuple(f"{MEASURES[name].info.title} is not compared: {why}" for name, why in reasons.items() if why)
    compared = [name for name, why in reasons.items() if why is None]
    if not compared:
        raise SelectionError(f"the runs cannot be compared. {'; '.join(left_out)}: measure both in the same way")
    sentences = count_shared(first.answers, second.answers)
    differing = _settings_that_differ(one, other)
    found = {
        "release": one.release.digest != other.release.digest,
        "model": not same_model(one.model, other.model),
        "scoring": bool(differing),
    }
    views = _view(first), _view(second)
    return ComparedRuns(
        first=one,
        second=other,
        differs=tuple(name for name in ("release", "model", "scoring") if found[name]),
        settings_that_differ=differing,
        sentences=sentences,
        figures=tuple(figure for name in compared for figure in MEASURES[name].compare(*views)),
        left_out=left_out,
    )


def _view(run: Run) -> View:
    return View(Figures(run.result.figures), run.answers, run.result.signature.measuring)


def _settings_that_differ(one: Signature, other: Signature) -> tuple[str, ...]:
    """The settings of the scoring that differ; the tokenizer is part of the model, not a setting."""
    first, second = ({**s.settings, "dtype": s.model.dtype} for s in (one, other))
    own = set() if same_model(one.model, other.model) else {"tokenizer_sha256"}
    return tuple(name for name in {**first, **second} if name not in own and first.get(name) != second.get(name))
