"""The results that the site shows: of the registry, of the reference evaluations, and of the user's runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Info, View
from holisticbias_eval.report.plain_text import model_title
from holisticbias_eval.results.entry import Entry, kept_figures, slug
from holisticbias_eval.results.replacement import same_model
from holisticbias_eval.results.run import RESULT, Result, Run
from holisticbias_eval.results.signature import ModelSignature, Signature
from holisticbias_eval.site.explored import Explored

Source = Literal["registry", "reference", "run"]
FOLDER = "models"


def model_key(name: str) -> str:
    """A model's name as part of an address."""
    return slug(name) or sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Measured:
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
class Evaluated:
    """All figures of a run by term: its model's name, its signature and its figures."""

    model: str
    signature: Signature
    figures: Figures


@dataclass(frozen=True, slots=True)
class Results:
    """The results by measure, release and model, and all runs whose figures by term are known."""

    measured: tuple[Measured, ...]
    evaluated: tuple[Evaluated, ...]


def results_of(explored: Explored) -> Results:
    """The results that the site shows."""
    labels = {axis.axis: axis.label for axis in explored.catalog.axes}
    return collect_results(explored.entries, explored.references, explored.runs, labels)


def collect_results(
    entries: Iterable[Entry], references: Iterable[Result], runs: Iterable[Run], labels: Mapping[str, str]
) -> Results:
    """Collect the results of the registry, of reference evaluations and of runs, sorted by measure, release and model.

    ``labels`` are those of axes. A contributed result comes before a reference; a run of a model that the registry
    has is named apart from it.
    """
    entries = tuple(entries)
    named = [entry.signature.model for entry in entries]
    referenced = [_evaluated(result, named) for result in references]
    own = [(_evaluated(run.result, named), run) for run in runs]
    found = [
        *(_of_entry(entry) for entry in entries),
        *(m for evaluated in referenced for m in _measured(evaluated, labels, "reference")),
    ]
    kept = {m.key: m for m in reversed(found)}
    for i, (evaluated, run) in enumerate(own, 1):
        of_run = {**labels, **View(evaluated.figures, run.answers).labels}
        for m in _measured(evaluated, of_run, "run", run):
            one = replace(m, model=f"{m.model} (run {i})") if m.key in kept else m
            kept[one.key] = one
    evaluations = (*referenced, *(evaluated for evaluated, _ in own))
    return Results(_ordered(kept.values()), tuple(sorted(evaluations, key=lambda e: e.model.lower())))


def read_references(registry: Path) -> Iterator[Result]:
    """Read the reference evaluations, which are in the folder ``reference`` beside the registry if there are any."""
    for path in sorted((registry.parent / "reference").rglob(RESULT)):
        yield Result.model_validate_json(path.read_bytes())


def _of_entry(entry: Entry) -> Measured:
    return Measured(
        entry.signature.model.name, entry.measure, entry.signature, Figures(entry.figures), entry.labels, "registry",
        entry.contributor, entry.date, entry.note,
    )  # fmt: skip


def _evaluated(result: Result, named: Iterable[ModelSignature]) -> Evaluated:
    """A run under the registry's name of its model, else under the model's own name without folders."""
    model = result.signature.model
    name = next((other.name for other in named if same_model(model, other)), model_title(model.name))
    return Evaluated(name, result.signature, Figures(result.figures))


def _measured(
    evaluated: Evaluated, labels: Mapping[str, str], source: Source, run: Run | None = None
) -> Iterator[Measured]:
    """Every measure of a run that has figures by axis, domain or specification."""
    for measure in evaluated.signature.measures:
        kept = kept_figures(evaluated.figures, MEASURES[measure].info) if measure in MEASURES else ()
        if kept:
            yield Measured(evaluated.model, measure, evaluated.signature, Figures(kept), labels, source, run=run)


def _ordered(found: Iterable[Measured]) -> tuple[Measured, ...]:
    """Sorted by measure, release and model; results of one group follow each other."""
    measures = list(MEASURES)
    return tuple(
        sorted(found, key=lambda m: (measures.index(m.measure), m.signature.release.version, m.group, m.model.lower()))
    )
