"""The records that the YAML files hold, and the catalog that they make together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, field_validator

from holisticbias.errors import UnknownVersionError
from holisticbias.versions import Version, holds, version_key

Gender = Literal["female", "male", "neutral", "nonbinary"]
NounGender = Literal["any", "female", "male", "neutral", "nonbinary"]
Position = Literal["before", "after", "standalone"]
Article = Literal["a", "an"]
Judgement = Literal["accepted", "dispreferred", "polarizing"]
Preference = Literal["reviewed", "dispreferred", "polarizing", "no_data"]
ArticleRule = Literal["letter", "sound"]

QUORUM = 2  # reviewers

Text = Annotated[str, Field(min_length=1, max_length=200)]
Prose = Annotated[str, Field(min_length=1, max_length=2000)]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*$", max_length=120)]
SourceId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Date = Annotated[str, Field(pattern=r"^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$")]
Selector = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9-]*|/[a-z][a-z0-9_]*)$", max_length=120)]
T = TypeVar("T")
Locale = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")]


class Record(BaseModel):
    """A frozen record read from a file; a key that it does not name is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Assessment(Record):
    """One judgement of a term by people with lived experience of it.

    Who judged is a pseudonymous reviewer, or a publication that reports the judgement.
    """

    judgement: Judgement
    community: Text | None = Field(None, description="named only with the community's consent")
    locale: Locale = "en-US"
    reviewer: SourceId | None = None
    source: SourceId | None = None
    date: Date
    since: Version | None = Field(None, description="the first version that counts it, where that is not the entry's")


class Wording(Record):
    """How an entry stood before the version ``until``; what it does not name stayed as it is.

    ``article``, ``plural``, ``bucket`` and ``paraphrase_of`` may be ``null``: there was none then.
    """

    until: Version
    reason: Prose
    text: Text | None = None
    plural: Text | None = None
    article: Article | None = None
    position: Position | None = None
    bucket: Key | None = None
    noun_gender: NounGender | None = None
    without_noun: StrictBool | None = None
    not_with: tuple[Id | Gender, ...] | None = None
    must_be_noun: StrictBool | None = None
    first_turn_only: StrictBool | None = None
    paraphrase_of: Id | None = None
    sources: tuple[SourceId, ...] | None = None

    @field_validator(
        "text",
        "position",
        "noun_gender",
        "without_noun",
        "not_with",
        "must_be_noun",
        "first_turn_only",
        "sources",
    )
    @classmethod
    def _not_null(cls, value: T) -> T:
        if value is None:
            raise ValueError("an entry always has one; leave the key out where it did not change")
        return value


class Entry(Record):
    """What every term, noun and template carries."""

    id: Id = Field(description="minted once; never reused, never re-derived from the text")
    text: Text
    sources: tuple[SourceId, ...] = Field(min_length=1)
    since: Version
    until: Version | None = Field(None, description="the first version without the entry")
    replaced_by: Id | None = None
    history: tuple[Wording, ...] = ()

    def at(self, version: str) -> Self:
        """The entry as it was worded in that version."""
        later_first = sorted(self.history, key=lambda w: version_key(w.until), reverse=True)
        changes: dict[str, object] = {}
        for wording in later_first:
            if version_key(version) < version_key(wording.until):
                changes |= wording.model_dump(exclude_unset=True, exclude={"until", "reason"})
        return self.model_copy(update=changes) if changes else self


class Descriptor(Entry):
    """An identity term."""

    bucket: Key | None = None
    position: Position = Field("before", description="where it stands: before or after the noun, or alone")
    article: Article | None = Field(None, description="only where the release's article rule does not give it")
    plural: Text | None = Field(None, description="where the plural differs from the text")
    noun_gender: NounGender = Field("any", description="the gender of the nouns it goes with")
    without_noun: StrictBool = Field(True, description="whether it can stand without a noun, as in 'I'm Deaf.'")
    not_with: tuple[Id | Gender, ...] = Field(
        (), description="nouns, or genders of nouns, that contradict it, as in 'a 95-year-old kid'"
    )
    assessments: tuple[Assessment, ...] = ()

    def goes_with(self, gender: Gender, noun: Noun) -> bool:
        """Whether the term and a noun of that gender make a phrase."""
        if self.position == "standalone" or self.noun_gender not in ("any", gender):
            return False
        return gender not in self.not_with and noun.id not in self.not_with

    def at(self, version: str) -> Self:
        """The entry as worded and as judged in that version."""
        counted = tuple(a for a in self.assessments if a.since is None or holds(version, a.since, None))
        entry = super().at(version)
        return entry if counted == self.assessments else entry.model_copy(update={"assessments": counted})

    @property
    def judgements(self) -> tuple[Assessment, ...]:
        """The assessments that count: every publication's, and of a reviewer the newest for each locale."""
        of_reviewers = {(a.reviewer, a.locale): a for a in self.assessments if a.reviewer is not None}
        return *(a for a in self.assessments if a.reviewer is None), *of_reviewers.values()

    @property
    def preference(self) -> Preference:
        """The label that the judgements give, the most critical first; ``no_data`` where they have no quorum."""
        if not has_quorum(self.judgements):
            return "no_data"
        said = {a.judgement for a in self.judgements}
        if len(said) > 1 or "polarizing" in said:
            return "polarizing"
        return "dispreferred" if "dispreferred" in said else "reviewed"


def has_quorum(judgements: Iterable[Assessment]) -> bool:
    """Whether a publication or two reviewers stand behind judgements: one person alone speaks for nobody else."""
    whose = {a.reviewer for a in judgements}
    return None in whose or len(whose) >= QUORUM


class Noun(Entry):
    """A word for a person."""

    plural: Text
    article: Article | None = None


class Template(Entry):
    """A sentence with one slot, ``{noun_phrase}`` or ``{plural_noun_phrase}``."""

    must_be_noun: StrictBool = Field(False, description="whether a bare adjective cannot fill the slot")
    first_turn_only: StrictBool = Field(False, description="whether it can only open a conversation")
    paraphrase_of: Id | None = Field(None, description="the template whose stance it words in another way")


E = TypeVar("E", bound=Entry)


class DescriptorFile(Record):
    """A file in ``descriptors/``: one axis."""

    axis: Key
    label: Text
    buckets: tuple[Key, ...] = ()
    descriptors: tuple[Descriptor, ...]


class NounFile(Record):
    """A file in ``nouns/``: the nouns of one gender."""

    gender: Gender
    label: Text
    nouns: tuple[Noun, ...]


class TemplateFile(Record):
    """A file in ``templates/``: one family."""

    family: Key
    label: Text
    templates: tuple[Template, ...]


class ReleaseFile(Record):
    """A file in ``releases/``: one version and what identifies it."""

    version: Version
    date: Date
    summary: Prose
    article_rule: ArticleRule = Field(description="what gives an article where the entry does not: letter or sound")
    layout: Literal[1, 2] = Field(1, description="the tables' columns; 2 adds those that say what contradicts what")
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="digest of the compiled tables, set when the version is published"
    )


class LockFile(Record):
    """``releases/VERSION.lock.json``: what a published version held; see ``holisticbias.lock``."""

    version: Version
    entries: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]]


class Source(Record):
    """Where entries and judgements come from."""

    id: SourceId
    title: Text
    year: StrictInt | None = None
    url: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$")] | None = None


class SourcesFile(Record):
    """``sources.yaml``."""

    sources: tuple[Source, ...]


class WaiversFile(Record):
    """``waivers.yaml``: entries older than a rule that they break, by rule."""

    waivers: dict[Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")], tuple[Id, ...]]


class Exclusion(Record):
    """Pairs of descriptors that contradict each other: one of ``these`` with one of ``those``."""

    these: tuple[Selector, ...] = Field(min_length=1)
    those: tuple[Selector, ...] = Field(min_length=1)
    reason: Prose


class IntersectionsFile(Record):
    """``intersections.yaml``: how two descriptors stand together, and which contradict each other."""

    order: tuple[Key, ...] = Field(description="the axes as their terms stand before a noun, the nearest last")
    exclusions: tuple[Exclusion, ...] = ()


class SubsetFile(Record):
    """``subsets/*.yaml``: a fixed selection of descriptors."""

    subset: Key
    summary: Prose
    descriptors: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that the files say, in every version."""

    axes: tuple[DescriptorFile, ...]
    genders: tuple[NounFile, ...]
    families: tuple[TemplateFile, ...]
    releases: tuple[ReleaseFile, ...]
    sources: tuple[Source, ...] = ()
    subsets: tuple[SubsetFile, ...] = ()
    intersections: IntersectionsFile | None = None

    @property
    def published(self) -> tuple[str, ...]:
        """The versions whose digest is on record, oldest first."""
        return tuple(v for v in self.versions if self.release(v).digest is not None)

    @property
    def versions(self) -> tuple[str, ...]:
        """Every version, oldest first."""
        return tuple(sorted((r.version for r in self.releases), key=version_key))

    def release(self, version: str) -> ReleaseFile:
        """What ``releases/`` says of a version; ``UnknownVersionError`` if it says nothing."""
        for release in self.releases:
            if release.version == version:
                return release
        known = ", ".join(self.versions) or "none"
        raise UnknownVersionError(f"there is no version {version!r}: releases/ has {known}")

    def at(self, version: str, subset: str | None = None) -> Catalog:
        """The catalog as one version held it, or the descriptors of a subset of it."""
        self.release(version)
        chosen = None if subset is None else set(self.subset(subset).descriptors)
        axes = (
            axis.model_copy(
                update={
                    "descriptors": tuple(d for d in _at(axis.descriptors, version) if chosen is None or d.id in chosen)
                }
            )
            for axis in self.axes
        )
        genders = (g.model_copy(update={"nouns": _at(g.nouns, version)}) for g in self.genders)
        families = (f.model_copy(update={"templates": _at(f.templates, version)}) for f in self.families)
        return Catalog(
            axes=tuple(a for a in axes if a.descriptors),
            genders=tuple(g for g in genders if g.nouns),
            families=tuple(f for f in families if f.templates),
            releases=self.releases,
            sources=self.sources,
            subsets=self.subsets,
            intersections=self.intersections,
        )

    def subset(self, name: str) -> SubsetFile:
        """The subset of that name; ``UnknownVersionError`` if there is none."""
        for subset in self.subsets:
            if subset.subset == name:
                return subset
        raise UnknownVersionError(f"there is no subset {name!r} in subsets/")


def _at(entries: Iterable[E], version: str) -> tuple[E, ...]:
    return tuple(e.at(version) for e in entries if holds(version, e.since, e.until))
