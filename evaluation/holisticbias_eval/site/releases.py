"""The pages of releases: the list, a page for each release, and a page for each pair of releases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from holisticbias.compile.sentence_changes import ChangedSentence
from holisticbias.contribute.diff import CHANGES, Difference, EntryChange
from holisticbias.contribute.diff_report import COMPARABLE
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.changes import FieldChange, example_finder, field_changes
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer

_KINDS = {"collections": "Groups"}


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change of an entry: its heading, its fields in words, and a sentence with it before and after."""

    entry: EntryChange
    heading: str
    fields: tuple[FieldChange, ...]
    example: ChangedSentence | None


def write_releases(explored: Explored, site: Writer) -> None:
    """Write the page that lists the releases, the page of each, and the differences of each pair."""
    pairs = {(d.old, d.new): d for d in explored.differences}
    site.page("releases/index.html", "releases.html.jinja", title="Releases", releases=explored.releases, pairs=pairs)
    for release in explored.releases:
        site.page(
            f"releases/{release.version}.html", "release.html.jinja", title=f"Release {release.version}",
            release=release, pairs=[pair for pair in pairs if release.version in pair],
        )  # fmt: skip
    for difference in pairs.values():
        _write_difference(difference, explored, site)


def _write_difference(difference: Difference, explored: Explored, site: Writer) -> None:
    catalog = explored.catalog
    templates = {t.id: t.text for t in catalog.templates}
    changes = _changes(difference, explored)
    kinds = []
    for kind in CHANGES:
        if changed := [change for change in changes if change.entry.change == kind]:
            headed = [(heading, tuple(same)) for heading, same in groupby(changed, key=lambda change: change.heading)]
            kinds.append((kind, len(changed), headed))
    site.page(
        f"releases/{difference.old}-to-{difference.new}.html", "difference.html.jinja",
        title=f"Changes from {difference.old} to {difference.new}", difference=difference,
        comparable=COMPARABLE[difference.comparable], labels={a.axis: a.label for a in catalog.axes} | templates,
        kinds=kinds,
        terms={key for release in explored.releases for key in release.counts},
    )  # fmt: skip


def _changes(difference: Difference, explored: Explored) -> Sequence[ShownChange]:
    releases = {release.version: release for release in explored.releases}
    nouns = explored.nouns
    headings = dict(_headings(explored.catalog))
    example = example_finder(releases[difference.old], releases[difference.new])
    return [
        ShownChange(entry, headings.get(entry.id, ""), field_changes(entry.fields, nouns), example(entry.id))
        for entry in difference.entries
    ]


def _headings(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The id of each entry, and the heading that it stands under."""
    for axis in catalog.axes:
        yield from ((descriptor.id, axis.label) for descriptor in axis.descriptors)
    for gender in catalog.genders:
        yield from ((noun.id, "Nouns") for noun in gender.nouns)
    for family in catalog.families:
        yield from ((template.id, f"Templates: {family.label}") for template in family.templates)
    for file in catalog.companions:
        kind = file.place.partition("/")[0]
        yield from ((entry.id, f"{_KINDS.get(kind, kind.capitalize())}: {file.label}") for entry in file.entries)
