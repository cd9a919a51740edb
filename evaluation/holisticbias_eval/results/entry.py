"""An entry of the registry: the headline figures of one measure of a run, and their signature."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
from pydantic import Field

from holisticbias_eval.errors import RegistryError
from holisticbias_eval.figures import Figure, Figures, Part
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import View
from holisticbias_eval.models.embedded import SHIPPED
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import ModelSignature, SchemaVersion, Signature

_KEPT = (("axis",), ("specification",), ("dimension", "scale"))


class Entry(Part):
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


def make_entries(run: Run, contributor: str, date: str, name: str | None) -> tuple[Entry, ...]:
    """Make an entry for each measure of a run that gives a figure for each axis, domain or specification.

    ``name`` is the public name of a model that the run loaded from a folder.
    """
    signature = run.result.signature
    model = signature.model.model_copy(update={"name": name} if name else {})
    if is_path(model.name) or (name is None and _is_local(model)):
        raise RegistryError(f"{model.name} is a folder on one machine: give the model's public name with --name")
    figures = Figures(run.result.figures)
    labels = {**View(figures, run.answers).labels, **_specification_labels(run.answers)}
    made = []
    for measure in signature.measures:
        kept = tuple(kept_figures(figures, MEASURES[measure].info)) if measure in MEASURES else ()
        if kept:
            parameters = {k: v for k, v in signature.measuring.items() if k == measure}
            own = {"model": model, "measures": (measure,), "measuring": parameters}
            named = {name for figure in kept for name in figure.keys.values()}
            made.append(
                Entry(
                    contributor=contributor,
                    date=date,
                    signature=signature.model_copy(update=own),
                    measure=measure,
                    labels={name: label for name, label in labels.items() if name in named},
                    figures=kept,
                )
            )
    if not made:
        raise RegistryError(
            "the registry keeps figures by axis, domain, dimension or specification, and this run has none"
        )
    return tuple(made)


def kept_figures(figures: Figures, info: Info) -> list[Figure]:
    """The figures of a measure that the registry keeps: by axis, domain, dimension or specification."""
    if info.by not in _KEPT and "domain" not in info.by:
        return []
    return [figure for name in (info.headline, *info.beside) for figure in info.headlines(figures, name)]


def _specification_labels(answers: pa.Table) -> dict[str, str]:
    """The label of each specification of a run of pairs."""
    names = ["specification", "label"]
    if not set(names) <= set(answers.column_names):
        return {}
    rows = answers.select(names).group_by(names, use_threads=False).aggregate([]).to_pylist()
    return {row["specification"]: row["label"] for row in rows if row["label"]}


def is_path(name: str) -> bool:
    """Whether a model's name is that of a folder or a file."""
    return name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1 or Path(name).is_absolute()


def _is_local(model: ModelSignature) -> bool:
    """Whether a run loaded its model from a folder or a file: the Hub gives a revision, and a server no weights."""
    return model.weights_sha256 is not None and model.revision is None and model.name not in SHIPPED


def slug(name: str) -> str:
    """A name in lower-case letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
