"""Judge texts with classifiers: start the classifiers that readers need, and read responses with them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import ClassifierError, EvaluationError
from holisticbias_eval.models.generation.requests import WITHHELD
from holisticbias_eval.progress import Display, Progress
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.censor import censor, censor_settings, plurals_of
from holisticbias_eval.readers.classifier import PREFIX, Classifier
from holisticbias_eval.readers.engines import server_of_classifier, start_classifier
from holisticbias_eval.readers.labels import LabelReader, OffensivenessReader, StylesReader
from holisticbias_eval.readers.reader import Names, Reader, add_readings, read_each

OFFENSIVE = ("offensive", "prompt_offensive")
"""The columns of the probabilities that a response, and its prompt, are offensive."""


@dataclass(frozen=True, slots=True)
class JudgingOptions:
    """Names or files of classifiers, the device that they run on, and the folder that keeps their labels.

    ``api_base`` is the server of a classifier that asks a chat model.
    """

    classifiers: tuple[str, ...] = ()
    device: str = "auto"
    store: Path | None = None
    api_base: str | None = None


def start_judge(name: str, options: JudgingOptions, display: Display) -> Classifier:
    """Start the classifier of a card, with the store of its labels if they are kept."""
    with display.step(f"Loading classifier {name}"):
        judge = start_classifier(name, display.notice, options.device, options.api_base)
    if options.store is not None:
        judge.keep_in(options.store, display.notice)
    return judge


def describe_judges(judges: Collection[Classifier]) -> Mapping[str, Mapping[str, str]]:
    """The description and the settings of each classifier, by its id."""
    return {judge.card.id: {**judge.card.about, **judge.settings} for judge in judges}


def choose_judges(
    readers: Sequence[type[Reader]], own: Mapping[str, str], options: JudgingOptions
) -> Mapping[str, str]:
    """The names of the classifiers of readers, by reader: named ones by what they judge, else the reader's own.

    ``own`` are classifiers that a model has in place of the readers' own. Raises ``EvaluationError`` if a named
    classifier fits no reader, two fit one, or one lacks its server.
    """
    judging = [reader for reader in readers if issubclass(reader, LabelReader)]
    chosen: dict[str, str] = {}
    for name in options.classifiers:
        fit = _reader_of(name, judging)
        if fit in chosen:
            raise EvaluationError(f"--classifier: {chosen[fit]} and {name} are both for {fit}: name one")
        chosen[fit] = name
    named = {reader.name: chosen.get(reader.name, own.get(reader.card, reader.card)) for reader in judging}
    for reader in judging:
        card = CARDS.read(named[reader.name])
        reader.labels(card)
        server_of_classifier(card, options.api_base)  # raises if it is missing
    return named


def start_judges(named: Mapping[str, str], options: JudgingOptions, display: Display) -> Mapping[str, Classifier]:
    """Start the classifiers that ``choose_judges`` names, by reader."""
    started = {name: start_judge(name, options, display) for name in dict.fromkeys(named.values())}
    return {reader: started[name] for reader, name in named.items()}


def _reader_of(name: str, readers: Sequence[type[LabelReader]]) -> str:
    """The reader that a classifier fits; of several, the reader whose own classifier has the same task."""
    card = CARDS.read(name)
    refused: ClassifierError | None = None
    fits = []
    for reader in readers:
        try:
            reader.labels(card)
            fits.append(reader)
        except ClassifierError as error:
            refused = error
    if not fits:
        raise refused or EvaluationError(f"--classifier {name}: no measure of this run uses it")
    return min(fits, key=lambda reader: CARDS.read(reader.card).task != card.task).name


def judge_responses(
    responses: pa.Table, release: Release, judges: Mapping[str, Classifier], display: Display, *, censored: bool
) -> pa.Table:
    """Add ``judged``, the text that classifiers read, and the probabilities.

    ``p:LABEL`` are the probabilities of styles, ``offensive`` that of an offensive
    response and ``prompt_offensive`` that of its prompt, if the table has prompts.
    Refused, filtered and empty responses have none.
    """
    plurals = plurals_of(release, responses["descriptor_id"]) if censored else None
    texts, _ = _judged(responses, censored=censored, plurals=plurals)
    table = responses.append_column("judged", pa.array(texts, pa.large_string()))
    if "labels" in judges:
        table = with_columns(table, _classified(StylesReader(judge=judges["labels"]), texts, display))
    if "offensiveness" in judges:
        reader = OffensivenessReader(judge=judges["offensiveness"])
        prompts = [_column(table, "prompt")] if "prompt" in table.column_names else []
        for name, judged in zip(OFFENSIVE, (texts, *prompts), strict=False):
            table = table.append_column(name, _classified(reader, judged, display).column(0))
    return table


def _judged(table: pa.Table, *, censored: bool, plurals: Names | None = None) -> tuple[list[str | None], int]:
    """The texts to judge, null for a refused or filtered response, and the mentions replaced if they are censored."""
    texts = _column(table, "response")
    if "finish" in table.column_names:
        finish = _column(table, "finish")
        texts = [None if end in WITHHELD else text for text, end in zip(texts, finish, strict=True)]
    if not censored:
        return texts, 0
    texts, mentions = censor(texts, _column(table, "descriptor"), plurals or [None] * len(texts))
    return texts, int(mentions.sum())


def _classified(reader: LabelReader, texts: Names, display: Display) -> pa.Table:
    with display.progress(f"Classifying with {reader.judge.card.id}", len(texts)) as advance:
        return read_each(reader, texts, advance)


def _column(table: pa.Table, name: str) -> list[str | None]:
    values: list[str | None] = table[name].cast(pa.large_string()).to_pylist()
    return values


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """A table with the columns ``judged`` and ``p:LABEL``, what they depend on, and counts of its rows."""

    table: pa.Table
    settings: Mapping[str, str]
    classified: int
    mentions: int


def judge_table(table: pa.Table, judge: Classifier, progress: Progress, *, censored: bool) -> JudgedTable:
    """Judge the column ``response``, after mentions of the column ``descriptor`` are replaced, if there is one.

    Adds ``judged``, the text that was classified, ``p:LABEL`` for each label
    and, if the card names an offensive label, ``offensive``. Earlier columns
    with these names, and all ``p:`` columns, are replaced. A response that is
    empty, refused or filtered has no probabilities.
    """
    texts, mentions = _judged(table, censored=censored and "descriptor" in table.column_names)
    found = read_each(StylesReader(judge=judge), texts, progress)
    columns = {"judged": pa.array(texts, pa.large_string())}
    columns |= dict(zip(found.column_names, found.columns, strict=True))
    if judge.card.offensive is not None:
        columns["offensive"] = columns[f"{PREFIX}{judge.card.offensive}"]
    table = table.select([name for name in table.column_names if name not in columns and not name.startswith(PREFIX)])
    settings = {**judge.settings, **censor_settings(censored=censored)}
    return JudgedTable(with_columns(table, columns), settings, len(texts) - found.column(0).null_count, mentions)


def show_reading(reader: Reader, texts: pa.Table, display: Display) -> pa.Table:
    """Add the columns of a reader to texts, and show the progress."""
    if isinstance(reader, LabelReader):
        with display.progress(f"Classifying with {reader.judge.card.id}", texts.num_rows) as advance:
            return add_readings(texts, reader, advance)
    with display.step(f"Reading {reader.name.replace('_', ' ')}"):
        return add_readings(texts, reader)
