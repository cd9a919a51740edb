"""The pages of terms without a published judgement, where a reviewer judges them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holisticbias.contribute.proposals import MADE_UP
from holisticbias.source.addresses import REPOSITORY
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Judgement, has_quorum
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.term_records import ShownTerm
from holisticbias_eval.site.writer import Writer

JUDGEMENTS: dict[Judgement, str] = {
    "accepted": "I have lived experience of it, and do not object to it.",
    "dispreferred": "I would prefer that it is not used.",
    "polarizing": "I know people who object to it, and people who claim it.",
}
"""What each judgement means, in the words of docs/reviewing.md."""

REPORT = f"{REPOSITORY}/security/advisories/new"
"""The form of private reports, which only maintainers can read."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A term that reviewers can judge, with some of its sentences."""

    term: ShownTerm
    sentences: tuple[str, ...]


def write_judging(explored: Explored, terms: Iterable[ShownTerm], site: Writer) -> None:
    """Write the page of each axis with the terms that wait for a judgement, and the page that lists the axes."""
    waiting: dict[str, list[Waiting]] = {axis.axis: [] for axis in explored.newest.held.axes if axis.axis != MADE_UP}
    for found in _waiting(explored, terms):
        waiting[found.term.axis.axis].append(found)
    labels = {axis.axis: axis.label for axis in explored.newest.held.axes}
    for axis, queue in waiting.items():
        site.page(
            f"judge/{axis}.html",
            "judge.html.jinja",
            area="terms",
            title=f"Judge terms: {labels[axis]}",
            label=labels[axis],
            terms=queue,
            judgements=JUDGEMENTS,
            report=REPORT,
        )
    site.page(
        "judge/index.html",
        "judge_axes.html.jinja",
        area="terms",
        title="Judge terms",
        axes=[(axis, labels[axis], [found.term.descriptor.id for found in queue]) for axis, queue in waiting.items()],
        report=REPORT,
    )


def in_queue(explored: Explored, term: ShownTerm) -> bool:
    """Whether reviewers can judge a term in the queue: the newest release has it, and too few people have judged it."""
    current = term.release is explored.newest and term.entry.until is None and term.axis.axis != MADE_UP
    return current and not has_quorum(term.entry.judgements)


def _waiting(explored: Explored, terms: Iterable[ShownTerm]) -> Iterator[Waiting]:
    """The terms that wait for a judgement, in the order of the catalog."""
    places = _places(explored.newest.held)
    for term in terms:
        if in_queue(explored, term):
            whole, *alone = term.forms
            sentences = (*(whole.sentences[place] for place in places), *(form.sentences[0] for form in alone))
            yield Waiting(term, sentences)


def _places(held: Catalog) -> tuple[int, ...]:
    """The places of the templates to show: the first, and the first two of opposite stance, such as love and hate."""
    templates = [template for family in held.families for template in family.templates]
    place = {template.id: i for i, template in enumerate(templates)}
    opposites = ((place[t.opposite_of], place[t.id]) for t in templates if t.opposite_of in place)
    return tuple(dict.fromkeys((0, *next(opposites, ()))))
