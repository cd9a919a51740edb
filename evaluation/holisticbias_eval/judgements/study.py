"""Make the files of a study: the page for annotators, tasks for Label Studio, and the key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.judgements.drawing import catch_pairs, draw_pairs, draw_tasks
from holisticbias_eval.judgements.key import CHOICES, KEY, STUDIO, Choice, Key
from holisticbias_eval.judgements.matching import JUDGED, Filters, match
from holisticbias_eval.judgements.page import render_annotator_page
from holisticbias_eval.judgements.questions import Questions
from holisticbias_eval.judgements.sources import Source
from holisticbias_eval.report.plain_text import printable, shorten

PAGE, TASKS, CONFIG = "page.html", "tasks.json", "labelling-config.xml"
TASK = "task"
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Design:
    """How many pairs are shown, to how many annotators, and with how many catch questions.

    Each pair is on ``per_pair`` of ``sheets`` sheets; each annotator answers one sheet.
    """

    pairs: int = 100
    per_pair: int = 3
    sheets: int = 3
    catch: int = 4
    ties: bool = False
    seed: int = 0


def make_study(
    sources: tuple[Source, Source], questions: Questions, filters: Filters, design: Design, out: Path
) -> Key:
    """Write the folder of a study, and return its key. Raises ``JudgementsError`` and ``OutputError``."""
    refuse_target(out, _may_replace)
    key = make_key(sources, questions, filters, design)
    with new_folder(out, _may_replace) as folder:
        (folder / PAGE).write_text(render_annotator_page(key, shown_tasks(key)), "utf-8")
        studio = [{"data": {TASK: one.pop("id"), "study": key.study} | one} for one in shown_tasks(key)[STUDIO]]
        (folder / TASKS).write_text(json.dumps(studio, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (folder / CONFIG).write_text(labelling_config(key), "utf-8")
        (folder / KEY).write_text(key.as_json(), "utf-8")
    return key


def _may_replace(_: Path) -> bool:
    """No folder with files is replaced: people may have answered them."""
    return False


def make_key(sources: tuple[Source, Source], questions: Questions, filters: Filters, design: Design) -> Key:
    """Match, draw and arrange the pairs. Raises ``JudgementsError`` if none is left."""
    if design.per_pair > design.sheets:
        raise JudgementsError(
            f"{design.per_pair} annotators for each pair need as many sheets: {design.sheets} are too few"
        )
    first, second = sources
    matched = match(first.table, second.table, filters)
    if not matched.pairs:
        raise JudgementsError(f"there is no pair to show: {_reasons(matched.left_out) or 'the tables have no rows'}")
    pairs = draw_pairs(matched.pairs, design.pairs, design.seed)
    not_drawn = len(matched.pairs) - len(pairs)
    every = [*pairs, *catch_pairs(questions.catch, design.catch, design.seed)]
    return Key(
        models=(first.model, second.model),
        questions=questions.questions,
        source=questions.source,
        choices=tuple(choice for choice in CHOICES if design.ties or choice != "tie"),
        seed=design.seed,
        sheets=design.sheets,
        per_pair=design.per_pair,
        inflammatory=filters.inflammatory.id if filters.inflammatory else None,
        threshold=filters.threshold,
        judged={name: (name in first.table.column_names, name in second.table.column_names) for name in JUDGED},
        matched=matched.matched,
        left_out={**matched.left_out, **({"not drawn": not_drawn} if not_drawn else {})},
        pairs=tuple(every),
        tasks=tuple(draw_tasks(every, design.sheets, design.per_pair, design.seed)),
    ).signed()


def _reasons(left_out: Any) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in left_out.items())


def shown_tasks(key: Key) -> dict[int, list[dict[str, str]]]:
    """The tasks of each sheet as an annotator sees them: without the names of models and whatever is a catch."""
    pairs = {pair.id: pair for pair in key.pairs}
    found: dict[int, list[dict[str, str]]] = {sheet: [] for sheet in range(key.sheets + 1)}
    for task in key.tasks:
        pair = pairs[task.pair]
        sides = {"left": pair.responses[task.left], "right": pair.responses[1 - task.left]}
        texts = {name: visible(text) for name, text in {"prompt": pair.prompt, **sides}.items()}
        found[task.sheet].append({"id": task.id, **texts})
    return found


def visible(text: str) -> str:
    """A text to show: no hidden characters besides ends of lines, and at most 4,000 characters."""
    return shorten("\n".join(printable(line) for line in text.splitlines()), _LONGEST)


def labelling_config(key: Key) -> str:
    """The labelling interface of Label Studio: the prompt, both responses, and the questions."""
    template = files(__package__).joinpath("templates", CONFIG).read_text("utf-8")
    blocks = "\n".join(_choices(question.id, question.text, key.choices) for question in key.questions)
    return template.replace("<!-- questions -->", blocks)


def _choices(name: str, text: str, choices: tuple[Choice, ...]) -> str:
    options = "\n".join(f"    <Choice value={quoteattr(CHOICES[choice])}/>" for choice in choices)
    return (
        f"  <Header value={quoteattr(text)}/>\n"
        f'  <Choices name={quoteattr(name)} toName="prompt" choice="single-radio" showInline="true" required="true"\n'
        f'           requiredMessage="Answer every question, or skip the pair.">\n{options}\n  </Choices>'
    )
