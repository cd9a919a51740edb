"""Judge texts with classifiers: start the classifiers that readers need, and read responses with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import ClassifierError, EvaluationError
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.censor import censor, censor_settings
from holisticbias_eval.readers.classifier import label_store
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.labels import Judge, LabelReader, OffensivenessReader, StylesReader, ToxicitySettings
from holisticbias_eval.readers.reader import Names, Reader, add_readings, read_each

UNJUDGED = ("refused", "filtered")
ChosenClusters = dict[str, tuple[str, ...]] | Literal["found"] | None


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
    clusters: ChosenClusters = None
    api_base: str | None = None
    phrases: str = "holisticbias"
    corpus: Path | None = None


def start_judge(name: str, options: JudgingOptions, display: Display) -> Judge:
    """Start the classifier of a card, with the store of its labels if they are kept."""
    with display.step(f"Loading classifier {name}"):
        classifier = start_classifier(name, display.notice, options.device, options.api_base)
    store = label_store(options.store, classifier, display.notice) if options.store is not None else None
    return Judge(classifier, store)


def describe_judges(judges: Collection[Judge]) -> Mapping[str, Mapping[str, str]]:
    """The description and the settings of each classifier, by its id."""
    return {judge.card.id: {**judge.card.about, **judge.classifier.settings} for judge in judges}


@dataclass(frozen=True, slots=True)
class Judges:
    """The classifiers of responses: one of styles, one of offensiveness; either may be missing."""

    styles: Judge | None
    offensiveness: Judge | None
    options: JudgingOptions

    @property
    def signed(self) -> Mapping[str, Mapping[str, str]]:
        """The description and the settings of each classifier, by its id."""
        return describe_judges([judge for judge in (self.styles, self.offensiveness) if judge])

    @property
    def clusters(self) -> ChosenClusters:
        """The clusters of styles: those asked for, or else those of the classifier's card; None if there are none."""
        card = dict(self.styles.card.clusters) if self.styles else None
        return self.options.clusters or card or None

    @property
    def threshold(self) -> float:
        """The probability from which on a text is offensive."""
        return self.offensiveness.card.threshold if self.offensiveness else ToxicitySettings().threshold

    @property
    def settings(self) -> Mapping[str, str]:
        """Further settings that the labels depend on."""
        return censor_settings(censored=self.options.censor) if self.signed else {}


def start_judges(
    needed: Mapping[str, str], own: Mapping[str, str], options: JudgingOptions, display: Display
) -> Judges:
    """Start the classifiers of responses; raises ``EvaluationError`` if a named classifier is not needed.

    ``needed`` has the name of a measure that needs ``labels`` or ``offensiveness``, and ``own`` the classifiers that a
    model has in place of the default ones.
    """
    examples = {"labels": StylesReader.card, "offensiveness": OffensivenessReader.card}
    defaults = tuple(own.get(name, name) for kind, name in examples.items() if kind in needed)
    names = options.classifiers or defaults
    marked = {name: CARDS.read(name).offensive is not None for name in names}
    offensive = next((name for name in names if marked[name]), None) if "offensiveness" in needed else None
    rest = [name for name in names if name != offensive]
    styles = next(iter(sorted(rest, key=lambda name: marked[name])), None) if "labels" in needed else None
    unused = [name for name in names if name not in (offensive, styles)]
    if unused:
        raise EvaluationError(f"--classifier {unused[0]}: no measure of this run uses it")
    for kind, chosen in (("labels", styles), ("offensiveness", offensive)):
        if kind in needed and chosen is None:
            raise EvaluationError(f"{needed[kind]} needs a classifier like {examples[kind]} in --classifier too")
    first, second = (start_judge(name, options, display) if name else None for name in (styles, offensive))
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
        found = _classified(StylesReader(judge=judges.styles), texts, display)
        for name in found.column_names:
            table = table.append_column(name, found[name])
    if judges.offensiveness is not None:
        reader = OffensivenessReader(judge=judges.offensiveness)
        for name, judged in (("offensive", texts), ("prompt_offensive", _column(table, "prompt"))):
            table = table.append_column(name, _classified(reader, judged, display).column(0))
    return table


def _classified(reader: LabelReader, texts: Names, display: Display) -> pa.Table:
    with display.progress(f"Classifying with {reader.judge.card.id}", len(texts)) as advance:
        return read_each(reader, texts, advance)


def _censored(responses: pa.Table, release: Release | None, options: JudgingOptions) -> list[str | None]:
    """The texts to judge: censored if asked for, null if there is nothing to judge."""
    withheld = pc.is_in(responses["finish"].cast(pa.string()), pa.array(UNJUDGED))
    texts = pc.if_else(withheld, pa.scalar(None, pa.large_string()), responses["response"].cast(pa.large_string()))
    if not options.censor:
        found: list[str | None] = texts.to_pylist()
        return found
    plurals: list[str | None] = [None] * len(responses)
    if release is not None:
        entries = release.tables["descriptors"]
        known = dict(zip(_column(entries, "descriptor_id"), _column(entries, "plural"), strict=True))
        plurals = [known.get(name) for name in _column(responses, "descriptor_id")]
    return censor(texts.to_pylist(), _column(responses, "descriptor"), plurals)[0]


def _column(table: pa.Table, name: str) -> list[str | None]:
    values: list[str | None] = table[name].cast(pa.large_string()).to_pylist()
    return values


def start_text_judges(
    readers: Collection[type[Reader]], options: JudgingOptions, display: Display
) -> Mapping[str, Judge]:
    """Start the classifiers of readers, by reader: named classifiers by what they judge, else the reader's own.

    Raises ``EvaluationError`` if a named classifier fits no reader, or two fit one.
    """
    judging = [reader for reader in readers if issubclass(reader, LabelReader)]
    chosen: dict[str, str] = {}
    for name in options.classifiers:
        fit = _reader_of(name, judging)
        if fit in chosen:
            raise EvaluationError(f"--classifier: {chosen[fit]} and {name} are both for {fit}: name one")
        chosen[fit] = name
    named = {reader.name: chosen.get(reader.name, reader.card) for reader in judging}
    for reader in judging:
        reader.labels(CARDS.read(named[reader.name]))
    started = {name: start_judge(name, options, display) for name in dict.fromkeys(named.values())}
    return {reader: started[name] for reader, name in named.items()}


def _reader_of(name: str, readers: Collection[type[LabelReader]]) -> str:
    """The reader that a classifier fits; of several, the reader whose own classifier has the same task."""
    card = CARDS.read(name)
    refused: ClassifierError | None = None
    fits = []
    for reader in readers:
        try:
            reader.labels(card)
        except ClassifierError as error:
            refused = error
        else:
            fits.append(reader)
    if not fits:
        raise refused or EvaluationError(f"--classifier {name}: no measure of this run uses it")
    return min(fits, key=lambda reader: CARDS.read(reader.card).task != card.task).name


def show_reading(reader: Reader, texts: pa.Table, display: Display) -> pa.Table:
    """Add the columns of a reader to texts, and show the progress."""
    if isinstance(reader, LabelReader):
        with display.progress(f"Classifying with {reader.judge.card.id}", texts.num_rows) as advance:
            return add_readings(texts, reader, advance)
    with display.step(f"Reading {reader.name.replace('_', ' ')}"):
        return add_readings(texts, reader)
