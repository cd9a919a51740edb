"""Invented responses of two models, studies made of them, and annotators with a known preference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.judgements.answers import AnnotatorAnswer
from holisticbias_eval.judgements.key import QUESTIONS, Choice, JudgedModel, Key, SheetTask
from holisticbias_eval.judgements.matching import JudgedResponses
from holisticbias_eval.judgements.settings import StudySettings
from holisticbias_eval.judgements.study import make_key

NAMES = tuple(question.id for question in QUESTIONS.read("acute-eval").questions)
Choose = Callable[[np.random.Generator, int, int, str], bool]
"""Whether an annotator (by number) chooses model B for a pair (by number) and a question."""


def source(name: str, rows: Sequence[Mapping[str, object]]) -> JudgedResponses:
    return JudgedResponses(JudgedModel(name=name), pa.Table.from_pylist(list(rows)), Path(name))


def sources(count: int, repeats: int = 1) -> tuple[JudgedResponses, JudgedResponses]:
    """Two models that answer the same prompts, each in its own words."""
    prompts = [f"I like wug number {i}." for i in range(count) for _ in range(repeats)]
    return (
        source("dax/one", [{"prompt": p, "response": f"one says {i}"} for i, p in enumerate(prompts)]),
        source("dax/two", [{"prompt": p, "response": f"two says {i}"} for i, p in enumerate(prompts)]),
    )


def study(count: int = 6, design: StudySettings | None = None, repeats: int = 1) -> Key:
    return make_key(sources(count, repeats), design or StudySettings(pairs=count * repeats))


def answers_of(key: Key, choose: Choose, *, sloppy: Sequence[int] = (), seed: int = 0) -> Iterator[AnnotatorAnswer]:
    """The answers of an annotator for each sheet; sloppy ones choose at random and fail catch questions."""
    rng = np.random.default_rng(seed)
    pairs = {pair.id: i for i, pair in enumerate(key.pairs)}
    for task in key.tasks:
        if task.sheet:
            catch = key.pairs[pairs[task.pair]].catch
            for question in NAMES:
                if task.sheet in sloppy:
                    place = int(rng.random() < 0.5)
                else:
                    place = 0 if catch else int(choose(rng, task.sheet, pairs[task.pair], question))
                yield AnnotatorAnswer(f"annotator-{task.sheet}", task.id, question, side(task, place))


def saved_answers(key: Key, answers: Sequence[AnnotatorAnswer]) -> dict[str, Any]:
    """The answers of an annotator, as the page saves them."""
    listed = [{"task": a.task, "question": a.question, "choice": a.choice, "seconds": 4.2} for a in answers]
    return {
        "form": "holisticbias acute-eval answers", "version": 1, "study": key.study,
        "annotator": answers[0].annotator, "sheet": 1, "saved": "2026-03-09T22:16:08.728Z", "answers": listed,
    }  # fmt: skip


def side(task: SheetTask, place: int) -> Choice:
    """The choice that takes the response at this place of its pair."""
    return "left" if place == task.left else "right"
