"""The signature of a run: everything that its figures depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from holisticbias_eval.figures import Count, Part
from holisticbias_eval.machine import machine, package_versions
from holisticbias_eval.models.generation.requests import Sameness
from holisticbias_eval.models.likelihood.scorer import Probe
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.prompts.selection import Skipped, Terms

_LONGEST_NAME = 80


def _refuse_earlier(version: Any) -> Any:
    if version == 1:
        raise ValueError("1 is read by versions up to v3.0.0: evaluate again, or open it with one of them")
    return version


SchemaVersion = Annotated[Literal[2], BeforeValidator(_refuse_earlier)]
"""The form of results and registry entries; the first form is refused by its own message."""


class ReleaseSignature(Part):
    """The release that was scored, or prompts of no release: then ``prompts`` is their name and ``version`` "none"."""

    version: str
    subset: str | None
    where: tuple[str, ...] = Field((), description="the filters of the release, if it is a part of a version")
    digest: str
    prompts: str | None = Field(None, description="name of prompts, pairs or a test set that are of no release")
    what: str = Field(
        "prompts", pattern="^[a-z][a-z ]{0,39}$", description="what the name is of, such as pairs or a test set"
    )

    @property
    def short_name(self) -> str:
        """The release and its part, or what the name is of and the beginning of the digest."""
        if self.prompts is not None:
            return f"{self.what.replace(' ', '-')}-{self.digest[:12]}"
        return "-".join(filter(None, (self.version, self.subset, in_short(self.where))))

    @property
    def title(self) -> str:
        """The release and its part, or what was scored in its place, in words."""
        if self.prompts is not None:
            return f"the {self.what} {self.prompts}"
        subset = (f"subset “{self.subset}”",) if self.subset else ()
        return ", ".join((f"HolisticBias {self.version}", *subset, *(f"only {filtered}" for filtered in self.where)))


def in_short(parts: Sequence[str]) -> str:
    """Filters and limits as a part of a file's name; long ones as a digest."""
    named = "-".join(parts)
    return named if len(named) <= _LONGEST_NAME else f"part-{hashlib.sha256(named.encode()).hexdigest()[:8]}"


class ModelSignature(Part):
    """The model that was scored."""

    name: str
    architecture: str
    revision: str | None
    weights_sha256: str | None
    parameters: int | None
    dtype: str
    note: str | None
    quantization: str | None = Field(
        default=None, description="the types of a GGUF file's tensors, the commonest first"
    )
    file_sha256: str | None = Field(default=None, description="digest of that file")


class RoundingRecord(Part):
    """Rounding error of a precision other than float32, on some texts of the run: nats per text."""

    dtype: str
    texts: int
    largest: float
    mean: float


class ExactnessRecord(Part):
    """The method of scoring, and its largest error against float64 on some texts, in nats per text.

    ``plain_error`` is the error of scoring one text at a time. Both are null if the model cannot run in float64.
    """

    method: str
    texts: int
    error: float | None
    plain_error: float | None


class SamenessRecord(Part):
    """How many of ``tried`` responses were the ``same`` when made alone and in a batch with others."""

    tried: int
    same: int


class Signature(Part):
    """Everything that the figures depend on.

    A run of scores has ``scoring``; a run of responses has ``generation`` and
    ``classifiers``. ``rounding`` is null in float32. ``exactness`` is null for
    engines that cannot compare with float64, ``sameness`` for engines that cannot try it.
    """

    release: ReleaseSignature
    model: ModelSignature
    scoring: dict[str, str] = Field(default_factory=dict)
    generation: dict[str, str] = Field(default_factory=dict, description="prompts, decoding, seed, chat template")
    classifiers: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="the card and digest of each, by id"
    )
    measures: tuple[str, ...]
    measuring: dict[str, dict[str, str]] = Field(default_factory=dict, description="parameters of each measure")
    sentences_scored: Count
    sentences_available: Count
    skipped: tuple[Skipped, ...] = ()
    terms: Terms | None = Field(None, description="how many of the release's terms were measured")
    rounding: RoundingRecord | None = None
    exactness: ExactnessRecord | None = None
    sameness: SamenessRecord | None = None
    versions: dict[str, str]
    machine: str = Field(description="system, architecture, processor and its cores, and accelerators")

    @property
    def settings(self) -> dict[str, str]:
        """The settings that the answers depend on besides release, model and precision."""
        judging = {f"classifier {name}": _in_brief(about) for name, about in self.classifiers.items()}
        return {**self.scoring, **self.generation, **judging}

    @property
    def selected(self) -> tuple[str, ...]:
        """The filters and the limit of the run itself, in words; empty if all of the release was measured."""
        given = {**self.scoring, **self.generation}
        filters = [given.get(name, "all") for name in ("sentences_where", "prompts_where")]
        limits = {what: given.get(f"{what}_limit", "none") for what in ("sentences", "prompts")}
        return (
            *(f"only {one}" for where in filters if where != "all" for one in where.split("; ")),
            *(f"at most {limit.split(',')[0]} {what}" for what, limit in limits.items() if limit != "none"),
        )

    @property
    def title(self) -> str:
        """The part of the release that was measured, or what was measured in its place, in words."""
        return ", ".join((self.release.title, *self.selected))

    @property
    def short_name(self) -> str:
        """The part of the release that was measured, for the name of a file."""
        return "-".join(filter(None, (self.release.short_name, in_short(self.selected))))


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of a run's engines, for its signature."""

    scoring: Mapping[str, str] = field(default_factory=dict)
    generation: Mapping[str, str] = field(default_factory=dict)
    classifiers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def _in_brief(settings: Mapping[str, str]) -> str:
    """The settings that probabilities depend on, in one line."""
    return "; ".join(f"{name}: {value}" for name, value in sorted(settings.items()) if name.startswith("classifier_"))


def sign(
    release: ReleaseSignature,
    model: ModelIdentity,
    settings: EngineSettings,
    measuring: Mapping[str, Mapping[str, str]],
    scored: int,
    skipped: tuple[Skipped, ...] = (),
    terms: Terms | None = None,
) -> Signature:
    """Sign a run on this machine with the installed packages, before anything is scored or answered.

    ``measuring`` has the parameters of each measure by name; ``scored`` is the number of sentences to score, or of
    responses.
    """
    return Signature(
        release=release,
        model=ModelSignature(**asdict(model)),
        scoring=dict(settings.scoring),
        generation=dict(settings.generation),
        classifiers={name: dict(about) for name, about in settings.classifiers.items()},
        measures=tuple(measuring),
        measuring={name: dict(parameters) for name, parameters in measuring.items()},
        sentences_scored=scored,
        sentences_available=scored + sum(s.sentences for s in skipped),
        skipped=skipped,
        terms=terms,
        versions=package_versions(),
        machine=machine(),
    )


def with_probe(signature: Signature, probe: Probe | None) -> Signature:
    """Add the error of the scores to a signature."""
    if probe is None:
        return signature
    rounding = RoundingRecord(**asdict(probe.rounding)) if probe.rounding else None
    return signature.model_copy(update={"rounding": rounding, "exactness": ExactnessRecord(**asdict(probe.exactness))})


def with_sameness(signature: Signature, sameness: Sameness | None) -> Signature:
    """Add how many responses were the same alone and in a batch."""
    if sameness is None:
        return signature
    return signature.model_copy(update={"sameness": SamenessRecord(**asdict(sameness))})
