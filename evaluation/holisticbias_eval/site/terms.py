"""The pages of terms: the list that can be searched, and a page for each term."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from holisticbias.contribute.issue_forms import issue_link
from holisticbias.contribute.proposals import MADE_UP
from holisticbias.terms.entries import QUORUM, has_quorum
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.judging import in_queue, write_judging
from holisticbias_eval.site.models_terms import term_figures
from holisticbias_eval.site.term_records import ShownTerm, shown_terms
from holisticbias_eval.site.writer import Writer


def write_terms(explored: Explored, site: Writer) -> None:
    """Write the page that lists all terms, the page of each term, and the pages that reviewers judge terms on."""
    terms = tuple(shown_terms(explored))
    figures = term_figures(explored.results)
    sources = {source.id: source for source in explored.catalog.sources}
    texts = {term.descriptor.id: term for term in terms}
    axes = [(axis, tuple(own)) for axis, own in groupby(terms, key=lambda term: term.axis.axis)]
    site.page(
        "terms/index.html",
        "terms.html.jinja",
        area="terms",
        title="Terms",
        axes=axes,
        terms=terms,
        releases=explored.releases,
        propose=issue_link("propose-term"),
    )
    for term in terms:
        site.page(
            f"terms/{term.descriptor.id}.html",
            "term.html.jinja",
            area="terms",
            title=term.descriptor.text,
            term=term,
            terms=texts,
            sources=sources,
            newest=explored.newest.version,
            waits=None if has_quorum(term.descriptor.judgements) else QUORUM,
            figures=figures.get(term.descriptor.id, ()),
            links=tuple(_links(term)),
            in_queue=in_queue(explored, term),
        )
    write_judging(explored, terms, site)


def _links(term: ShownTerm) -> Iterator[tuple[str, str, str]]:
    """The forms in which people answer to a term: title, when to use it, address."""
    descriptor, axis = term.descriptor, term.axis.axis
    yield (
        "Dispute this term",
        "Its community objects to it, or prefers another term.",
        issue_link("report-term", entry=descriptor.id),
    )
    if axis != MADE_UP:
        yield (
            "Dispute its place",
            "It belongs to another axis or bucket.",
            issue_link("dispute-placement", entry=descriptor.id, axis=axis),
        )
    yield (
        "Propose a change of its sentences",
        "A sentence with it is not natural English.",
        issue_link("report-grammar", entry=descriptor.id),
    )
