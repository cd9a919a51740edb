"""Judge texts about groups: start the classifiers that measures need, and give each measure its probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from holisticbias_eval.classifiers.card import FILES, Card
from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.classifiers.stored import classify_texts, probability_columns
from holisticbias_eval.errors import ClassifierError, EvaluationError
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.pipeline.judging import JudgingOptions, judge_store, start_named
from holisticbias_eval.progress import Display
from holisticbias_eval.readings.columns import measured_texts


@dataclass(frozen=True, slots=True)
class TextJudges:
    """The classifiers of a run, by the name of the measure that reads them."""

    classifiers: Mapping[str, Classifier]
    options: JudgingOptions

    @property
    def signed(self) -> Mapping[str, Mapping[str, str]]:
        """The description and the settings of each classifier, by its id."""
        return {one.card.id: {**one.card.about, **one.settings} for one in self.classifiers.values()}

    def judge(self, measure: GroupMeasure, texts: pa.Table, display: Display) -> pa.Table | None:
        """The probabilities ``p:LABEL`` of the texts as they are measured; None for a measure without a classifier."""
        classifier = self.classifiers.get(measure.info.name)
        if classifier is None:
            return None
        store = judge_store(classifier, self.options, display)
        with display.progress(f"Classifying with {classifier.card.id}", texts.num_rows) as advance:
            values = classify_texts(classifier, measured_texts(texts), store, advance)
        found = probability_columns(classifier.card, values)
        return pa.table({f"p:{label}": found[f"p:{label}"] for label in measure.labels(classifier.card)})


def start_text_judges(measures: Sequence[GroupMeasure], options: JudgingOptions, display: Display) -> TextJudges:
    """Start the classifiers of measures: named classifiers by what they judge, else each measure's own.

    Raises ``EvaluationError`` if a named classifier fits no measure, or two fit one.
    """
    judging = [measure for measure in measures if measure.classifier]
    chosen: dict[str, str] = {}
    for name in options.classifiers:
        measure = _measure_of(name, judging)
        if measure in chosen:
            raise EvaluationError(f"--classifier: {chosen[measure]} and {name} are both for {measure}: name one")
        chosen[measure] = name
    named = {one.info.name: chosen.get(one.info.name, one.classifier) for one in judging}
    for one in judging:
        one.labels(FILES.read(named[one.info.name]))
    started = {name: start_named(name, options, display) for name in dict.fromkeys(named.values())}
    return TextJudges({measure: started[name] for measure, name in named.items()}, options)


def _measure_of(name: str, measures: Sequence[GroupMeasure]) -> str:
    """The measure that reads a classifier; of several, the measure whose own classifier has the same task."""
    card = FILES.read(name)
    refused: ClassifierError | None = None
    fits = []
    for measure in measures:
        try:
            measure.labels(card)
        except ClassifierError as error:
            refused = error
        else:
            fits.append(measure)
    if not fits:
        raise refused or EvaluationError(f"--classifier {name}: no measure of this run uses it")
    return min(fits, key=lambda measure: _task(measure) != card.task).info.name


def _task(measure: GroupMeasure) -> str:
    own: Card = FILES.read(measure.classifier)
    return own.task
