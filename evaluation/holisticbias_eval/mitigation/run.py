"""Mitigate: train a model with each method, measure it before and after, and write cards and a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holisticbias.inputs import has_file
from holisticbias.output import refuse_target, write_file
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.card import CARD, model_card
from holisticbias_eval.mitigation.corpus import CorpusLessons
from holisticbias_eval.mitigation.measuring import measure_models, plan_measuring
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.page import mitigation_report, training_report
from holisticbias_eval.mitigation.record import MitigatedModel
from holisticbias_eval.mitigation.responses import ResponseLessons
from holisticbias_eval.mitigation.search import Search, train_lesson
from holisticbias_eval.mitigation.settings import FILES, GridSettings, MeasuringSettings, Needs, grid_points
from holisticbias_eval.models.embedded import GOSSIP, RESPONDER
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.models.loading.load import LoadedModel, find_kind, load_kind
from holisticbias_eval.models.loading.source import find_source
from holisticbias_eval.progress import Display
from holisticbias_eval.records import named_paths
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.run import REPORT
from holisticbias_eval.results.run_sets import BEFORE, MEASURED, find_sets
from holisticbias_eval.settings import Uses, Values, refuse_unused
from holisticbias_eval.tasks.task import Given

OWN_GRID = "default"
"""The name of the grid of the method itself."""


@dataclass(frozen=True, slots=True)
class Mitigated:
    """The trained models, one for each method, and the page that compares them, as data and as a file."""

    models: Sequence[MitigatedModel]
    shown: Report
    page: Path


def mitigation_uses() -> Uses:
    """The settings that each method uses."""
    return {name: method.uses for name, method in METHODS.items()}


@contextmanager
def _kept_if_interrupted(folders: Iterable[Path]) -> Iterator[None]:
    """Say after an interruption how to continue, unless the interruption says it or no training is finished."""
    try:
        yield
    except KeyboardInterrupt as error:
        if str(error) or not any((folder / MITIGATION).is_file() for folder in folders):
            raise
        raise KeyboardInterrupt("finished work is kept; run the same command again to continue") from error


def mitigate(
    names: Sequence[str],
    model: str | None,
    release: str | None,
    values: Values,
    out: Path,
    *,
    display: Display,
    overwrite: bool = False,
) -> Mitigated:
    """Train a model with each method, measure it before and after, and write one page that compares all.

    Without a model each kind of methods has its calibration model: the embedded gossip for sentences, the embedded
    responder for responses. One method writes its folder at ``out``, several write a folder each in it. An interrupted
    call continues when it is made again. ``values`` are the settings that the user gives. Raises ``EvaluationError``.
    """
    methods = find_methods(names)
    refuse_unused(values, mitigation_uses(), names, release)
    needs = [needed for needed in _CALIBRATION if any(method.info.needs == needed for method in methods)]
    given = Given(model, release, values, (), display)
    measured = not given.read(MeasuringSettings).no_measure
    measuring = {needed: plan_measuring(given, needed) for needed in needs} if measured else {}
    if len(measuring) > 1 and model is None and {"measures", "retain", "retain_command"} & set(values):
        raise MitigationError(
            "methods of sentences and of responses have two calibration models: name one --model for both, or "
            "run each kind with --measures, --retain and --retain-command"
        )
    several = len(methods) > 1
    folders = {method: out / method.info.name if several else out for method in methods}
    for folder in folders.values():
        refuse_target(folder, has_file(MITIGATION), named_paths(values))
    shared, models = out if several else out / MEASURED, list[MitigatedModel]()
    with _kept_if_interrupted(folders.values()):
        for needed in needs:
            base = model or _CALIBRATION[needed]
            loaded = load_trainable(base, given.running.device, display)
            lessons = (CorpusLessons if needed == "corpus" else ResponseLessons)(replace(given, model=base), loaded)
            own = {method: folder for method, folder in folders.items() if method.info.needs == needed}
            made = list(_train(lessons, given, own, overwrite=overwrite))
            if measured:
                complete = lessons.measuring(measuring[needed], shared, overwrite=overwrite)
                measure_models(base, made, complete, shared / BEFORE, display, overwrite=overwrite)
            models += made
        return _finish(models, out, shared / BEFORE if measured else None, display)


_CALIBRATION: Mapping[Needs, str] = {"corpus": GOSSIP, "responses": RESPONDER}
"""The calibration model of each kind of methods, by what they need."""


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
        loaded = load_kind(name, kind, device)
        if not getattr(loaded.tokenizer, "is_fast", False):
            raise MitigationError(
                f"{type(loaded.tokenizer).__name__} does not say which characters a token covers: training needs a "
                "fast tokenizer, saved with its tokenizer.json"
            )
    return loaded


def _train(
    lessons: CorpusLessons | ResponseLessons, given: Given, folders: Mapping[Method, Path], *, overwrite: bool
) -> Iterator[MitigatedModel]:
    """Train the model of each method; every grid is read before the first training."""
    searches = {method: _search(method, given, lessons.tuned(method)) for method in folders}
    for method, folder in folders.items():
        lesson = lessons.lesson(method)
        record = train_lesson(lesson, lessons.loaded, searches[method], folder, given.display, overwrite=overwrite)
        if isinstance(lessons, ResponseLessons):
            lessons.keep(lesson, folder)
        yield MitigatedModel(folder, record)


def _search(method: Method, given: Given, tuned: Mapping[str, Any]) -> Search:
    """The points that a method is to be trained with."""
    chosen = given.read(GridSettings)
    name = method.info.name if chosen.grid == OWN_GRID else chosen.grid
    grid = None if name is None else FILES.read(name)
    points = tuple(grid_points(grid, given.values, {**method.defaults, **tuned}))
    return Search(points, None if grid is None else grid.id, chosen.max_perplexity_rise / 100)


def _finish(models: Sequence[MitigatedModel], out: Path, before: Path | None, display: Display) -> Mitigated:
    """Write the model cards and the page; null ``before`` if nothing was measured."""
    for model in models:
        card = model_card(model.record, before, None if before is None else model.after)
        write_file(model.folder / CARD, card.encode())
    records = [model.record for model in models]
    if before is None:
        report = training_report(records)
    else:
        with display.step("Comparing the runs before and after"):
            report = mitigation_report(records, find_sets((out,)))
    return Mitigated(models, report, write_report(report, "html", None, out / REPORT))
