"""What each kind of YAML file holds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from holisticbias.terms.entries import (
    ArticleRule,
    Date,
    Descriptor,
    Gender,
    Id,
    Key,
    Noun,
    Prose,
    Record,
    Selector,
    SourceId,
    Template,
    Text,
)
from holisticbias.terms.versions import Version

IN_PREPARATION = "In preparation"  # how the summary of a version begins until it is written
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


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
    layout: Literal[1, 2, 3] = Field(
        1,
        description="columns: 2 adds without_noun, not_with and paraphrase_of; 3 adds axis_label and opposite_of",
    )
    digest: Sha256 | None = Field(None, description="digest of the compiled tables, set when the version is published")
    tables: dict[Key, Sha256] = Field({}, description="digest of each table's rows, set with it")


class LockFile(Record):
    """``releases/VERSION.lock.json``: what a published version held; see ``holisticbias.rules.lock``."""

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
