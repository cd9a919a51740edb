"""The catalog: all records, and the records of one version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from holisticbias.errors import UnknownVersionError
from holisticbias.terms.entries import Entry, Judged
from holisticbias.terms.file_kinds import (
    CollectionFile,
    CompanionFile,
    DescriptorFile,
    IntersectionsFile,
    Kind,
    NounFile,
    PromptFile,
    ReleaseFile,
    Source,
    SpecificationFile,
    SubsetFile,
    TemplateFile,
)
from holisticbias.terms.versions import holds, version_key

E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The records of all files, with the entries of every version."""

    axes: tuple[DescriptorFile, ...]
    genders: tuple[NounFile, ...]
    families: tuple[TemplateFile, ...]
    releases: tuple[ReleaseFile, ...]
    sources: tuple[Source, ...] = ()
    subsets: tuple[SubsetFile, ...] = ()
    intersections: IntersectionsFile | None = None
    collections: tuple[CollectionFile, ...] = ()
    prompts: tuple[PromptFile, ...] = ()
    specifications: tuple[SpecificationFile, ...] = ()

    @property
    def companions(self) -> tuple[CompanionFile, ...]:
        """The files of collections, prompts and specifications."""
        return (*self.collections, *self.prompts, *self.specifications)

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The entries that reviewers judge: descriptors, then specifications."""
        descriptors = (d for axis in self.axes for d in axis.descriptors)
        return (*descriptors, *(s for file in self.specifications for s in file.specifications))

    def entries(self) -> Iterator[tuple[Kind, Entry]]:
        """Every entry, with its kind."""
        yield from (("descriptors", d) for axis in self.axes for d in axis.descriptors)
        yield from (("nouns", n) for gender in self.genders for n in gender.nouns)
        yield from (("templates", t) for family in self.families for t in family.templates)
        yield from (("collections", g) for collection in self.collections for g in collection.groups)
        yield from (("prompts", p) for domain in self.prompts for p in domain.prompts)
        yield from (("specifications", s) for family in self.specifications for s in family.specifications)

    @property
    def published(self) -> tuple[str, ...]:
        """Published versions (those with a digest), oldest first."""
        return tuple(v for v in self.versions if self.release(v).digest is not None)

    @property
    def recommended(self) -> tuple[str, ...]:
        """Published versions that are not withdrawn, oldest first."""
        return tuple(v for v in self.published if self.release(v).withdrawn is None)

    def withdrawal(self, version: str) -> str | None:
        """Say when and why a version was withdrawn, and which to use; None if it was not."""
        withdrawn = self.release(version).withdrawn
        if withdrawn is None:
            return None
        use = f"; use {self.recommended[-1]}" if self.recommended else ""
        return f"version {version} was withdrawn on {withdrawn.date}: {withdrawn.reason.rstrip('.')}{use}"

    @property
    def versions(self) -> tuple[str, ...]:
        """All versions, oldest first."""
        return tuple(sorted((r.version for r in self.releases), key=version_key))

    def release(self, version: str) -> ReleaseFile:
        """The record of a version in ``releases/``; ``UnknownVersionError`` if there is no such version."""
        for release in self.releases:
            if release.version == version:
                return release
        known = ", ".join(self.versions) or "none"
        raise UnknownVersionError(f"there is no version {version!r}: releases/ has {known}")

    def at(self, version: str, subset: str | None = None) -> Catalog:
        """The catalog with the entries of one version, worded as then; ``subset`` selects descriptors."""
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
        collections = (c.model_copy(update={"groups": _at(c.groups, version)}) for c in self.collections)
        prompts = (p.model_copy(update={"prompts": _at(p.prompts, version)}) for p in self.prompts)
        specifications = (
            s.model_copy(update={"specifications": _at(s.specifications, version)}) for s in self.specifications
        )
        return Catalog(
            axes=tuple(a for a in axes if a.descriptors),
            genders=tuple(g for g in genders if g.nouns),
            families=tuple(f for f in families if f.templates),
            releases=self.releases,
            sources=self.sources,
            subsets=self.subsets,
            intersections=self.intersections,
            collections=tuple(c for c in collections if c.groups),
            prompts=tuple(p for p in prompts if p.prompts),
            specifications=tuple(s for s in specifications if s.specifications),
        )

    def subset(self, name: str) -> SubsetFile:
        """The subset with a name; ``UnknownVersionError`` if there is no such subset."""
        for subset in self.subsets:
            if subset.subset == name:
                return subset
        raise UnknownVersionError(f"there is no subset {name!r} in subsets/")


def _at(entries: Iterable[E], version: str) -> tuple[E, ...]:
    return tuple(e.at(version) for e in entries if holds(version, e.since, e.until))
