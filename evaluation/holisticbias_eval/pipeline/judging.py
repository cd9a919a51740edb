"""Judge responses: censor the descriptor, classify the texts, and audit the classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats
from holisticbias_eval.classifiers.card import FILES
from holisticbias_eval.classifiers.censor import censor, censor_settings
from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.classifiers.engines import start_classifier
from holisticbias_eval.classifiers.stored import classify_texts, label_store, probability_columns
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.store.shards import ShardStore
from holisticbias_eval.pipeline.jobs import SETTINGS
from holisticbias_eval.progress import Display
from holisticbias_eval.results.recorded import MITIGATION, read_recorded

STYLES, OFFENSIVE = "go-emotions", "toxicity"
"""The default classifiers of styles and of offensiveness."""
CALIBRATION = {STYLES: "calibration-styles", OFFENSIVE: "calibration-offensiveness"}
"""Their places are taken by these for the embedded responder."""
UNJUDGED = ("refused", "filtered")


@dataclass(frozen=True, slots=True)
class JudgingOptions:
    """Names or files of classifiers, whether mentions of the descriptor are censored, and the folder of labels.

    ``clusters`` replace those of the card. ``api_base`` is the server of a classifier that asks a chat model,
    ``phrases`` the list of phrases to look for, and ``corpus`` a text file to count descriptors in.
    """

    classifiers: tuple[str, ...] = ()
    censor: bool = True
    device: str = "auto"
    store: Path | None = None
    clusters: dict[str, tuple[str, ...]] | Literal["found"] | None = None
    api_base: str | None = None
    phrases: str = SETTINGS.phrases
    corpus: Path | None = None


@dataclass(frozen=True, slots=True)
class Judges:
    """The classifiers of a run: one of styles, one of offensiveness; either may be missing."""

    styles: Classifier | None
    offensiveness: Classifier | None
    options: JudgingOptions

    @property
    def signed(self) -> Mapping[str, Mapping[str, str]]:
        """The description and the settings of each classifier, by its id."""
        judges = [judge for judge in (self.styles, self.offensiveness) if judge]
        return {judge.card.id: {**judge.card.about, **judge.settings} for judge in judges}

    @property
    def clusters(self) -> dict[str, tuple[str, ...]] | Literal["found"] | None:
        """The clusters of styles: those asked for, or else those of the classifier's card; None if there are none."""
        card = dict(self.styles.card.clusters) if self.styles else None
        return self.options.clusters or card or None

    @property
    def threshold(self) -> float:
        """The probability from which on a text is offensive."""
        return self.offensiveness.card.threshold if self.offensiveness else SETTINGS.threshold

    @property
    def settings(self) -> Mapping[str, str]:
        """Further settings that the labels depend on."""
        return censor_settings(censored=self.options.censor) if self.signed else {}


def start_judges(measures: Sequence[str], model: str | None, options: JudgingOptions, display: Display) -> Judges:
    """Start the classifiers that measures need; raises ``EvaluationError`` if a named classifier is not needed."""
    needed: set[str] = {MEASURES[name].needs.answers for name in measures}
    names = _default_names(needed, model) if not options.classifiers else options.classifiers
    marked = {name: FILES.read(name).offensive is not None for name in names}
    offensive = next((n for n in names if marked[n]), None) if "offensiveness" in needed else None
    rest = [n for n in names if n != offensive]
    styles = next(iter(sorted(rest, key=lambda n: marked[n])), None) if "labels" in needed else None
    unused = [name for name in names if name not in (offensive, styles)]
    if unused:
        raise EvaluationError(f"--classifier {unused[0]}: no measure of this run uses it")
    for name, missing in (("labels", styles), ("offensiveness", offensive)):
        if name in needed and missing is None:
            example = {"labels": STYLES, "offensiveness": OFFENSIVE}[name]
            raise EvaluationError(
                f"{_measure_of(name, measures)} needs a classifier like {example} in --classifier too"
            )
    first, second = (start_named(name, options, display) if name else None for name in (styles, offensive))
    return Judges(first, second, options)


def judge_responses(responses: pa.Table, release: Release | None, judges: Judges, display: Display) -> pa.Table:
    """Add ``judged``, the text that classifiers read, and the probabilities.

    ``p:LABEL`` are the probabilities of styles, ``offensive`` that of an offensive
    response and ``prompt_offensive`` that of its prompt. Refused, withheld and
    empty responses have none.
    """
    texts = _censored(responses, release, judges.options)
    table = responses.append_column("judged", pa.array(texts, pa.large_string()))
    if judges.styles is not None:
        values = _classify(judges.styles, texts, judges.options, display)
        for name, column in probability_columns(judges.styles.card, values).items():
            table = table.append_column(name, column)
    if judges.offensiveness is not None:
        place = judges.offensiveness.card.labels.index(str(judges.offensiveness.card.offensive))
        for name, judged in (("offensive", texts), ("prompt_offensive", _column(table, "prompt"))):
            values = _classify(judges.offensiveness, judged, judges.options, display)[:, place]
            table = table.append_column(name, pa.array(values, from_pandas=True))
    return table


def _default_names(needed: set[str], model: str | None) -> tuple[str, ...]:
    names = [name for kind, name in (("labels", STYLES), ("offensiveness", OFFENSIVE)) if kind in needed]
    return tuple(CALIBRATION[name] if _is_responder(model) else name for name in names)


def _is_responder(model: str | None) -> bool:
    """Whether a model is the embedded responder, or was trained from it."""
    if model in (None, RESPONDER):
        return True
    return read_recorded(Path(str(model)) / MITIGATION).base_model == RESPONDER


def _measure_of(answers: str, measures: Sequence[str]) -> str:
    return next(name for name in measures if MEASURES[name].needs.answers == answers)


def start_named(name: str, options: JudgingOptions, display: Display) -> Classifier:
    """Start the classifier of a card."""
    with display.step(f"Loading classifier {name}"):
        return start_classifier(name, display.notice, options.device, options.api_base)


def _classify(classifier: Classifier, texts: Sequence[str | None], options: JudgingOptions, display: Display) -> Floats:
    store = judge_store(classifier, options, display)
    with display.progress(f"Classifying with {classifier.card.id}", len(texts)) as advance:
        return classify_texts(classifier, texts, store, advance)


def judge_store(classifier: Classifier, options: JudgingOptions, display: Display) -> ShardStore | None:
    """The store of a classifier's labels; None if labels are not kept."""
    return label_store(options.store, classifier, display.notice) if options.store is not None else None


def _censored(responses: pa.Table, release: Release | None, options: JudgingOptions) -> list[str | None]:
    """The texts to judge: censored if asked for, null if there is nothing to judge."""
    withheld = pc.is_in(responses["finish"].cast(pa.string()), pa.array(UNJUDGED))
    texts = pc.if_else(withheld, pa.scalar(None, pa.large_string()), responses["response"].cast(pa.large_string()))
    if not options.censor:
        found: list[str | None] = texts.to_pylist()
        return found
    plurals = _plurals(release, responses) if release else [None] * len(responses)
    return censor(texts.to_pylist(), _column(responses, "descriptor"), plurals)[0]


def _plurals(release: Release, responses: pa.Table) -> list[str | None]:
    entries = release.tables["descriptors"]
    known = dict(zip(_column(entries, "descriptor_id"), _column(entries, "plural"), strict=True))
    return [known.get(name) for name in _column(responses, "descriptor_id")]


def _column(table: pa.Table, name: str) -> list[str | None]:
    values: list[str | None] = table[name].cast(pa.large_string()).to_pylist()
    return values
