"""Small catalogs, made of dictionaries or changed; and entries by their ids."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st

from holisticbias.contribute.authoring import Draft, add_entry, apply_edits, open_terms
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, Source, TemplateFile
from holisticbias.terms.version_files import ReleaseFile

Values = Mapping[str, object]
Groups = Mapping[str, Iterable[Values]]
File = TypeVar("File", DescriptorFile, NounFile, TemplateFile)

IM: Values = {"text": "I'm {noun_phrase}."}
LIKE: Values = {"text": "I like {plural_noun_phrase}."}
DESCRIPTORS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from([f"ax.{c}" for c in "abcd"]), "text": st.sampled_from(["kind", "old", "European"])},
        optional={
            "position": st.sampled_from(["before", "after"]),
            "without_noun": st.booleans(),
            "bucket": st.just("some"),
            "not_with": st.just(["noun.person"]),
        },
    ),
    max_size=4,
    unique_by=lambda d: str(d["id"]),
)
TEMPLATES = st.lists(
    st.builds(lambda template, must: {**template, "must_be_noun": must}, st.sampled_from([IM, LIKE]), st.booleans()),
    min_size=1,
    max_size=4,
)


def small_catalog(
    descriptors: Iterable[Values], nouns: Iterable[str], templates: Iterable[Values], rule: str = "sound"
) -> Catalog:
    """Version 1.0.0 with descriptors of one axis, neutral nouns with these texts, and templates of one family."""
    named = [{"id": f"noun.{n}", "text": n, "plural": f"{n}s"} for n in nouns]
    family = [{"id": f"t.{i}", **template} for i, template in enumerate(templates)]
    version = {"version": "1.0.0", "date": "2026", "summary": "x", "article_rule": rule}
    return made_catalog({"ax": descriptors}, {"neutral": named}, {"t": family}, version)


def made_catalog(axes: Groups, genders: Groups, families: Groups, version: Values) -> Catalog:
    """A version with descriptors by axis, nouns by gender and templates by family."""
    common = {"sources": ["smith-2022"], "since": version["version"]}

    def files(kind: type[File], name: str, entries: str, groups: Groups) -> tuple[File, ...]:
        made = {group: [{**common, **entry} for entry in each] for group, each in groups.items()}
        return tuple(
            kind.model_validate({name: group, "label": group.title(), entries: each}) for group, each in made.items()
        )

    return Catalog(
        axes=files(DescriptorFile, "axis", "descriptors", axes),
        genders=files(NounFile, "gender", "nouns", genders),
        families=files(TemplateFile, "family", "templates", families),
        releases=(ReleaseFile.model_validate(version),),
    )


def with_layout(catalog: Catalog, layout: int) -> Catalog:
    """The catalog whose versions have this layout."""
    return replace(catalog, releases=tuple(r.model_copy(update={"layout": layout}) for r in catalog.releases))


def entry_of(terms: Catalog | Path, entry_id: str) -> Any:
    """The entry with an id, in a catalog or a folder of terms."""
    catalog = load_catalog(terms) if isinstance(terms, Path) else terms
    found: Entry = next(entry for _, entry in catalog.entries() if entry.id == entry_id)
    return found


def add_term(folder: Path, word: str) -> None:
    """Add a term of the axis ability to the version ``next``, in its own file with its source."""
    source = Source(id=f"of-{word}", title=word)
    term = {"id": f"ability.{word}", "text": word, "bucket": "auditory", "sources": [source.id], "since": "next"}
    apply_edits(folder, [add_entry(open_terms(folder), Draft("descriptors", "ability", term, [source]))])


def descriptor_ids(catalog: Catalog, version: str) -> set[str]:
    """The ids of the descriptors of a version."""
    return {d.id for d in catalog.at(version).descriptors}
