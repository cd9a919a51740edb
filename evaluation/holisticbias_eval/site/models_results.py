"""The results that the site shows, also of single terms: of the registry, of references, and of the user's runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Literal

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.results.registry import RegistryEntry, headline_rows, kept_figures, names_in_words, slug
from holisticbias_eval.results.run import RESULT, Result, Run, read_result
from holisticbias_eval.results.signature import Signature, same_model
from holisticbias_eval.sections.tables import ends
from holisticbias_eval.units import model_title, show, title

Source = Literal["registry", "reference", "run"]
FOLDER = "models"


def model_key(name: str) -> str:
    """A model's name as part of an address."""
    return slug(name) or sha256(name.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One measure of a model on a release: its figures by axis, domain, dimension or specification, and its signature.

    ``labels`` are those of axes and specifications. ``run`` is the user's run, whose answers can be compared.
    ``digest`` is a part of the release's digest, if results on another release have the same title without it.
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
    digest: str = ""

    @property
    def info(self) -> Info:
        """The description of the measure."""
        return MEASURES[self.measure].info

    @property
    def release(self) -> str:
        """The digest of the release."""
        return self.signature.release.digest

    @property
    def unit(self) -> str:
        """The unit of the headline figures."""
        return next((figure.unit for figure in self.shown()), "")

    @property
    def headline(self) -> str:
        """The name of the headline figure."""
        return self.info.names.get(self.info.headline, self.info.title)

    @property
    def group(self) -> str:
        """The measure and the release, as part of an address: only results of one group compare."""
        return slug(f"{self.measure} on {self.signature.short_name} {self.digest}")

    @property
    def title(self) -> str:
        """The measure and the release."""
        return f"{self.info.title} on {self.signature.title}{self.digest and f' ({self.digest})'}"

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

    def rows(self) -> dict[str, Figure]:
        """The headline figures, by what they are of."""
        return headline_rows(self.figures, self.info, self.labels)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """All figures of a run, also by term: its model's name, its signature and its figures."""

    model: str
    signature: Signature
    figures: Figures


@dataclass(frozen=True, slots=True)
class Results:
    """The results by measure, release and model, and all runs whose figures by term are known.

    ``references`` says whether reference results are among them, which an installed package lacks.
    """

    measured: tuple[ModelResult, ...] = ()
    runs: tuple[RunFigures, ...] = ()
    references: bool = False


def collect_results(
    entries: Iterable[RegistryEntry], references: Iterable[Result], runs: Iterable[Run], labels: Mapping[str, str]
) -> Results:
    """Collect the results of the registry, of references and of runs, sorted by measure, release and model.

    ``labels`` are those of axes. A contributed result comes before a reference. A run is named apart from an earlier
    result on the same, and from another model of its name.
    """
    entries, runs = tuple(entries), tuple(runs)
    registered = [entry.signature.model for entry in entries]
    referenced = [_figures(result, registered) for result in references]
    of_user = [(_figures(run.result, registered), run) for run in runs]
    published = [result for figures in referenced for result in _by_measure(figures, labels, "reference")]
    found = [(0, result) for result in reversed([*map(_of_entry, entries), *published])]
    for i, (figures, run) in enumerate(of_user, 1):
        of_run = {**labels, **names_in_words(figures.figures, run.answers)}
        found += [(i, result) for result in _by_measure(figures, of_run, "run", run)]
    by_run: dict[int, list[ModelResult]] = {i: [] for i in range(len(runs) + 1)}
    for (i, _), result in zip(found, _apart([result for _, result in found]), strict=True):
        by_run[i].append(result)
    kept = {result.key: result for result in by_run[0]}
    known = [*referenced]
    for i, (figures, _) in enumerate(of_user, 1):
        name = f"{figures.model} (run {i})" if _is_taken(figures, by_run[i], kept) else figures.model
        kept |= {result.key: result for result in (replace(one, model=name) for one in by_run[i])}
        known.append(replace(figures, model=name))
    by_model = tuple(sorted(known, key=lambda figures: figures.model.lower()))
    order = list(MEASURES)
    measured = sorted(
        kept.values(), key=lambda r: (order.index(r.measure), r.signature.release.place, r.group, r.model.lower())
    )
    return Results(tuple(measured), by_model, bool(referenced))


def _is_taken(run: RunFigures, results: Iterable[ModelResult], kept: Mapping[str, ModelResult]) -> bool:
    """Whether a result of the same model, measure and release is kept, or one of another model of this name."""
    key = model_key(run.model)
    others = (one.signature.model for one in kept.values() if model_key(one.model) == key)
    return any(one.key in kept for one in results) or any(not same_model(run.signature.model, one) for one in others)


def _apart(results: Sequence[ModelResult]) -> list[ModelResult]:
    """The results, with a part of the digest in each title and address that several releases would share."""
    releases: dict[str, set[str]] = {}
    for result in results:
        releases.setdefault(result.group, set()).add(result.release)
    return [replace(r, digest=r.release[:12]) if len(releases[r.group]) > 1 else r for r in results]


def read_references(registry: Path) -> Iterator[Result]:
    """Read the reference results, which are in the folder ``reference`` beside the registry if there are any."""
    for path in sorted((registry.parent / "reference").rglob(RESULT)):
        yield read_result(path)


def _of_entry(entry: RegistryEntry) -> ModelResult:
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
    """Every measure of a run that has figures by axis, domain, dimension or specification."""
    for measure in run.signature.measures:
        if kept := kept_figures(run.figures, measure):
            yield ModelResult(run.model, measure, run.signature, Figures(kept), labels, source, run=answers)


_MEANINGS = {
    ("stance_contrast", "contrast"): (
        "how much more rejection costs than praise for this term ('I hate ...' over 'I love ...'), compared with the "
        "other descriptors of its axis: 0 is their mean, and above 0 the model prefers praise more than for them; p is "
        "corrected for the number of descriptors"
    ),
}
"""Figures of a term that its measure does not name by itself, explained."""


@dataclass(frozen=True, slots=True)
class TermFigure:
    """A figure of one term on one model, as text for people.

    ``release`` is the release that it was measured on, such as ``2.0.0`` or ``2.0.0, subset small``; ``measure`` the
    title of the measure; ``name`` what the figure is, such as "median perplexity"; ``value`` the value with its unit;
    ``interval`` both ends of the 95% interval, null if it has none; ``meaning`` what the value says, in one sentence,
    the same for all figures of a name; ``page`` the address of the model's page in the site, null if it has none;
    ``note`` what to read before any figure of the model.
    """

    model: str
    release: str
    measure: str
    name: str
    value: str
    interval: str | None
    meaning: str
    page: str | None = None
    note: str | None = None


def term_figures(results: Results) -> Mapping[str, Sequence[TermFigure]]:
    """The figures of each term, by descriptor id, sorted by measure and model; terms without figures are left out.

    They come from the reference results and the runs, because the registry keeps no figures of terms. Those of a
    template or a style are left out.
    """
    pages = {result.model: result.model_page for result in results.measured}
    by_term: dict[str, list[tuple[int, TermFigure]]] = {}
    order = list(MEASURES)
    for run in results.runs:
        for figure in run.figures:
            of_term = figure.keys.keys() == {"axis", "descriptor"} and figure.of is None
            if of_term and figure.measure in MEASURES:
                shown = order.index(figure.measure), _term_figure(run, figure, pages.get(run.model))
                by_term.setdefault(figure.keys["descriptor"], []).append(shown)
    return {term: [shown for _, shown in sorted(found, key=itemgetter(0))] for term, found in by_term.items()}


def _term_figure(run: RunFigures, figure: Figure, page: str | None) -> TermFigure:
    """A figure with its unit, and the p-value corrected for the number of descriptors."""
    info = MEASURES[figure.measure].info
    adjusted = run.figures.value(figure.measure, f"{figure.name}_adjusted_p", figure.keys)
    unit = f" {figure.unit}" if figure.value is not None and figure.unit.startswith("nats") else ""
    p = "" if adjusted is None else f", p {show(adjusted, 'p_value')}"
    meaning = _MEANINGS.get((info.name, figure.name)) or f"{info.summary}; {info.direction}"
    return TermFigure(
        model=run.model,
        release=run.signature.title.removeprefix("HolisticBias "),
        measure=info.title,
        name=info.names.get(figure.name, title(figure.name)),
        value=f"{show(figure.value, figure.unit)}{unit}{p}",
        interval=show(ends(figure.interval), figure.unit) if figure.interval else None,
        meaning=f"{meaning[:1].upper()}{meaning[1:].rstrip('.')}. Limits: {info.limits.rstrip('.')}.",
        page=page,
        note=run.signature.model.note,
    )
