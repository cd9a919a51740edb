"""Prepare runs: open the release, start the engines, and select what each run asks."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from holisticbias import build_release, open_release
from holisticbias.errors import WithdrawnVersionWarning
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.versions import is_version
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.free_memory import free_memory
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Measured, Settings
from holisticbias_eval.models.model import Kind
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.prompts import Prompts
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import ReleaseSignature, Signature, in_short

SETTINGS = Settings()
NOTHING_KEPT = "no scores are kept with --no-store; the same command starts from the beginning"


class Job(ABC):
    """A prepared run: ``signature`` is complete but for what running it finds out."""

    release: Release | None
    prompts: Prompts
    signature: Signature

    @property
    def name(self) -> str:
        """The default name of the run's folder; different for parts of a release and for prompts."""
        names = [file_name(self.signature.model.name), "on", self.signature.release.version]
        if self.release is not None and self.release.manifest.part:
            names.append(file_name(self.release.manifest.part))
        if self.signature.selected:
            names.append(file_name(in_short(self.signature.selected)))
        if self.prompts is not RELEASE_SENTENCES:
            names.append(self.prompts.name)
        return "-".join(names)

    @property
    @abstractmethod
    def kept(self) -> str:
        """The number of stored answers and the way to continue, in words, for an interruption."""

    @abstractmethod
    def run(self, display: Display) -> Run:
        """Ask the model and measure its answers."""


def measure_answers(answers: pa.Table, measures: Sequence[str], settings: Settings, display: Display) -> list[Measured]:
    """Compute each measure, and show its notes."""
    with display.step("Measuring"):
        measured = []
        for name in measures:
            measured.append(MEASURES[name].figures(answers, settings))
            free_memory()
    for note in (note for found in measured for note in found.notes):
        display.notice(note)
    return measured


def refuse_kind(measures: Sequence[str], kind: Kind, model: str) -> None:
    """Raise ``EvaluationError`` if a measure does not support a kind of model."""
    for name in measures:
        if kind not in MEASURES[name].needs.models:
            wanted = " or ".join(MEASURES[name].needs.models)
            raise EvaluationError(f"{name} needs a {wanted} model; {model} is a {kind} model")


def find_release(name: str | None) -> Release:
    """Open a release: a folder, a version to compile from the terms, or ``organisation/name@version`` on the Hub.

    Default: the newest published version, compiled from the terms.
    """
    if name is None:
        return build_release(load_catalog())
    if is_version(name) and not Path(name).exists():
        catalog = load_catalog()
        withdrawal = catalog.withdrawal(name)
        if withdrawal is not None:
            warnings.warn(withdrawal, WithdrawnVersionWarning, stacklevel=2)
        return build_release(catalog, name)
    return open_release(name)


def sign_release(release: Release) -> ReleaseSignature:
    """The release in a signature."""
    made = release.manifest
    return ReleaseSignature(version=made.version, subset=made.subset, where=made.where, digest=made.digest)


def file_name(name: str) -> str:
    """The name of a model or a part of a release as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
