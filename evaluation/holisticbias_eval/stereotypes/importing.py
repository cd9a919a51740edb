"""Judge sentences of a file as those of a generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.decoding import storable
from holisticbias_eval.stereotypes.acceptance import Candidate, refusing_rule
from holisticbias_eval.stereotypes.few_shot import LONGEST
from holisticbias_eval.stereotypes.imported import Imported
from holisticbias_eval.stereotypes.record import Returned
from holisticbias_eval.stereotypes.rounds import Progressing, SentenceJudging, refuse_by_classifiers
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.stereotypes.targets import GroupTerm, Target

_FIT = 0.5  # share of a name's words that a specification must have


def find_specifications(path: Path, sentences: Sequence[Imported]) -> tuple[Specification, ...]:
    """The specifications that a file names, by id or published name, in order of first occurrence.

    Raises ``EvaluationError`` if a row names none, or if a name is unknown.
    """
    names = list(dict.fromkeys(sentence.specification for sentence in sentences))
    if None in names:
        raise EvaluationError(f"{path} does not name a specification in every row: give it with --specification")
    return tuple(read_specification(name) for name in names if name is not None)


def place_sentences(
    path: Path, sentences: Sequence[Imported], specifications: Sequence[Specification]
) -> list[tuple[Imported, Specification]]:
    """The sentences that belong to the specifications, each with the first that takes its name.

    A specification takes rows without a name, with its id or published name, and with any other name if at least
    half of the attributes and half of the terms with it are the specification's. Raises ``EvaluationError`` if no
    sentence belongs to one.
    """
    names = list(dict.fromkeys(sentence.specification for sentence in sentences))
    chosen: Mapping[str | None, Specification | None] = {
        name: next((s for s in specifications if _takes(s, name, sentences)), None) for name in names
    }
    placed = [(sentence, found) for sentence in sentences if (found := chosen[sentence.specification]) is not None]
    if not placed:
        raise EvaluationError(
            f"{path} has no sentences of {', '.join(s.id for s in specifications)}; "
            f"it has those of {', '.join(map(str, names[:8]))[:300]}"
        )
    return placed


def judge_imported(
    placed: Sequence[tuple[Imported, Specification]], states: Sequence[Progressing], judging: SentenceJudging
) -> list[Returned]:
    """The log of imported sentences, judged by the rules; their request is the row in the file."""
    by_words = {_words(state.wanted.target): state for state in reversed(states)}
    rows = []
    for sentence, specification in placed:
        state = by_words.get((specification.id, sentence.attribute.casefold()))
        row = _judge(sentence, specification.id, state, judging)
        if state is not None:
            state.count([row])
        rows.append(row)
    judged = refuse_by_classifiers(rows, judging.classifiers)
    for state in states:
        state.groups.clear()
        state.count([row for row in judged if _target(row) == state.wanted.target])
    return judged


def _takes(specification: Specification, name: str | None, sentences: Sequence[Imported]) -> bool:
    if name is None or name in (specification.id, specification.published_as):
        return True
    own = {term.casefold() for slot in specification.slots for term in slot.terms if term}
    attributes = {term.casefold() for found in specification.attributes for term in found.terms}
    rows = [sentence for sentence in sentences if sentence.specification == name]
    terms, asked = ({row.term.casefold() for row in rows}, {row.attribute.casefold() for row in rows})
    return len(terms & own) >= _FIT * len(terms) and len(asked & attributes) >= _FIT * len(asked)


def _words(target: Target) -> tuple[str, str]:
    return target.specification, target.attribute.casefold()


def _target(row: Returned) -> Target:
    return Target(row.specification, row.attribute_set or "", row.attribute)


def _judge(sentence: Imported, specification: str, state: Progressing | None, judging: SentenceJudging) -> Returned:
    text = " ".join(storable(sentence.sentence)[:LONGEST].split())
    drawn = None if state is None else _drawn(sentence.term, state)
    if sentence.discarded:
        rule: str | None = "discarded"
    elif state is None or drawn is None:
        rule = "not-in-specification"
    else:
        terms, target = state.wanted.all_terms, state.wanted.target
        candidate = Candidate(text, drawn.term, target.attribute, terms, (), state.seen, judging.limits)
        rule = refusing_rule(candidate, judging.rules)
    return Returned(
        request=sentence.row,
        specification=specification,
        attribute_set=state.wanted.target.attribute_set if state else None,
        attribute=state.wanted.target.attribute if state else sentence.attribute,
        group=drawn.group if drawn else None,
        slot=drawn.slot if drawn else None,
        term=drawn.term if drawn else sentence.term,
        sample=0,
        prompt_sha256=None,
        text=text,
        sentence=text,
        accepted=rule is None,
        rule=rule,
    )


def _drawn(term: str, state: Progressing) -> GroupTerm | None:
    """The first slot of a term, in the order of the groups."""
    known = (found for terms in state.wanted.terms.values() for found in terms)
    return next((found for found in known if found.term.casefold() == term.casefold()), None)
