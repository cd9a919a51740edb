"""Find what reads the texts of a run: its classifiers and their options."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import pyarrow as pa

from holisticbias.inputs import file_sha256
from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES, options
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.responses.bias_details import corpus_figures
from holisticbias_eval.measures.responses.styles import refuse_unknown_styles
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.card import CARDS, CLUSTERS
from holisticbias_eval.readers.censor import censor_settings
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.judging import (
    JudgingOptions,
    choose_judges,
    describe_judges,
    judge_responses,
    start_judges,
)
from holisticbias_eval.readers.labels import LabelReader, OffensivenessReader, StylesReader
from holisticbias_eval.statistics.medians import count_terms
from holisticbias_eval.tables.content import each_line
from holisticbias_eval.tasks.audit import audit_table, audit_texts
from holisticbias_eval.tasks.response_files import counts_in_words
from holisticbias_eval.tasks.task import Given, TaskReading

FOUND: Literal["found"] = "found"
RESPONSE_READERS: Mapping[str, type[LabelReader]] = {"offensiveness": OffensivenessReader, "labels": StylesReader}
"""What reads the responses for each kind of answers; of a classifier that fits both, the first has the first claim."""


def judging_options(given: Given) -> JudgingOptions:
    """The options of judging."""
    return JudgingOptions(
        given.read(options.Judging).names,
        given.running.device,
        given.store("labels"),
        given.read(options.ClassifierServer).classifier_api_base,
    )


def find_clusters(given: Given) -> dict[str, tuple[str, ...]] | Literal["found"] | None:
    """The clusters of styles that the user named; None for those of the classifier."""
    wanted = given.read(options.Clustering).clusters
    return FOUND if wanted == FOUND else CLUSTERS.read(wanted).clusters if wanted else None


def count_corpus(corpus: Path, scores: pa.Table) -> Mapping[str, int]:
    """Count each descriptor of a table in a text file; raises ``TableError`` if the file cannot be read."""
    return count_terms(each_line(corpus), scores["descriptor"].unique().to_pylist())


def _sign_corpus(corpus: Path) -> Mapping[str, str]:
    """The name of a text file and its SHA-256, read whole: raises ``TableError`` if it cannot be read."""
    for _ in each_line(corpus):
        pass
    return {"corpus": f"{corpus.name}, SHA-256 {file_sha256(corpus)}"}


def find_response_reading(own: Mapping[str, str], release: Release, given: Given) -> TaskReading:
    """Find the classifiers of responses; ``own`` replaces the default classifiers by those of a model.

    Raises ``TableError`` if the corpus cannot be read, ``ClassifierError`` if a classifier does not fit, and
    ``SelectionError`` for clusters of styles that the classifier does not know, before a model is loaded.
    """
    corpus, censored = given.read(options.CorpusSettings).corpus, given.read(options.Censoring).censor
    signed = {} if corpus is None else _sign_corpus(corpus)
    needed = {MEASURES[name].needs.answers for name in given.measures}
    readers = {kind: reader for kind, reader in RESPONSE_READERS.items() if kind in needed}
    judging = judging_options(given)
    named = choose_judges([*readers.values()], own, judging)
    chosen = {kind: named[reader.name] for kind, reader in reversed(readers.items())}
    settings = {**censor_settings(censored=censored), **signed} if chosen else signed
    measuring = MeasureSettings(values=given.values)
    if "labels" in chosen:
        clusters, card = find_clusters(given), CARDS.read(chosen["labels"])
        if isinstance(clusters, dict):
            refuse_unknown_styles(clusters, card.labels)
        measuring = measuring.model_copy(update={"clusters": clusters or dict(card.clusters) or None})
    if "offensiveness" in chosen:
        measuring = measuring.model_copy(update={"threshold": CARDS.read(chosen["offensiveness"]).threshold})
    return ResponseReading(
        settings=settings, measuring=measuring, chosen=chosen, options=judging, release=release, corpus=corpus,
        measures=given.measures, censored=censored,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class JudgedReading(TaskReading):
    """Reads texts with classifiers: ``chosen`` names them by what they judge, and ``judges`` holds the loaded ones.

    ``censored`` says whether mentions of a descriptor are replaced before.
    """

    chosen: Mapping[str, str]
    options: JudgingOptions
    censored: bool
    judges: Mapping[str, Classifier] = field(default_factory=dict)

    def start(self, display: Display) -> Self:
        """The reading with its classifiers."""
        judges = start_judges(self.chosen, self.options, display)
        return replace(self, signed=describe_judges(judges.values()), judges=judges)


@dataclass(frozen=True, kw_only=True)
class ResponseReading(JudgedReading):
    """Censors and classifies responses, and audits the classifiers on texts in which only the descriptor differs."""

    release: Release
    corpus: Path | None
    measures: tuple[str, ...]

    def read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add ``judged`` and the probabilities."""
        display.notice(counts_in_words(table))
        return judge_responses(table, self.release, self.judges, display, censored=self.censored)

    def beside(
        self, table: pa.Table, figures: tuple[Figure, ...], display: Display
    ) -> tuple[tuple[Figure, ...], Mapping[str, pa.Table]]:
        """The audits of the classifiers, and the frequency of terms in a corpus."""
        more: list[Figure] = []
        if self.corpus is not None:
            with display.step(f"Counting descriptors in {self.corpus}"):
                more += corpus_figures(View(Figures(figures), table), count_corpus(self.corpus, table))
        readers = {kind: RESPONSE_READERS[kind](judge=judge) for kind, judge in self.judges.items()}
        asked = {kind: self._audit(table, reader, display) for kind, reader in readers.items()}
        audits = {kind: audit for kind, audit in asked.items() if audit is not None}
        for name in self.measures:
            if (audit := audits.get(MEASURES[name].needs.answers)) is not None:
                more += MEASURES[name].audit_figures(audit, self.measuring)
        return tuple(more), {f"audit-{name}": audit for name, audit in audits.items()}

    def _audit(self, table: pa.Table, reader: LabelReader, display: Display) -> pa.Table | None:
        """Classify fixed texts in which only the descriptor changes; None, with a notice, if no noun goes with all."""
        name = reader.judge.card.id
        ids = (table[name].cast(pa.string()).unique().to_pylist() for name in ("descriptor_id", "template_id"))
        with display.step(f"Auditing {name} on sentences in which only the descriptor changes"):
            try:
                return audit_table(audit_texts(self.release, *ids), reader)
            except SelectionError as error:
                display.notice(f"{name}: {error}")
                return None
