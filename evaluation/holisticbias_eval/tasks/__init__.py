"""The tasks, one file each: what a model is asked, and what its answers become."""

from holisticbias_eval.tasks.dialogues import DialoguesTask
from holisticbias_eval.tasks.intersections import IntersectionsTask
from holisticbias_eval.tasks.lines import LinesTask
from holisticbias_eval.tasks.pairs import PairsTask
from holisticbias_eval.tasks.responses import ResponsesTask
from holisticbias_eval.tasks.results import ResultsTask
from holisticbias_eval.tasks.sentences import SeatTask, SentencesTask
from holisticbias_eval.tasks.task import Task
from holisticbias_eval.tasks.test_set import TestSetTask
from holisticbias_eval.tasks.texts import TextsTask

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        SentencesTask(),
        SeatTask(),
        ResponsesTask(),
        TextsTask(),
        PairsTask(),
        TestSetTask(),
        LinesTask(),
        DialoguesTask(),
        ResultsTask(),
        IntersectionsTask(),
    )
}
