"""The results that the site shows: of the registry, of the reference evaluations, and of the user's runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import View
from holisticbias_eval.report.units import model_title
from holisticbias_eval.results.entry import Entry, kept_figures, slug
from holisticbias_eval.results.replacement import same_model
from holisticbias_eval.results.run import RESULT, Result, Run
from holisticbias_eval.results.signature import ModelSignature, Signature

Source = Literal["registry", "reference", "run"]
FOLDER = "models"


def model_key(name: str) -> str:
    """A model's name as part of an address."""
    return slug(name) or sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One measure of a model on a release: its figures by axis, domain or specification, and what they depend on.

    ``labels`` are those of axes and specifications. ``run`` is the user's run, whose answers can be compared.
    """

    model: str
    measure: str
    signature: Signature
    figures: Figures
    labels: Mapping[str, str]
    source: Source
    contributor: str | None = None
    date: str | None = None
    note: str | None = None
    run: Run | None = None

    @property
    def info(self) -> Info:
        """The description of the measure."""
        return MEASURES[self.measure].info

    @property
    def group(self) -> str:
        """The measure and the release, as part of an address: only results of one group compare."""
        return slug(f"{self.measure} on {self.signature.short_name}")

    @property
    def title(self) -> str:
        """The measure and the release."""
        return f"{self.info.title} on {self.signature.title}"

    @property
    def key(self) -> str:
        """The result, as part of an address."""
        return f"{model_key(self.model)}-{self.group}"

    @property
    def model_page(self) -> str:
        """The address of the model's page in the site."""
        return f"{FOLDER}/by-name/{model_key(self.model)}.html"

    @property
    def group_page(self) -> str:
        """The address of the page of all models in this measure on this release."""
        return f"{FOLDER}/by-measure/{self.group}.html"

    def shown(self) -> tuple[Figure, ...]:
        """The headline figures, in order."""
        return self.info.headlines(self.figures)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """All figures of a run, also by term: its model's name, its signature and its figures."""

    model: str
    signature: Signature
    figures: Figures


@dataclass(frozen=True, slots=True)
class Results:
    """The results by measure, release and model, and all runs whose figures by term are known.

    ``references`` says whether reference evaluations are among them, which an installed package lacks.
    """

    measured: tuple[ModelResult, ...] = ()
    runs: tuple[RunFigures, ...] = ()
    references: bool = False


def collect_results(
    entries: Iterable[Entry], references: Iterable[Result], runs: Iterable[Run], labels: Mapping[str, str]
) -> Results:
    """Collect the results of the registry, of reference evaluations and of runs, sorted by measure, release and model.

    ``labels`` are those of axes. A contributed result comes before a reference; a run of a model that the registry
    has is named apart from it.
    """
    entries = tuple(entries)
    registered = [entry.signature.model for entry in entries]
    referenced = [_figures(result, registered) for result in references]
    of_user = [(_figures(run.result, registered), run) for run in runs]
    published = [
        *(_of_entry(entry) for entry in entries),
        *(result for figures in referenced for result in _by_measure(figures, labels, "reference")),
    ]
    kept = {result.key: result for result in reversed(published)}
    for i, (figures, run) in enumerate(of_user, 1):
        of_run = {**labels, **View(figures.figures, run.answers).labels}
        for result in _by_measure(figures, of_run, "run", run):
            named = replace(result, model=f"{result.model} (run {i})") if result.key in kept else result
            kept[named.key] = named
    known = (*referenced, *(figures for figures, _ in of_user))
    by_model = tuple(sorted(known, key=lambda figures: figures.model.lower()))
    return Results(_ordered(kept.values()), by_model, bool(referenced))


def read_references(registry: Path) -> Iterator[Result]:
    """Read the reference evaluations, which are in the folder ``reference`` beside the registry if there are any."""
    for path in sorted((registry.parent / "reference").rglob(RESULT)):
        yield Result.model_validate_json(path.read_bytes())


def _of_entry(entry: Entry) -> ModelResult:
    return ModelResult(
        entry.signature.model.name, entry.measure, entry.signature, Figures(entry.figures), entry.labels, "registry",
        entry.contributor, entry.date, entry.note,
    )  # fmt: skip


def _figures(result: Result, registered: Iterable[ModelSignature]) -> RunFigures:
    """A run under the registry's name of its model, else under the model's own name without folders."""
    model = result.signature.model
    name = next((other.name for other in registered if same_model(model, other)), model_title(model.name))
    return RunFigures(name, result.signature, Figures(result.figures))


def _by_measure(
    run: RunFigures, labels: Mapping[str, str], source: Source, answers: Run | None = None
) -> Iterator[ModelResult]:
    """Every measure of a run that has figures by axis, domain or specification."""
    for measure in run.signature.measures:
        kept = kept_figures(run.figures, MEASURES[measure].info) if measure in MEASURES else ()
        if kept:
            yield ModelResult(run.model, measure, run.signature, Figures(kept), labels, source, run=answers)


def _ordered(results: Iterable[ModelResult]) -> tuple[ModelResult, ...]:
    """Sorted by measure, release and model; results of one group follow each other."""
    order = {measure: i for i, measure in enumerate(MEASURES)}
    return tuple(
        sorted(results, key=lambda r: (order[r.measure], r.signature.release.version, r.group, r.model.lower()))
    )
