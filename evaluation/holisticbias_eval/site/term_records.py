"""Terms as their pages show them, over all releases of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias.contribute.diff import Difference
from holisticbias.contribute.readings import TermForm, forms
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.file_kinds import DescriptorFile
from holisticbias.terms.versions import version_key
from holisticbias_eval.site.changes import FieldChange, field_changes
from holisticbias_eval.site.explored import Explored, ShownRelease


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a term between two shown releases, or its first appearance.

    ``what`` is a kind of change such as "added" or "reworded", ``fields`` the values that changed, and ``reasons`` the
    reasons on record.
    """

    release: ShownRelease
    what: str
    fields: tuple[FieldChange, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownTerm:
    """A term as worded and judged in ``release``, the newest release on the site that has it.

    ``entry`` is the term as it is in the files now, with judgements and changes that no release has yet.
    ``counts`` has the number of its sentences in each release, newest first, and ``events`` its history, newest first.
    ``namesakes`` are ids of other entries with the same text.
    """

    release: ShownRelease
    axis: DescriptorFile
    descriptor: Descriptor
    forms: tuple[TermForm, ...]
    counts: Mapping[str, int]
    events: tuple[Event, ...]
    entry: Descriptor
    namesakes: tuple[str, ...]


def shown_terms(explored: Explored) -> Iterator[ShownTerm]:
    """The terms of all releases, axis by axis, as worded in the newest release that has them."""
    newest = _newest(explored.releases)
    by_text: dict[str, list[str]] = {}
    for _, _, descriptor in newest.values():
        by_text.setdefault(descriptor.text.casefold(), []).append(descriptor.id)
    raw = {d.id: d for axis in explored.catalog.axes for d in axis.descriptors}
    history = _history(explored, raw)
    for release, axis, descriptor in newest.values():
        yield ShownTerm(
            release,
            axis,
            descriptor,
            forms(release.held, descriptor, release.record.article_rule),
            {r.version: r.counts[descriptor.id] for r in reversed(explored.releases) if descriptor.id in r.counts},
            tuple(reversed(history[descriptor.id])),
            raw[descriptor.id],
            tuple(i for i in by_text[descriptor.text.casefold()] if i != descriptor.id),
        )


_Newest = Mapping[str, tuple[ShownRelease, DescriptorFile, Descriptor]]


def _newest(releases: Sequence[ShownRelease]) -> _Newest:
    """The newest release, the axis and the wording of each term, in the order of the catalog."""
    found = {d.id: (release, axis, d) for release in releases for axis in release.held.axes for d in axis.descriptors}
    order = {d.id: i for i, d in enumerate(d for axis in releases[-1].catalog.axes for d in axis.descriptors)}
    return {key: found[key] for key in sorted(found, key=lambda key: order.get(key, len(order)))}


def _history(explored: Explored, raw: Mapping[str, Descriptor]) -> Mapping[str, list[Event]]:
    """The events of each term, oldest first."""
    first = explored.releases[0]
    events = {d.id: [Event(first, "present")] for axis in first.held.axes for d in axis.descriptors}
    differences = {(d.old, d.new): d for d in explored.differences}
    nouns = {n.id: n.text for g in explored.catalog.genders for n in g.nouns}
    for old, new in zip(explored.releases, explored.releases[1:], strict=False):
        for entry_id, event in _events(differences[old.version, new.version], old, new, raw, nouns):
            events.setdefault(entry_id, []).append(event)
    return events


def _events(
    difference: Difference,
    old: ShownRelease,
    new: ShownRelease,
    raw: Mapping[str, Descriptor],
    nouns: Mapping[str, str],
) -> Iterable[tuple[str, Event]]:
    for change in difference.entries:
        if change.id in raw:
            reasons = _reasons(raw[change.id], old.version, new.version) if change.fields else ()
            if change.change == "retired" and raw[change.id].reason:
                reasons = (str(raw[change.id].reason),)
            yield change.id, Event(new, change.change, field_changes(change.fields, nouns), reasons)


def _reasons(descriptor: Descriptor, old: str, new: str) -> tuple[str, ...]:
    """The reasons on record for changes after one version, up to another."""
    between = (w for w in descriptor.history if version_key(old) < version_key(w.until) <= version_key(new))
    return tuple(dict.fromkeys(w.reason for w in sorted(between, key=lambda w: version_key(w.until))))
