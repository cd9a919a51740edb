"""Judge sentences of a file as those of a generator."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.decoding import storable
from holisticbias_eval.stereotypes.few_shot import LONGEST
from holisticbias_eval.stereotypes.imported import SourceSentence
from holisticbias_eval.stereotypes.record import Returned
from holisticbias_eval.stereotypes.rounds import SentenceJudging, Wanted
from holisticbias_eval.stereotypes.specifications import read_specification

_FIT = 0.5  # share of a name's words that a specification must have
Placed = Sequence[tuple[SourceSentence, Specification]]


def find_specifications(path: Path, sentences: Sequence[SourceSentence]) -> tuple[Specification, ...]:
    """The specifications that a file names, by id or published name, in order of first occurrence.

    Raises ``EvaluationError`` if a row names none, or if a name is unknown.
    """
    names = list(dict.fromkeys(sentence.specification for sentence in sentences))
    if None in names:
        raise EvaluationError(f"{path} does not name a specification in every row: give it with --specification")
    return tuple(read_specification(name) for name in names if name is not None)


def place_sentences(path: Path, sentences: Sequence[SourceSentence], specifications: Sequence[Specification]) -> Placed:
    """The sentences that belong to the specifications, each with the first that takes its name.

    A specification takes rows without a name, with its id or published name, and with any other name if at least
    half of the attributes and half of the terms with it are the specification's. Raises ``EvaluationError`` if no
    sentence belongs to one.
    """
    names = list(dict.fromkeys(sentence.specification for sentence in sentences))
    chosen = {name: next((s for s in specifications if _takes(s, name, sentences)), None) for name in names}
    placed = [(sentence, taken) for sentence in sentences if (taken := chosen[sentence.specification]) is not None]
    if not placed:
        raise EvaluationError(
            f"{path} has no sentences of {', '.join(s.id for s in specifications)}; "
            f"it has those of {', '.join(map(str, names[:8]))[:300]}"
        )
    return placed


def _takes(specification: Specification, name: str | None, sentences: Sequence[SourceSentence]) -> bool:
    if name is None or name in (specification.id, specification.published_as):
        return True
    rows = [sentence for sentence in sentences if sentence.specification == name]
    terms = [term for slot in specification.slots for term in slot.terms if term]
    attributes = [term for chosen in specification.attributes for term in chosen.terms]
    return _fit([row.term for row in rows], terms) and _fit([row.attribute for row in rows], attributes)


def _fit(named: Iterable[str], known: Iterable[str]) -> bool:
    words = {word.casefold() for word in named}
    return len(words & {word.casefold() for word in known}) >= _FIT * len(words)


def judge_imported(placed: Placed, attributes: Sequence[Wanted], judging: SentenceJudging) -> list[Returned]:
    """The log of imported sentences, judged by the rules; their request is the row in the file."""
    by_words = {(w.target.specification, w.target.attribute.casefold()): w for w in reversed(attributes)}
    rows = []
    for sentence, specification in placed:
        wanted = by_words.get((specification.id, sentence.attribute.casefold()))
        row = _judge(sentence, specification.id, wanted, judging)
        if wanted is not None:
            wanted.count([row])
        rows.append(row)
    judged = judging.classified(rows)
    for wanted in attributes:
        wanted.groups.clear()
        wanted.count([row for row in judged if row.target == wanted.target])
    return judged


def _judge(sentence: SourceSentence, specification: str, wanted: Wanted | None, judging: SentenceJudging) -> Returned:
    text = " ".join(storable(sentence.sentence)[:LONGEST].split())
    known = [term for terms in wanted.terms.values() for term in terms] if wanted else []
    drawn = next((term for term in known if term.term.casefold() == sentence.term.casefold()), None)
    rule: str | None = "discarded" if sentence.is_discarded else "not-in-specification"
    if wanted and drawn and not sentence.is_discarded:
        rule = judging.refusing(text, drawn.term, wanted, wanted.seen)
    return Returned(
        request=sentence.row,
        specification=specification,
        attribute_set=wanted.target.attribute_set if wanted else None,
        attribute=wanted.target.attribute if wanted else sentence.attribute,
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
