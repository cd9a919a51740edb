"""The pages of releases: the list, a page for each release, and a page for each pair of releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from holisticbias.contribute.diff import CHANGES, Difference, EntryChange
from holisticbias.contribute.diff_report import COMPARABLE
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.changes import FieldChange, field_changes
from holisticbias_eval.site.examples import Example, example_finder
from holisticbias_eval.site.explored import Explored, ShownRelease
from holisticbias_eval.site.loading import load_snippets
from holisticbias_eval.site.writer import Writer


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change of an entry: its heading, its fields in words, and a sentence with it before and after."""

    entry: EntryChange
    heading: str
    fields: tuple[FieldChange, ...]
    example: Example | None


def write_releases(explored: Explored, site: Writer) -> None:
    """Write the page that lists the releases, the page of each, and the differences of each pair."""
    releases = explored.releases
    pairs = {(d.old, d.new): d for d in explored.differences}
    site.page(
        "releases/index.html",
        "releases.html.jinja",
        area="releases",
        title="Releases",
        releases=releases,
        pairs=pairs,
    )
    for release in releases:
        site.page(
            f"releases/{release.version}.html",
            "release.html.jinja",
            area="releases",
            title=f"Release {release.version}",
            release=release,
            held=release.held,
            pairs=[pair for pair in pairs if release.version in pair],
            snippets=load_snippets(release.manifest),
        )
    by_version = {release.version: release for release in releases}
    for (old, new), difference in pairs.items():
        _write_difference(difference, by_version[old], by_version[new], explored, site)


def _write_difference(
    difference: Difference, old: ShownRelease, new: ShownRelease, explored: Explored, site: Writer
) -> None:
    catalog = explored.catalog
    labels = {
        **{axis.axis: axis.label for axis in catalog.axes},
        **{t.id: t.text for family in catalog.families for t in family.templates},
    }
    changes = _changes(difference, old, new, explored)
    kinds = [(kind, [c for c in changes if c.entry.change == kind]) for kind in CHANGES]
    site.page(
        f"releases/{old.version}-to-{new.version}.html",
        "difference.html.jinja",
        area="releases",
        title=f"Changes from {old.version} to {new.version}",
        difference=difference,
        comparable=COMPARABLE[difference.comparable],
        kinds=[(kind, len(own), _by_heading(own)) for kind, own in kinds if own],
        labels=labels,
        terms={key for release in explored.releases for key in release.counts},
    )


def _changes(difference: Difference, old: ShownRelease, new: ShownRelease, explored: Explored) -> Sequence[ShownChange]:
    nouns = {n.id: n.text for g in explored.catalog.genders for n in g.nouns}
    headings = dict(_headings(explored.catalog))
    example = example_finder(old, new)
    return [
        ShownChange(e, headings.get(e.id, ""), field_changes(e.fields, nouns), example(e.id))
        for e in difference.entries
    ]


def _headings(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The id of each entry, and the heading that it stands under."""
    for axis in catalog.axes:
        yield from ((d.id, axis.label) for d in axis.descriptors)
    for gender in catalog.genders:
        yield from ((n.id, "Nouns") for n in gender.nouns)
    for family in catalog.families:
        yield from ((t.id, f"Templates: {family.label}") for t in family.templates)
    for file in catalog.companions:
        kind = file.place.partition("/")[0]
        yield from ((entry.id, f"{_KINDS.get(kind, kind.capitalize())}: {file.label}") for entry in file.entries)


_KINDS = {"collections": "Groups"}


def _by_heading(changes: Sequence[ShownChange]) -> Sequence[tuple[str, Sequence[ShownChange]]]:
    return [(heading, tuple(own)) for heading, own in groupby(changes, key=lambda change: change.heading)]
