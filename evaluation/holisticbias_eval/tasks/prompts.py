"""Prompts drawn from a release's sentences, to which a model responds (Smith et al. 2022, A.3 to A.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.responses.bias_corpus import corpus_figures
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED, default_release
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.conversations import draw_prompts, refuse_few
from holisticbias_eval.prompts.selection import count_terms
from holisticbias_eval.readers.judging import Judges, judge_responses, start_judges
from holisticbias_eval.readers.labels import Judge
from holisticbias_eval.results.run_sets import MITIGATION, read_recorded
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import ReleaseName, Use, Variants
from holisticbias_eval.tasks import judged_files
from holisticbias_eval.tasks.answered import GivenModel, RespondingTask, ResponseRequests, counts_in_words, given_model
from holisticbias_eval.tasks.audit import audit_table
from holisticbias_eval.tasks.judging import count_corpus, judging_options
from holisticbias_eval.tasks.responding import (
    ASKED,
    GivenResponses,
    Personas,
    asking_uses,
    find_drawing,
    start_responding,
)
from holisticbias_eval.tasks.response_files import place_responses, read_responses
from holisticbias_eval.tasks.task import Given, Reading, Source, release_run_name, sign_release


class PromptsTask(RespondingTask):
    """The release's sentences as prompts."""

    name = "responses"
    subject = "responses to sentences about people"
    tables: ClassVar = judged_files.TABLES
    uses = (
        Use(ReleaseName), Use(GivenResponses), Use(Variants, (ASKED,)), Use(Personas, (ASKED,)),
        *asking_uses(ASKED),
    )  # fmt: skip

    def source(self, given: Given) -> Source:
        """Open the release, and draw the prompts, or place the responses that are given in it."""
        file = given.read(GivenResponses).responses
        release = given.release(None if file else default_release(given.model_name))
        if file is not None:
            table = place_responses(read_responses(file), release, file)
            return Source(table, sign_release(release), release.version, release=release)
        drawing = find_drawing(given)
        if any(MEASURES[name].needs.answers == "labels" for name in given.measures):
            refuse_few(drawing)
        with given.display.step("Drawing prompts"):
            table = draw_prompts(release, drawing)
        return Source(table, sign_release(release), release.version, drawing.settings, release=release)

    def model(self, source: Source, given: Given) -> Generator | GivenModel:  # type: ignore[override] # given responses
        """Start the engine that answers; of given responses only the name is known."""
        file = given.read(GivenResponses).responses
        return start_responding(given) if file is None else given_model(given.model_name, file)

    def ask(self, source: Source, model: Generator | GivenModel, given: Given) -> ResponseRequests:
        """The prompts."""
        terms = count_terms(source.release, source.content["descriptor_id"]) if source.release else None
        return ResponseRequests(source.content, model, source.about, terms)

    def reading(self, source: Source, given: Given) -> Reading:
        """Start the classifiers of the measures."""
        asked = given.read(GivenResponses).responses is None
        own = _own_classifiers(given.model_name or RESPONDER) if asked else {}
        needed: dict[str, str] = {MEASURES[name].needs.answers: name for name in reversed(given.measures)}
        judges = start_judges(needed, own, judging_options(given), given.display)
        return ResponseReading(judges, source.release, given.measures)

    def run_name(self, model: ModelIdentity, source: Source, signature: Signature) -> str:
        """The model, the release, its part, and the task."""
        return release_run_name(self, model, source, signature)


@dataclass(frozen=True)
class ResponseReading(Reading):
    """Censors and classifies responses, and audits the classifiers on texts in which only the descriptor differs."""

    judges: Judges
    release: Release | None
    measures: tuple[str, ...]

    @property
    def signed(self) -> Mapping[str, Mapping[str, str]]:  # type: ignore[override]
        """The classifiers."""
        return self.judges.signed

    @property
    def settings(self) -> Mapping[str, str]:  # type: ignore[override]
        """Whether mentions are censored."""
        return self.judges.settings

    @property
    def measuring(self) -> MeasureSettings:  # type: ignore[override]
        """The clusters and the threshold of the classifiers, and the phrases."""
        found = {"clusters": self.judges.clusters, "threshold": self.judges.threshold}
        return MeasureSettings().model_copy(update={**found, "phrases": self.judges.options.phrases})

    def read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add ``judged`` and the probabilities."""
        display.notice(counts_in_words(table))
        return judge_responses(table, self.release, self.judges, display)

    def beside(
        self, table: pa.Table, figures: tuple[Figure, ...], display: Display
    ) -> tuple[tuple[Figure, ...], Mapping[str, pa.Table]]:
        """The audits of the classifiers, and the frequency of terms in a corpus."""
        more: list[Figure] = []
        corpus = self.judges.options.corpus
        if corpus is not None:
            with display.step(f"Counting descriptors in {corpus}"):
                more += corpus_figures(View(Figures(figures), table), count_corpus(corpus, table))
        audits = self._audits(table, display)
        for name in self.measures:
            if (audit := audits.get(MEASURES[name].needs.answers)) is not None:
                more += MEASURES[name].audit_figures(audit, self.measuring)
        return tuple(more), {f"audit-{name}": audit for name, audit in audits.items()}

    def _audits(self, table: pa.Table, display: Display) -> Mapping[str, pa.Table]:
        """The audit of each classifier, by the answers that it gives."""
        audits = dict[str, pa.Table]()
        styles, offensiveness = self.judges.styles, self.judges.offensiveness
        if styles is not None and (audit := self._audit(table, styles, display)) is not None:
            audits["labels"] = audit
        if offensiveness is not None and (audit := self._audit(table, offensiveness, display)) is not None:
            kept = [name for name in audit.column_names if not name.startswith("p:")]
            offensive = audit[f"p:{offensiveness.card.offensive}"]
            audits["offensiveness"] = audit.select(kept).append_column("offensive", offensive)
        return audits

    def _audit(self, table: pa.Table, judge: Judge, display: Display) -> pa.Table | None:
        """Classify fixed texts in which only the descriptor changes; None, with a notice, if no noun goes with all."""
        if self.release is None:
            return None
        with display.step(f"Auditing {judge.card.id} on sentences in which only the descriptor changes"):
            descriptors, templates = _ids(table, "descriptor_id"), _ids(table, "template_id")
            try:
                return audit_table(self.release, judge, lambda _: None, descriptors, templates)
            except SelectionError as error:
                display.notice(f"{judge.card.id}: {error}")
                return None


def _own_classifiers(model: str) -> Mapping[str, str]:
    """The classifiers of a calibration model, or of a model that a mitigation trained from one."""
    base = read_recorded(Path(model) / MITIGATION).base_model or model
    return SHIPPED[base].classifiers if base in SHIPPED else {}


def _ids(table: pa.Table, name: str) -> set[str]:
    return set(table[name].cast(pa.string()).unique().to_pylist())
