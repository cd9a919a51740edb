"""Prepare a mitigation: find the methods, the model, the settings to try, and the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holisticbias_eval.corpus.calibration import MANY
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.grid import FILES, grid_points
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.models.loading.load import LoadedModel, find_kind, load_kind
from holisticbias_eval.models.loading.source import find_source
from holisticbias_eval.pipeline.mitigation_corpus import (
    SplitCorpus,
    open_corpus,
    training_groups,
    unknown_terms,
    with_held_out,
)
from holisticbias_eval.pipeline.mitigation_training import Search
from holisticbias_eval.progress import Display
from holisticbias_eval.stereotypes.specifications import read_specification

_ONE_EPOCH: Mapping[str, Any] = {"epochs": 1, "patience": None, "evaluations": 2}
CALIBRATION: Mapping[str, Mapping[str, Any]] = {
    "lmd": {**_ONE_EPOCH, "optimizer": "sgd", "learning_rate": 0.03, "lm_weight": 0.1},
    "add": {**_ONE_EPOCH, "learning_rate": 1e-3},
    "ctda": {**_ONE_EPOCH, "learning_rate": 2e-4, "batch": 16},
    "cada": {**_ONE_EPOCH, "learning_rate": 2e-4},
}
"""The training settings that change the embedded gossip, by method."""
OWN_GRID = "default"
"""The name of the grid of the method itself."""


@dataclass(frozen=True)
class MitigationOptions:
    """Options of a mitigation; a null model, specification or corpus is that of the calibration.

    ``settings`` are the values of ``TrainingSettings`` that the user gives. ``hold_out`` joins the groups that the
    specification holds out; ``groups`` limits the training to these groups. ``first_token`` is what
    precedes each text, see ``first_token.choose_first_token``; responses are trained as they were made.
    """

    model: str | None = None
    specification: str | None = None
    corpus: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: str | None = None
    most_rise: float = 0.05
    hold_out: Sequence[str] = ()
    groups: Sequence[str] = ()
    device: str = "auto"
    first_token: str = AUTO


def find_methods(names: Sequence[str]) -> Sequence[Method]:
    """The methods with these names, each once; raises ``MitigationError`` for an unknown name."""
    unknown = next((name for name in names if name not in METHODS), None)
    if unknown is not None:
        raise MitigationError(f"there is no method {unknown[:80]!r}; available: {', '.join(METHODS)}")
    if not names:
        raise MitigationError(f"no method is named; available: {', '.join(METHODS)}")
    return [METHODS[name] for name in dict.fromkeys(names)]


def load_trainable(name: str, device: str, display: Display) -> LoadedModel:
    """Load a model that can be trained: a causal model with a tokenizer that says where its tokens stand.

    Raises ``ModelError``, and ``MitigationError`` for other models.
    """
    if not find_spec("accelerate"):
        raise MitigationError("training needs more packages: pip install 'holisticbias[mitigation]'")
    if "://" in name:
        raise MitigationError(f"{name[:80]} is behind a server: training needs the weights, as a folder or on the Hub")
    if Path(name).is_file() and find_source(name).file:
        raise MitigationError(f"{name} is a GGUF file, whose quantized weights cannot be trained: give the original")
    kind = find_kind(name)
    if kind != "causal":
        raise MitigationError(f"{name} is a {kind} model: mitigation trains causal models")
    with display.step(f"Loading model {name}"):
        from holisticbias_eval.mitigation.encoding import check_tokenizer

        loaded = load_kind(name, kind, device)
        check_tokenizer(loaded.tokenizer)
    return loaded


def calibration_settings(method: Method, options: MitigationOptions) -> Mapping[str, Any]:
    """The settings of a method that are tuned for the embedded gossip; none beside a grid.

    A learning rate holds for its optimizer: it is left out if the user names another one.
    """
    if options.grid is not None:
        return {}
    tuned = CALIBRATION.get(method.info.name, {})
    optimizer = tuned.get("optimizer", "adamw")
    if options.settings.get("optimizer", optimizer) != optimizer:
        return {name: value for name, value in tuned.items() if name != "learning_rate"}
    return tuned


def search(method: Method, options: MitigationOptions, calibration: Mapping[str, Any]) -> Search:
    """The points that a method is to be trained with; ``default`` is the grid of the method itself.

    The settings of ``calibration`` come before the method's defaults, for a calibration model.
    """
    grid = None
    if options.grid is not None:
        grid = FILES.read(method.info.name if options.grid == OWN_GRID else options.grid)
    points = tuple(grid_points(grid, options.settings, {**method.defaults, **calibration}))
    return Search(points, None if grid is None else grid.id, options.most_rise)


def open_chosen_corpus(
    options: MitigationOptions, loaded: LoadedModel, display: Display
) -> tuple[SplitCorpus, tuple[str, ...]]:
    """The corpus, and the groups that take part in the training."""
    specification = with_held_out(read_specification(options.specification or MANY), options.hold_out)
    groups = training_groups(specification, options.groups)
    if unknown := unknown_terms(specification, loaded.tokenizer):
        display.notice(
            f"the tokenizer cannot write {len(unknown):,} terms of {specification.id} ({', '.join(unknown[:5])}): "
            "what is measured for them says little"
        )
    seed = int(options.settings.get("seed", 0))
    with display.step(f"Reading {options.corpus or 'the invented sentences'}"):
        return open_corpus(options.corpus, specification, seed, display.notice), groups
