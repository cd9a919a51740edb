"""The tasks, one file each: what a model is asked, and what its answers become."""

from __future__ import annotations

from holisticbias_eval.tasks.dialogues import Dialogues
from holisticbias_eval.tasks.intersections import Intersections
from holisticbias_eval.tasks.lines import Lines
from holisticbias_eval.tasks.pairs import Pairs
from holisticbias_eval.tasks.prompts import Prompts
from holisticbias_eval.tasks.results import Results
from holisticbias_eval.tasks.sentences import Seat, Sentences
from holisticbias_eval.tasks.task import Task
from holisticbias_eval.tasks.test_set import TestSet
from holisticbias_eval.tasks.texts import Texts

TASKS: dict[str, Task] = {
    "sentences": Sentences(),
    "seat": Seat(),
    "responses": Prompts(),
    "texts": Texts(),
    "pairs": Pairs(),
    "test_set": TestSet(),
    "lines": Lines(),
    "dialogues": Dialogues(),
    "results": Results(),
    "intersections": Intersections(),
}
