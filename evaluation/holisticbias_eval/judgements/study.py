"""Make a study: draw its pairs and sheets, and write the page, the tasks for Label Studio, and the key."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Environment

from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.corpus.documents import digest_of
from holisticbias_eval.corpus.label_studio import CONFIG, studio_tasks
from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.judgements import key as keys
from holisticbias_eval.judgements.matching import INFLAMMATORY, MATCHED_BY, JudgedResponses, Row, match
from holisticbias_eval.judgements.settings import NO_LIST, StudySettings
from holisticbias_eval.readers.judging import OFFENSIVE
from holisticbias_eval.report.page import inline_digest, page_environment
from holisticbias_eval.units import printable, shorten

ANSWERS = "holisticbias acute-eval answers"
"""The form of the file that the page saves."""
PAGE, TASKS = "page.html", "tasks.json"
TASK = "task"
_LONGEST = 4000


def make_study(sources: tuple[JudgedResponses, JudgedResponses], settings: StudySettings, out: Path) -> keys.Key:
    """Write the folder of a study, and return its key.

    A folder with files is not replaced: people may have answered them. Raises ``JudgementsError`` and ``OutputError``.
    """
    refuse_target(out)
    key = make_key(sources, settings)
    tasks = shown_tasks(key)
    studio = ({TASK: task.pop("id"), "study": key.study, **task} for task in tasks.pop(keys.STUDIO))
    with new_folder(out) as folder:
        (folder / PAGE).write_text(render_annotator_page(key, tasks), "utf-8")
        (folder / TASKS).write_text(studio_tasks(studio), "utf-8")
        (folder / CONFIG).write_text(labelling_config(key), "utf-8")
        (folder / keys.KEY).write_text(key.as_json(), "utf-8")
    return key


def make_key(sources: tuple[JudgedResponses, JudgedResponses], settings: StudySettings) -> keys.Key:
    """Match, draw and arrange the pairs. Raises ``JudgementsError`` if none is left."""
    if settings.per_pair > settings.sheet_count:
        raise JudgementsError(
            f"{settings.per_pair} annotators for each pair need as many sheets: {settings.sheet_count} are too few; "
            f"set --sheets to at least {settings.per_pair}, or --per-pair to at most {settings.sheet_count}"
        )
    first, second = sources
    questions, listed = keys.QUESTIONS.read(settings.questions), settings.inflammatory
    inflammatory = None if listed == NO_LIST else INFLAMMATORY.read(listed)
    matched = match(first.table, second.table, inflammatory, settings.threshold)
    if not matched.pairs:
        reasons = ", ".join(f"{name}: {count:,}" for name, count in matched.left_out.items())
        raise JudgementsError(
            f"no pair of {first.path} and {second.path} is left to show: {reasons or 'they have no rows'}"
            f"{_lacking(first, second) or _lacking(second, first)}"
        )
    pairs = draw_pairs(matched.pairs, settings.pairs, settings.seed)
    not_drawn = len(matched.pairs) - len(pairs)
    pairs += catch_pairs(questions.catch, settings.catch, settings.seed)
    return keys.Key(
        models=(first.model, second.model),
        questions=questions.questions,
        source=questions.source,
        choices=tuple(choice for choice in keys.CHOICES if settings.ties or choice != "tie"),
        seed=settings.seed,
        sheets=settings.sheet_count,
        per_pair=settings.per_pair,
        inflammatory=inflammatory.id if inflammatory else None,
        threshold=settings.threshold,
        judged={name: (name in first.table.column_names, name in second.table.column_names) for name in OFFENSIVE},
        matched=matched.matched,
        left_out={**matched.left_out, **({"not drawn": not_drawn} if not_drawn else {})},
        pairs=tuple(pairs),
        tasks=tuple(draw_tasks(pairs, settings.sheet_count, settings.per_pair, settings.seed)),
    ).signed()


def _lacking(one: JudgedResponses, other: JudgedResponses) -> str:
    """Names a column that rows are matched by and that only the other table has; empty if there is none."""
    for name in MATCHED_BY:
        if name in other.table.column_names and name not in one.table.column_names:
            return f"; {one.path} has no column {name}, which {other.path} has: add it, or leave it out of both"
    return ""


def draw_pairs(rows: Iterable[tuple[Row, Row]], count: int, seed: int) -> list[keys.ShownPair]:
    """Draw at most ``count`` pairs: a second pair of a prompt only when every prompt has one."""
    times: Counter[str] = Counter()
    ranked = []
    for _, pair in sorted(enumerate(rows), key=lambda item: digest_of(seed, "pair", item[1][0]["prompt"], item[0])):
        prompt = pair[0]["prompt"].strip()
        ranked.append((times[prompt], pair))
        times[prompt] += 1
    ranked.sort(key=lambda item: item[0])
    return [
        keys.ShownPair(
            id=f"pair-{i}",
            prompt=first["prompt"].strip(),
            responses=(first["response"].strip(), second["response"].strip()),
            descriptor=first.get("descriptor"),
            template=first.get("template_id"),
        )
        for i, (_, (first, second)) in enumerate(ranked[:count], 1)
    ]


def catch_pairs(catch: Sequence[keys.Catch], count: int, seed: int) -> list[keys.ShownPair]:
    """Draw at most ``count`` catch questions as pairs of the good and the bad response."""
    chosen = sorted(catch, key=lambda question: digest_of(seed, "catch", question.prompt))[:count]
    return [
        keys.ShownPair(id=f"catch-{i}", prompt=question.prompt, responses=(question.good, question.bad), catch=True)
        for i, question in enumerate(chosen, 1)
    ]


def draw_tasks(pairs: Sequence[keys.ShownPair], sheets: int, per_pair: int, seed: int) -> Iterator[keys.SheetTask]:
    """The tasks of every sheet in their order, then those of Label Studio, which has every pair once.

    A pair stands on ``per_pair`` of the sheets, in turns, and catch questions on all. Its sides alternate from one
    of its sheets to the next.
    """
    turns: dict[str, dict[int, int]] = {}
    real = 0
    for pair in pairs:
        on = range(sheets) if pair.catch else ((real + turn) % sheets for turn in range(per_pair))
        turns[pair.id] = {sheet + 1: turn for turn, sheet in enumerate(on)} | {keys.STUDIO: 0}
        real += not pair.catch
    for sheet in (*range(1, sheets + 1), keys.STUDIO):
        on_sheet = [pair for pair in pairs if sheet in turns[pair.id]]
        for pair in sorted(on_sheet, key=lambda pair: digest_of(seed, "order", sheet, pair.id)):
            side = int(digest_of(seed, "side", sheet if pair.catch else keys.STUDIO, pair.id)[:8], 16)
            left: Literal[0, 1] = 1 if (side + turns[pair.id][sheet]) % 2 else 0
            yield keys.SheetTask(id=digest_of(seed, "task", sheet, pair.id)[:16], sheet=sheet, pair=pair.id, left=left)


def shown_tasks(key: keys.Key) -> dict[int, list[dict[str, str]]]:
    """The tasks of each sheet as an annotator sees them: without the names of models and whatever is a catch."""
    pairs = {pair.id: pair for pair in key.pairs}
    tasks: dict[int, list[dict[str, str]]] = {sheet: [] for sheet in range(key.sheets + 1)}
    for task in key.tasks:
        pair = pairs[task.pair]
        texts = {"prompt": pair.prompt, "left": pair.responses[task.left], "right": pair.responses[1 - task.left]}
        tasks[task.sheet].append({"id": task.id, **{name: visible(text) for name, text in texts.items()}})
    return tasks


def visible(text: str) -> str:
    """A text to show: no hidden characters besides ends of lines, and at most 4,000 characters."""
    return shorten("\n".join(printable(line) for line in text.splitlines()), _LONGEST)


def labelling_config(key: keys.Key) -> str:
    """The labelling interface of Label Studio: the prompt, both responses, and the questions."""
    return _environment().get_template(CONFIG).render(key=key, words=keys.CHOICES)


def render_annotator_page(key: keys.Key, tasks: Mapping[int, Sequence[Mapping[str, str]]]) -> str:
    """The page. Texts of models are JSON, which its script sets as text, and no model is named.

    Its content security policy lets a browser run the one script and apply the one style sheet, and load nothing.
    """
    content = {
        "form": ANSWERS,
        "study": key.study,
        "questions": [question.model_dump() for question in key.questions],
        "choices": [[choice, keys.CHOICES[choice]] for choice in key.choices],
        "sheets": {str(sheet): shown for sheet, shown in tasks.items() if sheet != keys.STUDIO},
    }
    digests = {
        "script_digest": inline_digest(_environment(), "page.js"),
        "style_digest": inline_digest(_environment(), "page.css"),
    }
    return _environment().get_template("page.html.jinja").render(content=content, sheets=key.sheets, **digests)


@cache
def _environment() -> Environment:
    return page_environment("holisticbias_eval.judgements")
