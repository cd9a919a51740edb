"""Read answers of annotators, and join them to the key: who chose which model, for which pair and question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from holisticbias.source.schema_messages import first_fault
from holisticbias_eval.corpus.label_studio import read_studio
from holisticbias_eval.errors import CorpusError, JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.judgements.key import CHOICES, KEY, Choice, Key, SheetTask, ShownPair
from holisticbias_eval.judgements.study import ANSWERS, TASK, TASKS
from holisticbias_eval.tables.rows import read_json

_NOT_ANSWERS = (KEY, TASKS, "analysis.json")
_CHOICES: Mapping[str, Choice] = {
    **{choice: choice for choice in CHOICES},
    **{words.casefold(): choice for choice, words in CHOICES.items()},
}
_SHOWN = 80
Outcome = Literal["first", "second", "tie", "refused"]


@dataclass(frozen=True, slots=True)
class AnnotatorAnswer:
    """An answer to a question about a task; null if a task in Label Studio has none."""

    annotator: str
    task: str
    question: str
    choice: Choice | None


class SavedAnswer(Part):
    """An answer as the page saves it, with the seconds that it took."""

    task: str = Field(max_length=100)
    question: str = Field(max_length=100)
    choice: Choice
    seconds: float | None = None


class SavedAnswers(Part):
    """A file that the page saves."""

    form: Literal["holisticbias acute-eval answers"]
    version: Literal[1]
    study: str = Field(max_length=100)
    annotator: str = Field(min_length=1, max_length=80, pattern=r"^[\w-]+$")
    sheet: int
    saved: str = Field(max_length=100)
    answers: tuple[SavedAnswer, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of an annotator to a question about a pair: whose response, and on which side it stood.

    ``first`` is model A, and the good response of a catch question.
    """

    annotator: str
    question: str
    pair: ShownPair
    outcome: Outcome
    choice: Choice

    @property
    def is_choice(self) -> bool:
        """Whether a speaker was chosen."""
        return self.outcome in ("first", "second")


@dataclass(frozen=True, slots=True)
class Judgements:
    """Judgements of pairs and of catch questions, and counts of answers that could not be used.

    ``unknown`` answers are to tasks or questions that the key does not have, ``empty`` ones have no choice. If an
    annotator has answered a question about a pair several times, equal answers count once (``repeated``), different
    ones not at all (``conflicting``).
    """

    pairs: tuple[Judgement, ...]
    catches: tuple[Judgement, ...]
    counts: Mapping[str, int]


def answer_files(paths: Iterable[Path]) -> dict[Path, Any]:
    """The contents of files of answers, and of the JSON files in folders of studies that may hold answers.

    An analysis may be written to the folder of its answers. Raises ``CorpusError`` if a file cannot be read.
    """
    found: dict[Path, Any] = {}
    for path in paths:
        of_study = path.is_dir()
        files = sorted(set(path.glob("*.json")) - {path / name for name in _NOT_ANSWERS}) if of_study else [path]
        for file in map(Path, map(realpath, files)):
            if file.name == KEY or file in found:
                continue
            content = read_json(file, CorpusError, "give the file that the page has saved")
            if not (of_study and isinstance(content, dict) and "rates" in content):
                found[file] = content
    return found


def read_answers(files: Mapping[Path, Any], key: Key) -> list[AnnotatorAnswer]:
    """Read the answers in the contents of files that the page saves, and of Label Studio's JSON exports.

    Raises ``JudgementsError`` or ``CorpusError`` with the file and what is wrong with it; a file of another study is
    refused.
    """
    return [answer for path, content in files.items() for answer in _read(path, content, key)]


def _read(path: Path, content: Any, key: Key) -> Iterator[AnnotatorAnswer]:
    if isinstance(content, list) and content:
        return _studio_answers(path, content, key)
    if isinstance(content, dict) and content.get("form") == ANSWERS:
        return _page_answers(path, content, key)
    raise JudgementsError(f"{path} has no answers: give files that the page has saved, or exports of Label Studio")


def _page_answers(path: Path, content: Any, key: Key) -> Iterator[AnnotatorAnswer]:
    try:
        saved = SavedAnswers.model_validate(content)
    except ValidationError as error:
        raise JudgementsError(f"{path} is damaged: {first_fault(error)}; ask for the file again") from error
    _refuse_study(path, saved.study, key)
    for answer in saved.answers:
        yield AnnotatorAnswer(saved.annotator, answer.task, answer.question, answer.choice)


def _studio_answers(path: Path, content: Any, key: Key) -> Iterator[AnnotatorAnswer]:
    for annotation in read_studio(path, content, TASK, "holisticbias judge make"):
        _refuse_study(path, str(annotation.data.get("study")), key)
        for question in key.questions:
            choice = "refused" if annotation.skipped else annotation.choice(question.id, _CHOICES, CHOICES.values())
            yield AnnotatorAnswer(annotation.annotator, annotation.data[TASK], question.id, choice)


def _refuse_study(path: Path, study: str, key: Key) -> None:
    if study != key.study:
        raise JudgementsError(f"{path} has answers to another study: {study[:_SHOWN]!r}, and the key is {key.study!r}")


def join(answers: Iterable[AnnotatorAnswer], key: Key) -> Judgements:
    """The judgements in the order of annotators, pairs and questions."""
    tasks = {task.id: task for task in key.tasks}
    pairs = {pair.id: pair for pair in key.pairs}
    questions = {question.id for question in key.questions}
    counts = Counter(unknown=0, empty=0, repeated=0, conflicting=0)
    order = {pair.id: i for i, pair in enumerate(key.pairs)}
    answered: dict[tuple[str, int, str], list[Judgement]] = defaultdict(list)
    for answer in answers:
        task = tasks.get(answer.task)
        if task is None or answer.question not in questions:
            counts["unknown"] += 1
        elif answer.choice is None:
            counts["empty"] += 1
        else:
            outcome = outcome_of(answer.choice, task)
            judgement = Judgement(answer.annotator, answer.question, pairs[task.pair], outcome, answer.choice)
            answered[answer.annotator, order[task.pair], answer.question].append(judgement)
    kept = []
    for _, judgements in sorted(answered.items()):
        if len({judgement.outcome for judgement in judgements}) > 1:
            counts["conflicting"] += 1
        else:
            counts["repeated"] += len(judgements) - 1
            kept.append(judgements[0])
    shown, catches = (tuple(one for one in kept if one.pair.catch is catch) for catch in (False, True))
    return Judgements(shown, catches, dict(counts))


def outcome_of(choice: Choice, task: SheetTask) -> Outcome:
    """The model whose response was chosen, by the sides of the task."""
    if choice == "tie" or choice == "refused":  # noqa: PLR1714 - narrows the type
        return choice
    return "first" if (task.left == 0) == (choice == "left") else "second"
