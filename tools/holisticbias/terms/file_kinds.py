"""One record for each kind of file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import Field, StrictInt

from holisticbias.terms.entries import (
    Descriptor,
    Entry,
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
from holisticbias.terms.prompt_entries import Group, Prompt
from holisticbias.terms.specification_entries import Specification
from holisticbias.terms.version_files import ReleaseFile

T = TypeVar("T")
Kind = Literal[
    "descriptors",
    "nouns",
    "templates",
    "collections",
    "prompts",
    "specifications",
    "releases",
    "subsets",
    "sources",
    "waivers",
    "intersections",
    "locks",
]


def place_among(entries: Sequence[T], entry: T, value: Callable[[T, str], object]) -> int:
    """The place of a new entry among others: after the last of its bucket or group of people, else at the end.

    ``value`` gives the value of a key of an entry, null without one.
    """

    def group(one: T) -> object:
        return value(one, "bucket") or value(one, "group")

    alike = [place for place, other in enumerate(entries) if group(entry) is not None and group(other) == group(entry)]
    return alike[-1] + 1 if alike else len(entries)


def entries_key(kind: Kind) -> str:
    """The key of the list of entries in a file of that kind."""
    return "groups" if kind == "collections" else kind


class Source(Record):
    """A source of entries or judgements."""

    id: SourceId
    title: Text
    year: StrictInt | None = None
    url: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$")] | None = None
    note: Prose | None = Field(None, description="what a contributor says of it, in their words")


class GroupFile(Record):
    """A file with the entries of one group, such as an axis.

    ``keys`` say which group it is, and ``shared_keys`` are shown with each entry in a release, besides its name.
    """

    kind: ClassVar[Kind]
    keys: ClassVar[tuple[str, ...]]
    shared_keys: ClassVar[tuple[str, ...]] = ()

    sources: tuple[Source, ...] = Field((), description="sources of new entries that sources.yaml does not list yet")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The file's entries."""
        held: tuple[Entry, ...] = getattr(self, entries_key(self.kind))
        return held

    @property
    def group(self) -> str:
        """The name of the group: an axis, a gender, a family, a collection, or a collection and a domain."""
        return "/".join(getattr(self, key) for key in self.keys)

    @property
    def place(self) -> str:
        """The name of the file among all files with entries."""
        return f"{self.kind}/{self.group}"

    @property
    def prefix(self) -> str:
        """The part of the entries' ids before the dot."""
        return str(getattr(self, self.keys[-1]))

    @property
    def shared(self) -> dict[str, str | int]:
        """The values of ``shared_keys``."""
        return {name: getattr(self, name) for name in self.shared_keys}

    def with_entries(self, entries: Iterable[Entry]) -> Self:
        """The file with other entries."""
        return self.model_copy(update={entries_key(self.kind): tuple(entries)})


class DescriptorFile(GroupFile):
    """A file in ``descriptors/``: one axis."""

    kind = "descriptors"
    keys = ("axis",)

    axis: Key
    label: Text
    buckets: tuple[Key, ...] = ()
    descriptors: tuple[Descriptor, ...]


class NounFile(GroupFile):
    """A file in ``nouns/``: the nouns of one gender."""

    kind = "nouns"
    keys = ("gender",)

    gender: Gender
    label: Text
    nouns: tuple[Noun, ...]

    @property
    def prefix(self) -> str:
        """The part of the nouns' ids before the dot."""
        return "noun"


class TemplateFile(GroupFile):
    """A file in ``templates/``: one family."""

    kind = "templates"
    keys = ("family",)

    family: Key
    label: Text
    templates: tuple[Template, ...]


class CollectionFile(GroupFile):
    """A file in ``collections/``: groups, and the rule that makes prompts of sentences about them.

    A sentence has at least ``least_words`` words and the term among its first ``term_within`` words; its prompt is its
    first ``prompt_words`` words and the term (Dhamala et al. 2021, section 3).
    """

    kind = "collections"
    keys = ("collection",)
    shared_keys = ("prompt_words", "term_within", "least_words")

    collection: Key
    label: Text
    prompt_words: StrictInt = Field(5, ge=1)
    term_within: StrictInt = Field(8, ge=1)
    least_words: StrictInt = Field(8, ge=1)
    groups: tuple[Group, ...]


class PromptFile(GroupFile):
    """A file in ``prompts/``: the prompts of one domain of a collection, with a person's continuations."""

    kind = "prompts"
    keys = ("collection", "domain")
    shared_keys = ("label",)

    domain: Key
    label: Text
    collection: Key
    prompts: tuple[Prompt, ...]


class SpecificationFile(GroupFile):
    """A file in ``specifications/``: the bias specifications of one family."""

    kind = "specifications"
    keys = ("family",)

    family: Key
    label: Text
    specifications: tuple[Specification, ...]


TermFile = DescriptorFile | NounFile | TemplateFile
CompanionFile = CollectionFile | PromptFile | SpecificationFile
HeldFile = TermFile | CompanionFile
"""A file that holds entries."""
GROUP_FILES: tuple[type[GroupFile], ...] = get_args(HeldFile)
TERMS: tuple[Kind, ...] = tuple(file.kind for file in get_args(TermFile))
"""The kinds of files that every folder of terms has."""
COMPANIONS: tuple[Kind, ...] = tuple(file.kind for file in get_args(CompanionFile))
GROUP_KEYS: Mapping[Kind, tuple[str, ...]] = {file.kind: file.keys for file in GROUP_FILES}
"""The keys that say which group of entries a file has."""
ENTRY_TYPES: Mapping[Kind, type[Entry]] = {
    file.kind: get_args(file.model_fields[entries_key(file.kind)].annotation)[0] for file in GROUP_FILES
}


class SourcesFile(Record):
    """``sources.yaml``."""

    sources: tuple[Source, ...]


class WaiversFile(Record):
    """``waivers.yaml``: for each rule, the entries that are older than the rule and break it."""

    waivers: dict[Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")], tuple[Id, ...]]


class Exclusion(Record):
    """Contradicting pairs: any of ``these`` descriptors with any of ``those`` descriptors or nouns."""

    these: tuple[Selector, ...] = Field(min_length=1)
    those: tuple[Selector, ...] = Field(min_length=1)
    reason: Prose


class IntersectionsFile(Record):
    """``intersections.yaml``: the order of two descriptors, and pairs that contradict each other."""

    order: tuple[Key | Selector, ...] = Field(
        description="axes, buckets as axis/bucket, and ids, in the order of their terms before a noun; the last stands "
        "next to the noun"
    )
    exclusions: tuple[Exclusion, ...] = ()

    def excluded_nouns(self) -> dict[str, list[str]]:
        """The ids of the nouns that are excluded for each id or bucket of descriptors."""
        found: dict[str, list[str]] = {}
        for exclusion in self.exclusions:
            nouns = [name for name in exclusion.those if name.startswith("noun.")]
            for name in exclusion.these if nouns else ():
                found.setdefault(name, []).extend(nouns)
        return found

    def rank(self, axis: str, bucket: str | None, entry: str) -> int:
        """Place of a term in the order: of its id, else its bucket, else its axis; last if none is listed."""
        named = (name for name in (entry, f"{axis}/{bucket}", axis) if name in self.order)
        return next((self.order.index(name) for name in named), len(self.order))


class SubsetFile(Record):
    """``subsets/*.yaml``: a fixed selection of descriptors."""

    subset: Key
    summary: Prose
    descriptors: tuple[Id, ...]


MODELS: Mapping[Kind, type[Record]] = {
    **{file.kind: file for file in GROUP_FILES},
    "releases": ReleaseFile,
    "subsets": SubsetFile,
    "sources": SourcesFile,
    "waivers": WaiversFile,
    "intersections": IntersectionsFile,
}
"""The record of each kind of file that people edit."""
