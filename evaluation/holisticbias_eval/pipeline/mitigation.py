"""Mitigate a model from end to end: prepare, train each method, measure before and after, and write the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holisticbias.output import write_file
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.grid import FILES, grid_points
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.models.embedded.gossip import GOSSIP, MANY
from holisticbias_eval.models.kinds import find_kind, load_kind
from holisticbias_eval.models.loading import LoadedModel
from holisticbias_eval.models.source import find_source
from holisticbias_eval.pipeline.mitigation_card import CARD, model_card
from holisticbias_eval.pipeline.mitigation_corpus import (
    SplitCorpus,
    corpus_lesson,
    open_corpus,
    training_groups,
    unknown_terms,
    with_held_out,
)
from holisticbias_eval.pipeline.mitigation_measuring import Measuring, check_measuring, measure_model
from holisticbias_eval.pipeline.mitigation_training import Search, train_lesson
from holisticbias_eval.progress import Display
from holisticbias_eval.report.mitigation import training_report
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.mitigation import AFTER, BEFORE, MEASURED, Mitigation
from holisticbias_eval.results.run import REPORT
from holisticbias_eval.stereotypes.specifications import read_specification

OWN_GRID = "default"
"""The name of the grid of the method itself."""


@dataclass(frozen=True)
class MitigationOptions:
    """What to mitigate in which model, and how; null values are those of the calibration.

    ``settings`` are the values of ``TrainingSettings`` that the user gives. ``hold_out`` joins the groups that the
    specification holds out; ``groups`` limits the training to these groups.
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


@dataclass(frozen=True, slots=True)
class MitigatedModel:
    """The folder of a trained model, and its record."""

    folder: Path
    record: Mitigation


@dataclass(frozen=True, slots=True)
class Mitigated:
    """The trained models, one for each method, and the page that compares them, as data and as a file."""

    models: Sequence[MitigatedModel]
    report: Report
    page: Path


def mitigate(
    names: Sequence[str],
    options: MitigationOptions,
    measuring: Measuring | None,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method, measure it before and after, and write a page that compares both.

    One method writes its folder at ``out``, several write a folder each in it. An interrupted call continues when it
    is made again. ``measuring`` is null if nothing is to be measured. Raises ``EvaluationError``.
    """
    methods = find_methods(names)
    if measuring is not None:
        check_measuring(measuring)
    loaded = load_trainable(options.model or GOSSIP, options.device, display)
    corpus, groups = _open(options, loaded, display)
    models = []
    for method, folder in _placed(methods, out):
        lesson = corpus_lesson(method, corpus, corpus.specification, groups, loaded.tokenizer)
        display.notice(f"{method.info.title}: {lesson.texts.num_rows:,} texts to train on")
        record = train_lesson(lesson, loaded, search(method, options), folder, display, overwrite=overwrite)
        models.append(MitigatedModel(folder, record))
    if measuring is not None:
        with continued_if_interrupted("the trained models are kept"):
            _measure(models, options, corpus, measuring, out, display)
    return _finished(models, out, measured=measuring is not None)


def _placed(methods: Sequence[Method], out: Path) -> Sequence[tuple[Method, Path]]:
    """The folder of each method."""
    return [(method, out if len(methods) == 1 else out / method.info.name) for method in methods]


def _measure(
    models: Sequence[MitigatedModel],
    options: MitigationOptions,
    corpus: SplitCorpus,
    measuring: Measuring,
    out: Path,
    display: Display,
) -> None:
    place = _shared(models, out)
    test_set = corpus.test_set(place / "split")
    measure_model(options.model or GOSSIP, test_set, measuring, place / BEFORE, display)
    for model in models:
        measure_model(str(model.folder), test_set, measuring, model.folder / MEASURED / AFTER, display)


def _shared(models: Sequence[MitigatedModel], out: Path) -> Path:
    """The folder of what all models share: within that of a single model, beside those of several."""
    return out if len(models) > 1 else out / MEASURED


def _finished(models: Sequence[MitigatedModel], out: Path, *, measured: bool) -> Mitigated:
    """Write the model cards and the page."""
    before = _shared(models, out) / BEFORE if measured else None
    for model in models:
        after = model.folder / MEASURED / AFTER if measured else None
        write_file(model.folder / CARD, model_card(model.record, before, after).encode())
    report = training_report([model.record for model in models])
    return Mitigated(models, report, write_report(report, "html", None, out / REPORT))


@contextmanager
def continued_if_interrupted(kept: str) -> Iterator[None]:
    """Add to an interruption what is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{kept}; run the same command again to continue") from error


def find_methods(names: Sequence[str]) -> Sequence[Method]:
    """The methods with these names, each once; raises ``MitigationError`` for an unknown name."""
    unknown = next((name for name in names if name not in METHODS), None)
    if unknown is not None:
        raise MitigationError(f"there is no method {unknown[:80]!r}; available: {', '.join(METHODS)}")
    return [METHODS[name] for name in dict.fromkeys(names)]


def load_trainable(name: str | None, device: str, display: Display) -> LoadedModel:
    """Load a model that can be trained: a causal model with weights of its own in floating-point numbers.

    Raises ``ModelError``, and ``MitigationError`` for other models.
    """
    if not find_spec("accelerate"):
        raise MitigationError("training needs more packages: pip install 'holisticbias[mitigation]'")
    if name is not None and "://" in name:
        raise MitigationError(f"{name[:80]} is behind a server: training needs the weights, as a folder or on the Hub")
    if name is not None and Path(name).is_file() and find_source(name).file:
        raise MitigationError(f"{name} is a GGUF file, whose quantized weights cannot be trained: give the original")
    kind = find_kind(name)
    if kind != "causal":
        raise MitigationError(f"{name} is a {kind} model: mitigation trains causal models")
    with display.step(f"Loading model {name}"):
        return load_kind(name, kind, device)


def search(method: Method, options: MitigationOptions) -> Search:
    """The points that a method is to be trained with; ``default`` is the grid of the method itself."""
    grid = None
    if options.grid is not None:
        grid = FILES.read(method.info.name if options.grid == OWN_GRID else options.grid)
    points = tuple(grid_points(grid, options.settings, method.defaults))
    return Search(points, None if grid is None else grid.id, options.most_rise)


def _open(options: MitigationOptions, loaded: LoadedModel, display: Display) -> tuple[SplitCorpus, tuple[str, ...]]:
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
