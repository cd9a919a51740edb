"""Join answers to the key: who chose which model, for which pair and question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from holisticbias_eval.judgements.answers import Answer
from holisticbias_eval.judgements.key import Choice, Key, Pair, Task

Outcome = Literal["first", "second", "tie", "refused"]
Asked = tuple[str, str, str]
"""Annotator, pair and question."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of an annotator to a question about a pair: whose response, and on which side it stood.

    ``first`` is model A, and the good response of a catch question.
    """

    annotator: str
    question: str
    pair: Pair
    outcome: Outcome
    choice: Choice


@dataclass(frozen=True, slots=True)
class Judgements:
    """Judgements of pairs and of catch questions, and counts of answers that could not be used.

    ``unknown`` answers are to tasks or questions that the key does not have, ``empty`` ones have no choice. If an
    annotator has answered a question about a pair several times, equal answers count once (``repeated``), different
    ones not at all (``conflicting``).
    """

    pairs: tuple[Judgement, ...]
    catches: tuple[Judgement, ...]
    unknown: int
    empty: int
    repeated: int
    conflicting: int


def join(answers: Iterable[Answer], key: Key) -> Judgements:
    """The judgements in the order of annotators, pairs and questions."""
    tasks = {task.id: task for task in key.tasks}
    pairs = {pair.id: pair for pair in key.pairs}
    questions = {question.id for question in key.questions}
    counts: Counter[str] = Counter()
    found: dict[Asked, list[Judgement]] = defaultdict(list)
    for answer in answers:
        task = tasks.get(answer.task)
        if task is None or answer.question not in questions:
            counts["unknown"] += 1
        elif answer.choice is None:
            counts["empty"] += 1
        else:
            outcome = outcome_of(answer.choice, task)
            one = Judgement(answer.annotator, answer.question, pairs[task.pair], outcome, answer.choice)
            found[answer.annotator, task.pair, answer.question].append(one)
    order = {pair.id: i for i, pair in enumerate(key.pairs)}
    kept = _distinct(found, order, counts)
    return Judgements(
        pairs=tuple(one for one in kept if not one.pair.catch),
        catches=tuple(one for one in kept if one.pair.catch),
        unknown=counts["unknown"],
        empty=counts["empty"],
        repeated=counts["repeated"],
        conflicting=counts["conflicting"],
    )


def _distinct(
    found: Mapping[Asked, list[Judgement]], order: Mapping[str, int], counts: Counter[str]
) -> list[Judgement]:
    kept = []
    for asked in sorted(found, key=lambda one: (one[0], order[one[1]], one[2])):
        given = found[asked]
        if len({one.outcome for one in given}) > 1:
            counts["conflicting"] += 1
        else:
            counts["repeated"] += len(given) - 1
            kept.append(given[0])
    return kept


def outcome_of(choice: Choice, task: Task) -> Outcome:
    """The model whose response was chosen, by the sides of the task."""
    if choice in ("tie", "refused"):
        return "tie" if choice == "tie" else "refused"
    place = task.left if choice == "left" else 1 - task.left
    return "first" if place == 0 else "second"
