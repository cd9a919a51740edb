"""The source of a run, a release or a file in its place; the requests that a task makes of it, and the answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from holisticbias import build_release, open_release
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.grammar import distinct_name
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import MaskedInputs
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.models.trial import Plan
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.selection import Skipped, Terms
from holisticbias_eval.results.signature import ReleaseSignature, Signature, in_short
from holisticbias_eval.tables.files import table_stem

ReleaseSource = str | Release | None
"""What names a release: a folder, a version to compile from the terms, ``organisation/name@version`` on the Hub, a
release that is open already, or None for the newest published version, compiled from the terms."""


def find_release(name: str | None, terms: Catalog | None = None) -> Release:
    """Open a release; a version is compiled from ``terms``, by default the installed terms."""
    return build_release(terms or load_catalog()) if name is None else open_release(name, terms)


def sign_release(release: Release) -> ReleaseSignature:
    """The release in a signature."""
    about = release.about
    return ReleaseSignature(version=about.version, subset=about.subset, where=about.where, digest=release.digest)


def file_name(name: str) -> str:
    """The name of a model or a part of a release as the name of a file."""
    short = Path(name).name if Path(name).exists() else name
    return distinct_name(short, "A-Za-z0-9._-", "-").strip("-.") or "model"


@dataclass(frozen=True, slots=True)
class TaskSource:
    """The object of a run: ``content`` is a release, or a table of what was read from ``origin``.

    ``origin`` is the release, or the signature of a file that is in its place. ``name`` ends the default name of the
    run's folder, after the model; ``is_selected`` says that what is selected and the task follow it. ``about`` are
    settings to record, and ``skipped`` says what is never asked. ``default_model`` is the model of a source that was
    made for one, such as the sentences of a calibration.
    """

    content: Any
    origin: Release | ReleaseSignature
    name: str
    about: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    default_model: str | None = None
    is_selected: bool = False

    @property
    def release(self) -> Any:
        """The ``Release`` that is asked about; None for a file."""
        return self.origin if isinstance(self.origin, Release) else None

    @property
    def signature(self) -> ReleaseSignature:
        """The origin in the signature of a run."""
        return sign_release(self.origin) if isinstance(self.origin, Release) else self.origin

    def run_name(self, model: ModelSignature, signature: Signature, task: str) -> str:
        """The default name of the run's folder."""
        names = [file_name(model.name), self.name]
        if self.is_selected and signature.selected:
            names.append(file_name(in_short(signature.selected)))
        return "-".join(names if not self.is_selected or task == "sentences" else [*names, task])


def release_source(release: Release, content: Any = None, about: Mapping[str, str] | None = None) -> TaskSource:
    """A release, or a ``content`` that was made of it."""
    part = release.about.part
    name = f"on-{release.version}" + (f"-{file_name(part)}" if part else "")
    content = release if content is None else content
    return TaskSource(content, release, name, about or {}, is_selected=True)


def file_source(
    content: Any, file: str, digest: str, what: str, about: Mapping[str, str], *, name: str | None = None, **more: Any
) -> TaskSource:
    """The rows of a file in the place of a release; ``file`` is its name, and ``digest`` that of its rows."""
    signature = ReleaseSignature(version="none", subset=None, digest=digest, prompts=file, what=what)
    return TaskSource(content, signature, name or f"on-{file_name(table_stem(Path(file)))}", about, **more)


@dataclass(frozen=True, slots=True)
class Answered:
    """The table of answers, and the fields of the signature that only asking finds out.

    ``masked_inputs`` counts the inputs of masked models that this process ran.
    """

    table: pa.Table
    signed: Mapping[str, object] = field(default_factory=dict)
    masked_inputs: MaskedInputs | None = None


@dataclass(frozen=True, kw_only=True)
class TaskRequests(ABC):
    """Requests of one source to one model.

    ``count`` is the number of sentences, pairs or responses that are asked for, ``settings`` what the answers depend
    on besides the settings of the model and of the source, and ``skipped`` and ``terms`` say what else is not asked.
    ``answers`` is the name of what a store keeps, null if nothing can be kept, and ``folder`` that of the store.
    ``uncounted`` names the requests if they have no plan.
    """

    answers: ClassVar[str | None] = None
    uncounted: ClassVar[str] = "this work"

    count: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    terms: Terms | None = None
    folder: Path | None = None

    @property
    def stored(self) -> str | None:
        """The answers that the store holds, in words; empty if it holds none, and null without a store."""
        if self.folder is None:
            return None
        return f"the {self.answers} so far are kept in {self.folder}" if self.folder.is_dir() else ""

    @property
    def kept(self) -> str:
        """The number of answers in the store and how to continue, in words, for an interruption."""
        if self.stored:
            return f"{self.stored}; run the same command again to continue"
        reason = " with --no-store" if self.stored is None else ""
        nothing = f"no {self.answers} are kept{reason}" if self.answers else "nothing is kept"
        return f"{nothing}; the same command starts from the beginning"

    @abstractmethod
    def answer(self, display: Display) -> Answered:
        """Ask the model."""

    def plan(self, display: Display) -> Plan:
        """Count the work and estimate its time; raises ``EvaluationError`` if that is not possible."""
        raise EvaluationError(f"--dry-run cannot count {self.uncounted}: leave --dry-run out")
