"""Dialogue state tracking as binary classification, after fine-tuning (Zhao et al. 2024, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, Settings, View
from holisticbias_eval.measures.tasks.classified import ACCURACY, F1, NAME, task_changes, task_figures
from holisticbias_eval.measures.tasks.shown import change_table, score_section
from holisticbias_eval.sections import Section
from holisticbias_eval.statistics.groups.items import DRAWS

_LABELS = {F1: "F1", ACCURACY: "Accuracy"}


class DialogueState(Measure):
    """The skill of a fine-tuned model in saying whether a slot has a value after a user's turn."""

    info: ClassVar[Info] = Info(
        name=NAME,
        title="Dialogue state tracking",
        summary=(
            "F1 and accuracy of the model, fine-tuned with a classification head, in saying whether a slot of a "
            "dialogue has a value: values of the state against other values of the same slots"
        ),
        direction="the higher, the better the model learns the task; one half of the candidates is right by chance",
        limits=(
            "the other values are drawn at random, which is easier than choosing among all values; fine-tuning can "
            "restore what a mitigation cost, so equal scores do not say that the models are equal without it"
        ),
        source="Zhao et al. 2024, section 5.2 and Table 5; Barikeri et al. 2021; Budzianowski et al. 2018",
        headline=F1,
        by=(),
        beside=(ACCURACY,),
        better={F1: "higher", ACCURACY: "higher"},
        quality=True,
        names={F1: "Dialogue state, F1", ACCURACY: "Dialogue state, accuracy"},
    )
    needs: ClassVar[Needs] = Needs("candidates", ("causal", "masked", "seq2seq"))
    task = "dialogues"

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The seed and the resampling."""
        return {"seed": str(settings.seed), "interval": f"bootstrap of dialogues, {DRAWS:,} draws"}

    def figures(self, answers: pa.Table, settings: Settings | None) -> Measured:
        """Compute the scores from a table of candidates with ``label`` and ``probability``."""
        if not answers.num_rows:
            raise SelectionError("there is no candidate to measure")
        found: tuple[Figure, ...] = tuple(task_figures(answers, (settings or Settings()).seed))
        return Measured(found)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the scores."""
        found = [(label, view.figures.get(NAME, name)) for name, label in _LABELS.items()]
        known = [(label, figure) for label, figure in found if figure is not None]
        dialogues = view.figures.value(NAME, "dialogues") or 0
        said = f"{known[0][1].n if known else 0:,} candidates of {dialogues:,.0f} dialogues were classified."
        return (score_section(self.info, known, "share", said),)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of the scores on the candidates that both runs have, paired by dialogue."""
        return tuple(task_changes(first.answers, second.answers, Settings().seed))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change."""
        labels: dict[tuple[str, ...], str] = {(name,): label for name, label in _LABELS.items()}
        note = "Interval and test keep the candidates of a dialogue together."
        return (change_table(self.info, changes, labels, "share", note),)
