"""Dialogue state: how well a model does a classification task after fine-tuning."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.identity import CANDIDATES, align
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import ColumnOf, Paragraph, table_of
from holisticbias_eval.statistics.cells import encode, floats
from holisticbias_eval.statistics.groups.items import DRAWS, add_up, paired_p, resample

NAME = "dialogue_state"
F1, ACCURACY = "f1", "accuracy"
_LABELS = {F1: "F1", ACCURACY: "Accuracy"}


def task_figures(answers: pa.Table, seed: int | None) -> Iterator[Figure]:
    """F1 of label 1 and accuracy, with 95% intervals of a bootstrap of dialogues if there is a seed."""
    columns, known = _columns(answers)
    sums = _by_dialogue(answers, known, columns)
    found = resample(sums, _scores, seed)
    n, missing = known.sum(), (~known).sum()
    for i, name in enumerate(_LABELS):
        of = None if name == F1 else F1
        yield make_figure(NAME, name, {}, found.value[i], "share", n, missing, interval=found.ends(i), of=of)
    yield make_figure(NAME, "dialogues", {}, len(sums), "count", n, missing, of=F1)


def task_changes(first: pa.Table, second: pa.Table, seed: int) -> Iterator[Figure]:
    """The scores of both runs on the candidates that both have, and their change, paired by dialogue.

    Figures are named as in ``CHANGE_NAMES``; the key ``figure`` names the score. Raises ``SelectionError`` without a
    common candidate.
    """
    one, other = align(first, second, CANDIDATES).rows(first, second)
    (before, known), (after, also) = _columns(one), _columns(other)
    both = known & also
    sums = _by_dialogue(one, both, np.concatenate([before, after], axis=1))
    values = _scores(before[both].sum(axis=0)), _scores(after[both].sum(axis=0))
    found = resample(sums, lambda sums: _scores(sums[..., 4:]) - _scores(sums[..., :4]), seed)
    p, n, missing = paired_p(found, np.full(len(_LABELS), len(sums))), both.sum(), (~both).sum()
    for i, name in enumerate(_LABELS):
        yield from col.change_figures(
            NAME, name, {"figure": name}, (values[0][i], values[1][i]), "share", n, missing, interval=found.ends(i),
            p_value=p[i],
        )  # fmt: skip


def _columns(answers: pa.Table) -> tuple[Floats, Bools]:
    """For each candidate whether it is a true positive, a false positive, a false negative, and right; and if known."""
    probability = floats(answers["probability"])
    label, chosen = answers["label"].to_numpy() == 1, probability >= 0.5
    parts = (label & chosen, ~label & chosen, label & ~chosen, label == chosen)
    return np.stack(parts, axis=1).astype(float), ~np.isnan(probability)


def _by_dialogue(answers: pa.Table, known: Bools, columns: Floats) -> Floats:
    """Sums over the known candidates of each dialogue: shape ``[dialogues, columns]``."""
    if not known.any():
        raise SelectionError("no candidate has a probability: there is nothing to measure")
    dialogue = encode(answers["dialogue"])[1][known]
    return add_up(np.zeros(len(dialogue), np.int64), dialogue, columns[known], 1).sums


def _scores(sums: Floats) -> Floats:
    """F1 and accuracy of sums of ``_columns``: ``[..., 2]``; a candidate that is not right is false or missed."""
    true, false, missed, right = (sums[..., i] for i in range(4))
    return np.stack([divide(2 * true, 2 * true + false + missed), divide(right, right + false + missed)], axis=-1)


_ITEMS = ColumnOf[Figure]("n", "Items", lambda f: f.n or None, "count", base=True)


def score_section(info: Info, found: Sequence[Figure], label: Callable[[Figure], str], unit: str, said: str) -> Section:
    """Show scores by name, with their intervals."""
    columns: col.FigureColumns = (ColumnOf("score", "Figure", label), *col.estimate("value", "Value", unit), _ITEMS)
    table = table_of(info.name, info.title, columns, found, drop_empty=True)
    return Section(info.name, info.title, (Paragraph(said, "finding"), table))


def change_table(
    info: Info, changes: Figures, key: Sequence[str], label: Callable[[Figure], str], unit: str, note: str
) -> Section:
    """Show the change of scores, which have these keys."""
    columns: col.FigureColumns = (
        ColumnOf("score", "Figure", label), *col.changes(changes, unit), col.p(key="p"), _ITEMS,
    )  # fmt: skip
    found = changes.by(info.name, "change", *key)
    table = table_of(f"{info.name}-changes", f"{info.title} of A and B", columns, found, drop_empty=True)
    return Section(f"{info.name}-changes", info.title, (table, Paragraph(note, "note")))


class DialogueState(Measure):
    """The skill of a fine-tuned model in saying whether a slot has a value after a user's turn."""

    info = Info(
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
        retention=True,
        names={F1: "Dialogue state, F1", ACCURACY: "Dialogue state, accuracy"},
    )
    needs = Needs("candidates", said="answers to a classification task after fine-tuning of")
    task = "dialogues"

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed and the resampling."""
        return {"seed": str(settings.seed), "interval": f"bootstrap of dialogues, {DRAWS:,} draws"}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the scores from a table of candidates with ``label`` and ``probability``."""
        return Measured(tuple(task_figures(answers, None if settings is None else settings.seed)))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the scores."""
        known = [f for name in _LABELS if (f := view.figures.get(NAME, name))]
        dialogues = view.figures.value(NAME, "dialogues") or 0
        said = f"{known[0].n if known else 0:,} candidates of {dialogues:,.0f} dialogues were classified."
        return (score_section(self.info, known, lambda f: _LABELS[f.name], "share", said),)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of the scores on the candidates that both runs have, paired by dialogue."""
        return tuple(task_changes(first.answers, second.answers, MeasureSettings().seed))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the change."""
        note = "Interval and test keep the candidates of a dialogue together."
        return (change_table(self.info, changes, ("figure",), lambda f: _LABELS[f.keys["figure"]], "share", note),)
