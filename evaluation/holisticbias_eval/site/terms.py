"""The pages of terms: the list that can be searched, a page for each term, and those where reviewers judge terms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from holisticbias.contribute.readings import TermForm, forms
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import MADE_UP, QUORUM, Descriptor, has_quorum
from holisticbias.terms.file_kinds import DescriptorFile
from holisticbias.terms.versions import version_key
from holisticbias_eval.site.changes import FieldChange, field_changes
from holisticbias_eval.site.explored import Explored, ShownRelease
from holisticbias_eval.site.models_results import term_figures
from holisticbias_eval.site.writer import Writer


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


def write_terms(explored: Explored, site: Writer) -> None:
    """Write the page that lists all terms, the page of each term, and the pages that reviewers judge terms on."""
    terms = tuple(shown_terms(explored))
    figures = term_figures(explored.results)
    site.page(
        "terms/index.html", "terms.html.jinja", title="Terms", terms=terms, releases=explored.releases,
        axes=[(axis, tuple(own)) for axis, own in groupby(terms, key=lambda term: term.axis.axis)],
    )  # fmt: skip
    shared = {
        "terms": {term.descriptor.id: term for term in terms},
        "sources": {source.id: source for source in explored.catalog.sources},
        "newest": explored.newest.version,
    }
    for term in terms:
        descriptor = term.descriptor
        site.page(
            f"terms/{descriptor.id}.html", "term.html.jinja", title=descriptor.text, term=term,
            waits=None if has_quorum(descriptor.judgements) else QUORUM, figures=figures.get(descriptor.id, ()),
            in_queue=in_queue(explored, term), **shared,
        )  # fmt: skip
    _write_judging(explored, terms, site)


def _write_judging(explored: Explored, terms: Iterable[ShownTerm], site: Writer) -> None:
    """Write the page of each axis with the terms that wait for a judgement, and the page that lists the axes."""
    waiting = [term for term in terms if in_queue(explored, term)]
    templates = _templates(explored.newest.held)
    queues = []
    for axis in (axis for axis in explored.newest.held.axes if axis.axis != MADE_UP):
        queue = [term for term in waiting if term.axis.axis == axis.axis]
        queues.append((axis.axis, axis.label, [term.descriptor.id for term in queue]))
        site.page(
            f"judge/{axis.axis}.html", "judge.html.jinja", title=f"Judge terms: {axis.label}", label=axis.label,
            terms=[(term, tuple(_sentences(term, templates))) for term in queue],
        )  # fmt: skip
    site.page("judge/index.html", "judge_axes.html.jinja", title="Judge terms", axes=queues)


def in_queue(explored: Explored, term: ShownTerm) -> bool:
    """Whether reviewers can judge a term in the queue: the newest release has it, and too few people have judged it."""
    current = term.release is explored.newest and term.entry.until is None and term.axis.axis != MADE_UP
    return current and not has_quorum(term.entry.judgements)


def _sentences(term: ShownTerm, templates: Iterable[str]) -> Iterator[str]:
    """The first form of a term in these templates, and the others in one each."""
    for place, form in enumerate(term.forms):
        sentences = {t.id: sentence for t, sentence in zip(form.templates, form.sentences, strict=True)}
        wanted = [sentences[name] for name in templates if name in sentences] or [*form.sentences[:1]]
        yield from wanted[: 1 if place else None]


def _templates(held: Catalog) -> tuple[str, ...]:
    """The ids of the templates to show: the first, and the first two of opposite stance, such as love and hate."""
    known = {template.id for template in held.templates}
    opposites = ((t.opposite_of, t.id) for t in held.templates if t.opposite_of in known)
    return tuple(dict.fromkeys((held.templates[0].id, *next(opposites, ()))))


def shown_terms(explored: Explored) -> Iterator[ShownTerm]:
    """The terms of all releases, axis by axis, as worded in the newest release that has them."""
    newest = _newest(explored.releases)
    by_text: dict[str, list[str]] = {}
    for _, _, descriptor in newest.values():
        by_text.setdefault(descriptor.text.casefold(), []).append(descriptor.id)
    raw = {d.id: d for d in explored.catalog.descriptors}
    history = _history(explored, raw)
    for release, axis, descriptor in newest.values():
        yield ShownTerm(
            release,
            axis,
            descriptor,
            tuple(forms(release.held, descriptor, release.record.article_rule)),
            {r.version: r.counts[descriptor.id] for r in reversed(explored.releases) if descriptor.id in r.counts},
            tuple(reversed(history[descriptor.id])),
            raw[descriptor.id],
            tuple(i for i in by_text[descriptor.text.casefold()] if i != descriptor.id),
        )


Newest = Mapping[str, tuple[ShownRelease, DescriptorFile, Descriptor]]


def _newest(releases: Sequence[ShownRelease]) -> Newest:
    """The newest release, the axis and the wording of each term, in the order of the catalog."""
    found = {d.id: (release, axis, d) for release in releases for axis in release.held.axes for d in axis.descriptors}
    order = {d.id: i for i, d in enumerate(releases[-1].catalog.descriptors)}
    return {key: found[key] for key in sorted(found, key=lambda key: order.get(key, len(order)))}


def _history(explored: Explored, raw: Mapping[str, Descriptor]) -> Mapping[str, list[Event]]:
    """The events of each term, oldest first."""
    first = explored.releases[0]
    events = {d.id: [Event(first, "present")] for d in first.held.descriptors}
    differences = {(d.old, d.new): d for d in explored.differences}
    nouns = explored.nouns
    for old, new in pairwise(explored.releases):
        for change in differences[old.version, new.version].entries:
            if (entry := raw.get(change.id)) is not None:
                reasons = _reasons(entry, old.version, new.version) if change.fields else ()
                if change.change == "retired" and entry.reason:
                    reasons = (entry.reason,)
                event = Event(new, change.change, field_changes(change.fields, nouns), reasons)
                events.setdefault(change.id, []).append(event)
    return events


def _reasons(descriptor: Descriptor, old: str, new: str) -> tuple[str, ...]:
    """The reasons on record for changes after one version, up to another."""
    between = (w for w in descriptor.history if version_key(old) < version_key(w.until) <= version_key(new))
    return tuple(dict.fromkeys(w.reason for w in sorted(between, key=lambda w: version_key(w.until))))
