"""The signature of a run: everything that its figures depend on."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from holisticbias.terms.versions import NEXT, is_version, version_key
from holisticbias_eval.figures import Count, Part
from holisticbias_eval.models.generation.requests import SamenessRecord, SampledRecord
from holisticbias_eval.models.likelihood.scorer import ExactnessRecord, RoundingRecord
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.prompts.selection import BEYOND_LIMIT, Skipped, Terms

_LONGEST_NAME = 80
_SCHEMA = 2
_PARTS = ("sentences", "prompts")


def _refuse_other(version: Any) -> Any:
    if version == 1:
        raise ValueError("1 is read by versions up to v3.0.0: evaluate again, or open it with one of them")
    if isinstance(version, int) and version > _SCHEMA:
        raise ValueError(f"{version} is of a later version of holisticbias: update it, or evaluate again")
    return version


SchemaVersion = Annotated[Literal[2], BeforeValidator(_refuse_other)]
"""The form of results and registry entries; an earlier or a later form is refused with advice."""


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
    def place(self) -> tuple[int, ...]:
        """A sort key: releases by version, then what is of no release."""
        return version_key(self.version) if is_version(self.version) else (*version_key(NEXT), 1)

    @property
    def title(self) -> str:
        """The release and its part, or what was scored in its place, in words."""
        if self.prompts is not None:
            return f"the {self.what} “{self.prompts}”"
        subset = (f"subset “{self.subset}”",) if self.subset else ()
        return ", ".join((f"HolisticBias {self.version}", *subset, *(f"only {filtered}" for filtered in self.where)))


def in_short(parts: Sequence[str]) -> str:
    """Filters and limits as a part of a file's name; long ones as a digest."""
    named = "-".join(parts)
    return named if len(named) <= _LONGEST_NAME else f"part-{hashlib.sha256(named.encode()).hexdigest()[:8]}"


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
    terms: Terms | None = Field(None, description="how many of the release's descriptors were measured")
    rounding: RoundingRecord | None = None
    exactness: ExactnessRecord | None = None
    sameness: SampledRecord | SamenessRecord | None = None
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
        return (*self._filters, *(f"at most {limit} {what}" for what, limit in self._limits.items()))

    @property
    def _filters(self) -> tuple[str, ...]:
        found = (self._given(f"{what}_where", "all") for what in _PARTS)
        return tuple(f"only {part}" for where in found if where != "all" for part in where.split("; "))

    @property
    def _mode(self) -> tuple[str, ...]:
        """The mode in which pairs were scored, in words, unless it is that of likelihoods."""
        mode = self.scoring.get("pair_mode", "likelihood")
        return () if mode == "likelihood" else (f"mode {mode}",)

    @property
    def _limits(self) -> dict[str, str]:
        found = {what: self._given(f"{what}_limit", "none") for what in _PARTS}
        return {what: limit.split(",")[0] for what, limit in found.items() if limit != "none"}

    def _given(self, name: str, default: str) -> str:
        return self.generation.get(name, self.scoring.get(name, default))

    @property
    def title(self) -> str:
        """The part of the release that was measured, or what was measured in its place, in words.

        A limit draws a sample: of sentences their number is known, of prompts the limit.
        """
        drawn = []
        if limit := self._limits.get("prompts"):
            drawn.append(f"a sample of up to {limit} prompts")
        elif any(skipped.reason == BEYOND_LIMIT for skipped in self.skipped):
            drawn.append(f"a sample of {self.sentences_scored:,} sentences")
        return ", ".join((self.release.title, *self._filters, *drawn, *self._mode))

    @property
    def short_name(self) -> str:
        """The part of the release that was measured, for the name of a file."""
        return "-".join(filter(None, (self.release.short_name, in_short(self.selected), *self._mode)))


def same_model(one: ModelSignature, other: ModelSignature) -> bool:
    """Whether two models have the same weights or, if a digest is missing, file, or else the same name and revision."""
    for digests in ((one.weights_sha256, other.weights_sha256), (one.file_sha256, other.file_sha256)):
        if all(digests):
            return digests[0] == digests[1]
    return (one.name, one.revision) == (other.name, other.revision)


def differences(old: Signature, new: Signature) -> tuple[str, ...]:
    """List the differences between two runs, except the machine, the packages and a model's folder.

    More measures than in the old run are not a difference. Settings are listed only if release, model, precision
    and measure are the same, because another model has other settings.
    """
    both = (old, new)
    facts = {"release": [_release_name(s.release) for s in both]}
    if not same_model(old.model, new.model):
        facts["model"] = [_model_name(s.model) for s in both]
    facts["precision"] = [s.model.dtype for s in both]
    if not {*old.measures} <= {*new.measures}:
        facts["measure"] = [", ".join(s.measures) for s in both]
    keys = sorted({*old.settings, *new.settings})
    return _unequal(facts) or _unequal({key: [_setting(s.settings.get(key)) for s in both] for key in keys})


def _unequal(facts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{what} {one}, not {other}" for what, (one, other) in facts.items() if one != other)


def _release_name(release: ReleaseSignature) -> str:
    part = f" {release.subset}" if release.subset else ""
    return f"{release.prompts or release.version}{part} (digest {release.digest[:8]})"


def _model_name(model: ModelSignature) -> str:
    digest = model.weights_sha256 or model.revision
    return f"{model.name} ({digest[:8]})" if digest else model.name


def _setting(value: str | None) -> str:
    return "not given" if value is None else repr(value if len(value) < 60 else f"{value[:57]}...")


def judging_settings(about: Mapping[str, str]) -> dict[str, str]:
    """The properties of a classifier on which its probabilities depend."""
    return {name: value for name, value in about.items() if name.startswith("classifier_")}


def _in_brief(about: Mapping[str, str]) -> str:
    """The settings that probabilities depend on, in one line."""
    return "; ".join(f"{name}: {value}" for name, value in sorted(judging_settings(about).items()))
