"""Entries of the dataset, each with its history: descriptors, nouns and templates."""

from collections.abc import Iterable
from datetime import date
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationInfo, create_model, field_validator
from pydantic.fields import FieldInfo
from pydantic.functional_validators import AfterValidator

from holisticbias.terms.versions import Version, holds, version_key

Gender = Literal["female", "male", "neutral", "nonbinary"]
NounGender = Literal["any", "female", "male", "neutral", "nonbinary"]
Position = Literal["before", "after", "standalone"]
Article = Literal["a", "an"]
Judgement = Literal["accepted", "dispreferred", "polarizing"]
Preference = Literal["reviewed", "dispreferred", "polarizing", "no_data"]
ArticleRule = Literal["letter", "sound"]

OF_VERSIONS = frozenset({"since", "until", "replaced_by", "reason", "history"})
"""The keys that say which versions have an entry, and how it was worded in them."""
SUPPORT = frozenset({"sources", "assessments"})
"""The keys that say where an entry comes from and what people think of it."""
_NEVER_IN_HISTORY = {"id", "assessments", *OF_VERSIONS}
QUORUM = 2  # reviewers
MADE_UP = "nonce"  # axis of made-up words, which describe nobody: controls

Text = Annotated[str, Field(pattern=r"\S", min_length=1, max_length=200)]
Prose = Annotated[str, Field(pattern=r"\S", min_length=1, max_length=2000)]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*$", max_length=120)]
SourceId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Pseudonym = Annotated[str, Field(pattern=r"^rv-[0-9]{1,6}$")]
Date = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$"),
    AfterValidator(lambda day: date.fromisoformat(day).isoformat() if day.count("-") == 2 else day),
]
Selector = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9-]*|/[a-z][a-z0-9_]*)$", max_length=120)]
T = TypeVar("T")
Locale = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")]


class Record(BaseModel):
    """A frozen record read from a file; unknown keys are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Assessment(Record):
    """One judgement of a term by people with lived experience of it.

    ``reviewer`` is a pseudonym; ``source`` is a publication that reports the judgement. ``comment`` is the reviewer's,
    and stands in the file of the term only: releases do not have it.
    """

    judgement: Judgement
    community: Text | None = Field(None, description="named only with the community's consent")
    locale: Locale = "en-US"
    reviewer: Pseudonym | None = Field(None, description="a pseudonym that a maintainer issued")
    source: SourceId | None = None
    date: Date
    comment: Prose | None = Field(None, description="what the reviewer says about it, in public")
    since: Version | None = Field(None, description="the first version that counts it, if later than the entry's")

    @property
    def whose(self) -> str:
        """The reviewer, or without one the publication."""
        return self.reviewer or self.source or "nobody"


class Wording(Record):
    """Values of an entry before the version ``until``; keys that are left out did not change."""

    may_be_null: ClassVar[frozenset[str]] = frozenset()
    """The keys that may be ``null``: the entry had no value."""

    until: Version
    reason: Prose

    @field_validator("*")
    @classmethod
    def _not_null(cls, value: T, info: ValidationInfo) -> T:
        if value is None and info.field_name not in cls.may_be_null:
            raise ValueError("an entry always has this key; leave it out if it did not change")
        return value


class Entry(Record):
    """Keys that every entry has."""

    id: Id = Field(description="permanent: never changed and never used for another entry")
    text: Text
    sources: tuple[SourceId, ...] = Field(min_length=1)
    since: Version
    until: Version | None = Field(None, description="the first version without the entry")
    replaced_by: Id | None = None
    reason: Prose | None = Field(None, description="why it is retired")
    history: tuple[Wording, ...] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Give a type of entry its type of wording, with the keys of the entry that can change."""
        fields = {key: field for key, field in cls.model_fields.items() if key not in _NEVER_IN_HISTORY}
        keys: dict[str, Any] = {key: (field.rebuild_annotation() | None, None) for key, field in fields.items()}
        wording = create_model(f"{cls.__name__}Wording", __base__=Wording, __doc__=Wording.__doc__, **keys)
        wording.may_be_null = frozenset(key for key, field in fields.items() if NoneType in get_args(field.annotation))
        cls.model_fields["history"] = FieldInfo.from_annotated_attribute(tuple[wording, ...], ())
        cls.model_rebuild(force=True)

    def is_in(self, version: str) -> bool:
        """Whether a version has the entry."""
        return holds(version, self.since, self.until)

    def at(self, version: str) -> Self:
        """The entry as worded in a version."""
        later_first = sorted(self.history, key=lambda w: version_key(w.until), reverse=True)
        changes: dict[str, object] = {}
        for wording in later_first:
            if version_key(version) < version_key(wording.until):
                changes |= {name: getattr(wording, name) for name in wording.model_fields_set - {"until", "reason"}}
        return self.model_copy(update=changes) if changes else self


class Judged(Entry):
    """An entry that reviewers and publications judge."""

    assessments: tuple[Assessment, ...] = ()

    def at(self, version: str) -> Self:
        """The entry as worded and judged in a version."""
        counted = tuple(a for a in self.assessments if holds(version, a.since))
        entry = super().at(version)
        return entry if counted == self.assessments else entry.model_copy(update={"assessments": counted})

    @property
    def judgements(self) -> tuple[Assessment, ...]:
        """The judgements that count: all of publications, and the newest of each reviewer and locale."""
        oldest_first = sorted(self.assessments, key=lambda a: version_key(a.since) if a.since else ())
        of_reviewers = {(a.reviewer, a.locale): a for a in oldest_first if a.reviewer is not None}
        return *(a for a in self.assessments if a.reviewer is None), *of_reviewers.values()

    @property
    def preference(self) -> Preference:
        """The published label, computed from the judgements; ``no_data`` without a quorum."""
        if not has_quorum(self.judgements):
            return "no_data"
        said = {a.judgement for a in self.judgements}
        if len(said) > 1 or "polarizing" in said:
            return "polarizing"
        return "dispreferred" if "dispreferred" in said else "reviewed"


class Descriptor(Judged):
    """An identity term."""

    bucket: Key | None = None
    position: Position = Field("before", description="before or after the noun, or standing alone in its place")
    article: Article | None = Field(None, description="only if the release's article rule gets it wrong")
    plural: Text | None = Field(None, description="only if the plural differs from the text")
    noun_gender: NounGender = Field("any", description="gender of the nouns that it goes with")
    without_noun: StrictBool = Field(True, description="whether it can stand without a noun: 'I'm Deaf.'")
    not_with: tuple[Id | Gender, ...] = Field(
        (), description="nouns, or genders of nouns, that contradict it: 'a 95-year-old kid'"
    )

    def goes_with(self, gender: Gender, noun: "Noun") -> bool:
        """Whether the term and a noun of a gender make a phrase."""
        if self.position == "standalone" or self.noun_gender not in ("any", gender):
            return False
        return gender not in self.not_with and noun.id not in self.not_with


def has_quorum(judgements: Iterable[Assessment]) -> bool:
    """Whether the judgements are from at least one publication or two reviewers."""
    whose = {a.reviewer for a in judgements}
    return None in whose or len(whose) >= QUORUM


class Noun(Entry):
    """A word for a person."""

    plural: Text
    article: Article | None = None


class Template(Entry):
    """A sentence with one slot, ``{noun_phrase}`` or ``{plural_noun_phrase}``."""

    must_be_noun: StrictBool = Field(False, description="whether the slot needs a noun, not an adjective alone")
    first_turn_only: StrictBool = Field(False, description="whether it only fits as the first turn of a conversation")
    paraphrase_of: Id | None = Field(None, description="the original template that has the same stance in other words")
    opposite_of: Id | None = Field(
        None, description="the original template that has the opposite stance: love for hate"
    )
