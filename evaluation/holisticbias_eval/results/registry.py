"""The registry of results: one file for each model, release and measure, contributed and checked like the terms."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pyarrow as pa
from pydantic import Field, ValidationError

from holisticbias import build_release
from holisticbias.errors import SourceError, UnknownVersionError
from holisticbias.inputs import require_file
from holisticbias.output import write_files
from holisticbias.source.folder import find_source
from holisticbias.source.schema_messages import first_fault
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.grammar import distinct_name
from holisticbias_eval.errors import RegistryError
from holisticbias_eval.figures import Figure, Figures, Part
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.perplexities.dimensions import said_dimension
from holisticbias_eval.models.embedded import SHIPPED
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.named_files import data_folders
from holisticbias_eval.records import record_json
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import ReleaseSignature, SchemaVersion, Signature, same_model
from holisticbias_eval.sections.tables import ends
from holisticbias_eval.units import is_path, title

_PUBLIC_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEPT = (("axis",), ("specification",), ("dimension", "scale"))
KEPT_BY = "axis, domain, dimension or specification"
_LARGEST = 16_000_000  # bytes of an entry

# the digest of a published version, or of its subset of this name; None if it does not exist
Published = Callable[[str, str | None], str | None]


class RegistryEntry(Part):
    """A file of ``evaluation/results/``."""

    schema_version: SchemaVersion = 2
    contributor: str = Field(min_length=1, description="who made the run")
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    note: str | None = None
    signature: Signature
    measure: str = Field(min_length=1)
    labels: dict[str, str] = Field(description="the label of each axis or specification")
    figures: tuple[Figure, ...] = Field(min_length=1)

    @property
    def file_name(self) -> str:
        """The name that its file must have."""
        release = self.signature.short_name
        return f"{slug(self.signature.model.name)}-on-{slug(release)}-{slug(self.measure)}.json"


def make_entries(run: Run, contributor: str, date: str, name: str | None) -> tuple[RegistryEntry, ...]:
    """Make an entry for each measure of a run that gives a figure for each axis, domain or specification.

    ``name`` is the public name of a model that the run loaded from a folder.
    """
    signature = run.result.signature
    model = signature.model.model_copy(update={"name": name} if name else {})
    if is_path(model.name) or (name is None and _is_local(model)):
        raise RegistryError(f"{model.name} is a folder on one machine: give the model's public name with --name")
    figures = Figures(run.result.figures)
    labels = names_in_words(figures, run.answers)
    made = []
    for measure in signature.measures:
        if kept := kept_figures(figures, measure):
            parameters = {k: v for k, v in signature.measuring.items() if k == measure}
            own = {"model": model, "measures": (measure,), "measuring": parameters}
            named = {name for figure in kept for name in figure.keys.values()}
            made.append(
                RegistryEntry(
                    contributor=contributor,
                    date=date,
                    signature=signature.model_copy(update=own),
                    measure=measure,
                    labels={name: label for name, label in labels.items() if name in named},
                    figures=tuple(kept),
                )
            )
    if not made:
        raise RegistryError(f"the registry keeps figures by {KEPT_BY}, and this run has none")
    return tuple(made)


def kept_figures(figures: Figures, measure: str) -> list[Figure]:
    """The figures of a measure that the registry keeps: by axis, domain, dimension or specification."""
    if measure not in MEASURES:
        return []
    info = MEASURES[measure].info
    if info.by not in _KEPT and "domain" not in info.by:
        return []
    return [figure for name in (info.headline, *info.beside) for figure in info.headlines(figures, name)]


def names_in_words(figures: Figures, answers: pa.Table) -> dict[str, str]:
    """The label of each axis, domain and specification of a run."""
    view = View(figures, answers)
    return view.labels | view.labels_of("specification", "label")


def headline_rows(figures: Figures, info: Info, labels: Mapping[str, str], name: str = "") -> dict[str, Figure]:
    """The headline figures of a measure, or those of another name, by what they are of."""
    return {_row_label(figure, labels): figure for figure in info.headlines(figures, name)}


def _row_label(figure: Figure, labels: Mapping[str, str]) -> str:
    """The keys of a headline figure in words, which no other figure of its measure has."""
    parts = (
        labels.get(value) or title(said_dimension(value) if key == "dimension" else value)
        for key, value in figure.keys.items()
    )
    return ", ".join(parts) or "All"


def _is_local(model: ModelSignature) -> bool:
    """Whether a run loaded its model from a folder or a file: the Hub gives a revision, and a server no weights."""
    return model.weights_sha256 is not None and model.revision is None and model.name not in SHIPPED


def slug(name: str) -> str:
    """A name in lower-case letters, digits, dots and hyphens."""
    return distinct_name(name.lower(), "a-z0-9.", "-").strip("-.")


def add_entries(entries: Sequence[RegistryEntry], folder: Path, published: Published) -> list[Path]:
    """Write entries to the registry in a folder, all or none, and return their paths.

    Raises ``RegistryError`` for an entry that the registry does not accept, or if
    its file is the entry of another model.
    """
    paths = {folder / entry.file_name: entry for entry in entries}
    for path, entry in paths.items():
        for message in _check(path, entry, published):
            raise RegistryError(f"the registry does not accept this run: {message}")
        with suppress(OSError, ValidationError):  # the file is missing, or --check reports it
            old = RegistryEntry.model_validate_json(path.read_bytes())
            if not same_model(old.signature.model, entry.signature.model):
                raise RegistryError(f"{path} is the entry of another model: choose another --name")
    write_files({path: record_json(entry) for path, entry in paths.items()})
    return list(paths)


def results_folder() -> Path | None:
    """The registry in the clone of the repository at or above the current folder."""
    with suppress(SourceError):
        folder = find_source(to_write=True) / "evaluation" / "results"
        return folder if folder.is_dir() else None
    return None


def registry_folder(folder: Path | None) -> Path:
    """The given folder, else the registry of the current clone, else the registry of the package."""
    installed, cloned = data_folders("results")
    return folder or results_folder() or (installed if installed.is_dir() else cloned)


def published_digests(catalog: Catalog) -> Published:
    """Look up the digests of published releases, and compile their subsets to get theirs."""
    digests = {release.version: release.digest for release in catalog.releases if release.digest}

    @cache
    def digest_of(version: str, subset: str | None) -> str | None:
        if version not in digests or subset is None:
            return digests.get(version)
        try:
            return build_release(catalog, version, subset).digest
        except UnknownVersionError:
            return None

    return digest_of


def read_registry(folder: Path | None, published: Published) -> tuple[tuple[RegistryEntry, ...], tuple[str, ...]]:
    """Read the entries of a folder, by default of the project, and their problems, each with its file.

    Raises ``RegistryError`` if there is no such folder.
    """
    place = registry_folder(folder)
    if not place.is_dir():
        raise RegistryError(f"{place} is not a folder of results")
    entries: dict[Path, RegistryEntry] = {}
    problems = []
    for path in sorted(p for p in place.glob("*.json") if p.is_file()):
        try:
            entries[path] = RegistryEntry.model_validate_json(require_file(path, _LARGEST).read_bytes())
        except OSError as error:
            problems.append(f"{path}: it cannot be read: {error.strerror}")
        except ValidationError as error:
            problems.append(f"{path}: {first_fault(error)}")
    problems += [f"{path}: {problem}" for path, entry in entries.items() for problem in _check(path, entry, published)]
    return tuple(entries.values()), tuple(problems)


def read_valid(folder: Path | None, catalog: Catalog) -> tuple[RegistryEntry, ...]:
    """Read the entries of a folder; ``RegistryError`` if there is a problem."""
    entries, problems = read_registry(folder, published_digests(catalog))
    if problems:
        raise RegistryError(f"{problems[0]} (run holisticbias leaderboard --check for all problems)")
    return entries


def _check(path: Path, entry: RegistryEntry, published: Published) -> Iterator[str]:
    """Find the problems of an entry that a schema cannot express."""
    if path.name != entry.file_name:
        yield f"its file must be called {entry.file_name}"
    yield from _check_model(entry.signature.model)
    yield from _check_release(entry.signature.release, entry.measure, published)
    yield from _check_counts(entry.signature)
    if entry.measure not in MEASURES:
        yield f"measure: there is no measure {entry.measure!r}"
    yield from _check_figures(entry)


def _check_model(model: ModelSignature) -> Iterator[str]:
    if is_path(model.name):
        yield f"signature.model.name: {model.name} is a folder on one machine"
    elif not slug(model.name):
        yield "signature.model.name: a name needs a letter or a digit"
    elif not (model.weights_sha256 or model.revision or _PUBLIC_NAME.fullmatch(model.name)):
        yield (
            f"signature.model.name: {model.name} does not identify a model: it needs the digest of its weights, "
            "or a public name such as organisation/name"
        )


def _check_release(release: ReleaseSignature, measure: str, published: Published) -> Iterator[str]:
    field = "signature.release"
    of_file = MEASURES[measure].needs.file if measure in MEASURES else None
    if of_file is not None:
        what, whose = of_file
        if release.what != what or not release.prompts or not _DIGEST.fullmatch(release.digest):
            yield f"{field}: needs the name of the {what} and the SHA-256 of {whose} rows"
    elif release.prompts is not None:
        yield f"{field}.prompts: it is of the {release.what} {release.prompts!r}: measure a published release"
    elif published(release.version, None) is None:
        yield f"{field}.version: {release.version} is not published"
    elif (digest := published(release.version, release.subset)) is None:
        yield f"{field}.subset: release {release.version} has no subset {release.subset!r}"
    elif release.digest != digest and release.subset:
        yield f"{field}.digest: is not the digest of the subset {release.subset} of release {release.version}"
    elif release.digest != digest:
        yield (
            f"{field}.digest: is not the digest of release {release.version}: measure the whole release, or "
            "its subset (holisticbias build --small)"
        )


def _check_counts(signature: Signature) -> Iterator[str]:
    scored, available = signature.sentences_scored, signature.sentences_available
    skipped = sum(s.sentences for s in signature.skipped)
    if scored > available:
        yield "signature.sentences_scored: more than the available sentences"
    elif scored + skipped != available:
        yield (
            f"signature.sentences_scored: {scored:,} sentences scored and {skipped:,} skipped are not all of the "
            f"{available:,} available"
        )


def _check_figures(entry: RegistryEntry) -> Iterator[str]:
    """Find figures that are impossible or contradict each other."""
    places = Counter(" of ".join((figure.name, *figure.keys.values())) for figure in entry.figures)
    yield from (f"figures: {place} is given {times} times" for place, times in places.items() if times > 1)
    for figure in entry.figures:
        where = f"figures: {' of '.join((figure.name, *figure.keys.values()))}"
        if not figure.is_finite:
            yield f"{where}: a number is not finite"
        if figure.measure != entry.measure:
            yield f"{where} belongs to the measure {figure.measure!r}"
        if figure.value is not None and figure.n < 1:
            yield f"{where} has a value although n is 0: it must be null"
        if figure.interval and figure.interval.low > figure.interval.high:
            yield f"{where}: its interval must have low <= high"
        values = [v for v in (figure.value, figure.floor, *(ends(figure.interval) or ())) if v is not None]
        if figure.unit == "share" and not all(0 <= v <= 1 for v in values):
            yield f"{where}: a share must lie between 0 and 1"
    if entry.measure in MEASURES:
        yield from (f"figures: {message}" for message in MEASURES[entry.measure].problems(Figures(entry.figures)))
