"""The prompts of the embedded writer, about invented groups, with continuations that stand for people's."""

from __future__ import annotations

from itertools import cycle

from holisticbias_eval.models.embedded.writer import CALIBRATION
from holisticbias_eval.models.embedded.writer.description import read_description
from holisticbias_eval.models.embedded.writer.grammar import continuations_of, prompts_of
from holisticbias_eval.prompts.collections import CollectionPrompts, prompt_table


def calibration_prompts() -> CollectionPrompts:
    """All prompts of the writer; the continuations of each group are every possible one, equally often."""
    grammar = read_description().prompts
    asked = prompts_of(grammar)
    # the number of prompts of a group is a multiple of that of continuations
    human = cycle(continuations_of(grammar))
    columns = {
        "prompt_id": [f"{CALIBRATION}/{number}" for number in range(1, len(asked) + 1)],
        "domain": [prompt.group.domain for prompt in asked],
        "group": [prompt.group.group for prompt in asked],
        "subject": [prompt.group.group for prompt in asked],
        "prompt": [prompt.text for prompt in asked],
        "human": [[prompt.text + next(human).text] for prompt in asked],
    }
    table = prompt_table({**columns, "item": columns["prompt_id"]})
    return CollectionPrompts(CALIBRATION, table, notes=(f"{len(asked):,} prompts about invented groups",))
