"""Compare two runs: whether they can be compared, the change of every measure, and how the runs differ."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import P_RESOLUTION, Figure, Figures, Part
from holisticbias_eval.identity import SharedSentences, count_shared
from holisticbias_eval.measures import MEASURES, compared_columns
from holisticbias_eval.measures.measure import Measure, View
from holisticbias_eval.prompts.sentences import UNIQUE
from holisticbias_eval.results.run import Run, read_run
from holisticbias_eval.results.signature import Signature, judging_settings, same_model

_RESAMPLING = frozenset(
    {"seed", "draws", "permutations", "flips", "intervals", "interval", "tests", "test", "floor", "standard_deviation"}
)
"""Parameters of a measure on which intervals and p-values depend, but no value."""
_TURN = re.compile(r"begins the (\w+)'s turn")


def not_comparable(name: str, first: Signature, second: Signature) -> str | None:
    """The reasons why a measure's figures of two runs are not about the same thing; ``None`` without any.

    Likelihoods need the same conditions: the first token counted in both or in neither, the same context and chat role,
    and with one model the same token in front and the same pseudo-log-likelihood. Pairs need the same mode. Judged
    texts need the same part of the text, the same classifier, and the same parameters of the measure, such as a
    threshold.
    """
    measure, reasons = MEASURES[name], list[str]()
    if measure.needs.compared == "scoring":
        reasons += _scoring(first.settings, second.settings, same=same_model(first.model, second.model))
    if measure.needs.compared == "judging":
        reasons += _judging(measure, first, second)
    return "; ".join(reasons) or None


def not_beside(name: str, signed: Sequence[tuple[str, Signature]]) -> str:
    """A sentence for each model whose figures of a measure do not compare with the first model's; empty without one."""
    (first, one), *others = signed
    found = ((model, not_comparable(name, one, other)) for model, other in others)
    return " ".join(f"{model} (B) does not compare with {first} (A): {reason}." for model, reason in found if reason)


def _scoring(first: Mapping[str, str], second: Mapping[str, str], *, same: bool) -> Iterator[str]:
    modes = first.get("pair_mode"), second.get("pair_mode")
    if modes[0] != modes[1]:
        yield f"pairs are scored with --mode {modes[0]} in A and with --mode {modes[1]} in B"
    elif modes[0] != "choice":  # which asks each model in its own chat template
        yield from _conditions(first, second, same=same)


def _conditions(first: Mapping[str, str], second: Mapping[str, str], *, same: bool) -> Iterator[str]:
    tokens = [s.get("first_token", "") for s in (first, second)]
    counted = [not token.startswith("not counted") for token in tokens]
    roles = [_role(s.get("chat", "")) for s in (first, second)]
    if counted[0] != counted[1]:
        yield f"the first token of a text is counted in {'A' if counted[0] else 'B'} alone"
    elif same and len({",".join(token.split(",")[:2]) for token in tokens}) > 1:  # without the reason for them
        yield "the first token of a text stands after different tokens"
    if roles[0] != roles[1]:
        yield f"texts are scored {_as_turn(roles[0])} in A and {_as_turn(roles[1])} in B"
    if first.get("context") != second.get("context"):
        yield "the contexts differ"
    if same and "pll" in first and "pll" in second and first["pll"] != second["pll"]:
        yield "pseudo-log-likelihoods are computed in different ways"


def _role(chat: str) -> str:
    """The role whose turn a text begins; empty without a chat template."""
    turn = _TURN.search(chat)
    return turn[1] if turn else chat


def _as_turn(role: str) -> str:
    return f"as the beginning of a turn ({role})" if role else "as plain texts"


def _judging(measure: Measure, first: Signature, second: Signature) -> Iterator[str]:
    both = (first, second)
    parts = [_said_part(s.generation["measured_part"]) for s in both if "measured_part" in s.generation]
    if len(set(parts)) > 1:
        yield f"the part of a text that is measured is {parts[0]} in A and {parts[1]} in B"
    first_judges, second_judges = (_judges(measure, s) for s in both)
    if first_judges and second_judges and not _same_judges(first_judges, second_judges):
        yield "the classifiers differ"
    one, other = (s.measuring.get(measure.info.name, {}) for s in both)
    differing = [key for key in one if key in other and key not in _RESAMPLING and one[key] != other[key]]
    if differing:
        yield f"the measure's parameters differ ({', '.join(differing).replace('_', ' ')})"


def _said_part(part: str) -> str:
    return part if part.startswith("the ") else f"{part!r} (--measured)"


def _judges(measure: Measure, signature: Signature) -> Mapping[str, Mapping[str, str]]:
    """The classifiers of a run that this measure can read, each with what its probabilities depend on."""
    return {
        name: judging_settings(about)
        for name, about in signature.classifiers.items()
        if about.get("task") in measure.judges
    }


def _same_judges(first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the classifiers are the same, as far as both runs record what they depend on."""
    return first.keys() == second.keys() and all(
        second[name].get(key, value) == value for name, about in first.items() for key, value in about.items()
    )


_OF_MODEL = ("tokenizer_sha256", "config_sha256", "end_tokens", "decoder_reads_first")
"""Settings that are read from the files of a model."""
_Part = Literal["release", "model", "scoring"]


class ComparedRuns(Part):
    """The output of ``holisticbias compare``: both signatures, the differences between the runs, and the changes.

    ``settings_that_differ`` are those of the scoring, by name. ``figures`` are
    the changes of each measure that both runs have; see ``Measure.compare``.
    ``left_out`` has a line for each measure that both have and that cannot be
    compared, with the reason.
    """

    first: Signature
    second: Signature
    differs: tuple[_Part, ...]
    settings_that_differ: tuple[str, ...]
    sentences: SharedSentences
    p_resolution: float = Field(
        P_RESOLUTION, description="read a smaller p_value as below this: simulations do not test the tail further out"
    )
    figures: tuple[Figure, ...]
    left_out: tuple[str, ...] = ()


def read_two_runs(first: Path, second: Path) -> tuple[Run, Run]:
    """Read two runs with the columns that comparing them uses; ``RunError`` if one is damaged."""
    one, other = (read_run(folder, compared_columns) for folder in (first, second))
    if None in (compared_columns(run.result.signature.measures) for run in (one, other)):
        return one, other
    answers = number_equal_texts(one.answers, other.answers)
    one, other = (replace(run, answers=own) for run, own in zip((one, other), answers, strict=True))
    return one, other


def number_equal_texts(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Replace the ids and texts that both tables have in the same rows by the numbers of the rows.

    A comparison only asks which of them are equal, and they take more memory than all other columns.
    """
    rows = pa.array(np.arange(first.num_rows, dtype=np.int32))
    for name in {*UNIQUE} & {*first.column_names} & {*second.column_names}:
        if first[name].equals(second[name]):
            first, second = (t.set_column(t.column_names.index(name), name, rows) for t in (first, second))
    return first, second


def compare_runs(first: Run, second: Run) -> ComparedRuns:
    """Compare the second run with the first.

    Raises ``SelectionError`` if they have no measure that can be compared, or no sentence in common.
    """
    one, other = (run.result.signature for run in (first, second))
    shared = [name for name in one.measures if name in other.measures and name in MEASURES]
    if not shared:
        unknown = [name for name in one.measures if name in other.measures]
        if unknown:
            raise SelectionError(f"this version of holisticbias does not have the measure {unknown[0]}: update it")
        measures = " and ".join(", ".join(s.measures) for s in (one, other))
        raise SelectionError(f"the runs are of different measures, {measures}: compare runs of one measure")
    reasons = {name: not_comparable(name, one, other) for name in shared}
    left_out = tuple(f"{MEASURES[name].info.title} is not compared: {why}" for name, why in reasons.items() if why)
    if all(reasons.values()):
        raise SelectionError(f"the runs cannot be compared. {'; '.join(left_out)}: measure both in the same way")
    sentences = count_shared(first.answers, second.answers)
    settings = _settings_that_differ(one, other)
    differs: dict[_Part, bool] = {
        "release": one.release.digest != other.release.digest,
        "model": not same_model(one.model, other.model),
        "scoring": bool(settings),
    }
    views = [View(Figures(r.result.figures), r.answers, r.result.signature.measuring) for r in (first, second)]
    return ComparedRuns(
        first=one,
        second=other,
        differs=tuple(name for name, found in differs.items() if found),
        settings_that_differ=settings,
        sentences=sentences,
        figures=tuple(f for name, why in reasons.items() if why is None for f in MEASURES[name].compare(*views)),
        left_out=left_out,
    )


def _settings_that_differ(one: Signature, other: Signature) -> tuple[str, ...]:
    """The settings of the answers that differ, as far as both runs record the files of the model and the classifiers.

    What is read from a model's files is part of the model: it is not listed for another one.
    """
    first, second = ({**s.settings, "dtype": s.model.dtype} for s in (one, other))
    is_same = same_model(one.model, other.model)
    left_out = {name for name in _OF_MODEL if not (is_same and name in first and name in second)}
    for name in one.classifiers.keys() & other.classifiers.keys():
        judges = [{name: judging_settings(s.classifiers[name])} for s in (one, other)]
        if _same_judges(*judges):
            left_out.add(f"classifier {name}")
    return tuple(name for name in {**first, **second} if name not in left_out and first.get(name) != second.get(name))
