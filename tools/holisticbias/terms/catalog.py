"""The catalog: all records, and the records of one version."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holisticbias.errors import UnknownVersionError
from holisticbias.terms import file_kinds
from holisticbias.terms.entries import Descriptor, Entry, Judged, Template
from holisticbias.terms.grammar import as_written
from holisticbias.terms.version_files import ReleaseFile
from holisticbias.terms.versions import version_key

FILES: Mapping[file_kinds.Kind, str] = {
    **dict(zip(file_kinds.TERMS, ("axes", "genders", "families"), strict=True)),
    **{kind: str(kind) for kind in file_kinds.COMPANIONS},
}
"""The field of a catalog with the files of each kind that has entries."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The records of all files, with the entries of every version."""

    axes: tuple[file_kinds.DescriptorFile, ...]
    genders: tuple[file_kinds.NounFile, ...]
    families: tuple[file_kinds.TemplateFile, ...]
    releases: tuple[ReleaseFile, ...]
    sources: tuple[file_kinds.Source, ...] = ()
    subsets: tuple[file_kinds.SubsetFile, ...] = ()
    intersections: file_kinds.IntersectionsFile | None = None
    collections: tuple[file_kinds.CollectionFile, ...] = ()
    prompts: tuple[file_kinds.PromptFile, ...] = ()
    specifications: tuple[file_kinds.SpecificationFile, ...] = ()

    def __repr__(self) -> str:
        """One line: the number of entries, and the versions."""
        return f"<HolisticBias terms: {sum(1 for _ in self.entries()):,} entries, versions {', '.join(self.versions)}>"

    @property
    def files(self) -> tuple[file_kinds.HeldFile, ...]:
        """The files with entries: descriptors, nouns, templates, then companions."""
        return (*self.axes, *self.genders, *self.families, *self.companions)

    @property
    def companions(self) -> tuple[file_kinds.CompanionFile, ...]:
        """The files of collections, prompts and specifications."""
        return (*self.collections, *self.prompts, *self.specifications)

    @property
    def descriptors(self) -> tuple[Descriptor, ...]:
        """The descriptors of all axes."""
        return tuple(d for axis in self.axes for d in axis.descriptors)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of all families."""
        return tuple(t for family in self.families for t in family.templates)

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The entries that reviewers judge: descriptors, then specifications."""
        return (*self.descriptors, *(s for file in self.specifications for s in file.specifications))

    def entries(self) -> Iterator[tuple[file_kinds.HeldFile, Entry]]:
        """Every entry, with its file."""
        return ((file, entry) for file in self.files for entry in file.entries)

    def named(self, name: str) -> Iterator[tuple[file_kinds.HeldFile, Entry]]:
        """The entries with this id, or this text apart from case, spaces and typographic marks, with their files."""
        wanted = as_written(name).casefold()
        return ((file, entry) for file, entry in self.entries() if wanted in (entry.id, entry.text.casefold()))

    def changed(self, change: Callable[[Entry], Entry | None]) -> "Catalog":
        """The catalog with every entry changed; those for which ``change`` returns None are left out."""
        return replace(self, **{name: self._changed(name, change) for name in FILES.values()})

    def _changed(self, name: str, change: Callable[[Entry], Entry | None]) -> Any:
        files: tuple[file_kinds.HeldFile, ...] = getattr(self, name)
        return tuple(file.with_entries(filter(None, map(change, file.entries))) for file in files)

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
        return f"version {version} was withdrawn on {str(withdrawn).rstrip('.')}{use}"

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

    def at(self, version: str) -> "Catalog":
        """The catalog with the entries of one version, worded as then."""
        self.release(version)
        whole = self.changed(lambda entry: entry.at(version) if entry.is_in(version) else None)
        files: dict[str, Any] = {name: tuple(f for f in getattr(whole, name) if f.entries) for name in FILES.values()}
        return replace(whole, **files)

    def subset(self, name: str) -> file_kinds.SubsetFile:
        """The subset with a name; ``UnknownVersionError`` if there is no such subset."""
        for subset in self.subsets:
            if subset.subset == name:
                return subset
        raise UnknownVersionError(f"there is no subset {name!r} in subsets/")
