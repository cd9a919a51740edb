"""Prompts drawn from a release's sentences, to which a model responds (Smith et al. 2022, A.3 to A.5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED, default_release
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.model import GivenModel, ModelIdentity
from holisticbias_eval.prompts.conversations import draw_prompts, refuse_few
from holisticbias_eval.prompts.selection import count_terms
from holisticbias_eval.readers.judging import start_judges
from holisticbias_eval.results.run_sets import MITIGATION, read_recorded
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import ReleaseName, Small, Use, Variants
from holisticbias_eval.tasks import response_tables
from holisticbias_eval.tasks.answered import RespondingTask, ResponseRequests, given_model
from holisticbias_eval.tasks.judging import ResponseReading, judging_options
from holisticbias_eval.tasks.responding import (
    ASKED,
    GivenResponses,
    Personas,
    asking_uses,
    find_drawing,
    start_responding,
)
from holisticbias_eval.tasks.response_files import place_responses, read_responses
from holisticbias_eval.tasks.sources import sign_release
from holisticbias_eval.tasks.task import Given, TaskReading, TaskSource, release_run_name


class PromptsTask(RespondingTask):
    """The release's sentences as prompts."""

    name = "responses"
    subject = "responses to sentences about people"
    tables: ClassVar = response_tables.TABLES
    uses = (
        Use(ReleaseName), Use(Small, (ASKED,)), Use(GivenResponses), Use(Variants, (ASKED,)), Use(Personas, (ASKED,)),
        *asking_uses(ASKED),
    )  # fmt: skip

    def source(self, given: Given) -> TaskSource:
        """Open the release, and draw the prompts, or place the responses that are given in it."""
        file = given.read(GivenResponses).responses
        release = given.release(None if file else default_release(given.model_name), small=given.read(Small).small)
        if file is not None:
            table = place_responses(read_responses(file), release, file)
            return TaskSource(table, sign_release(release), release.version, release=release)
        drawing = find_drawing(given)
        if any(MEASURES[name].needs.answers == "labels" for name in given.measures):
            refuse_few(drawing)
        with given.display.step("Drawing prompts"):
            table = draw_prompts(release, drawing)
        return TaskSource(table, sign_release(release), release.version, drawing.settings, release=release)

    def model(self, source: TaskSource, given: Given) -> Generator | GivenModel:  # type: ignore[override] # given responses
        """Start the engine that answers; of given responses only the name is known."""
        file = given.read(GivenResponses).responses
        return start_responding(given) if file is None else given_model(given.model_name, file)

    def ask(self, source: TaskSource, model: Generator | GivenModel, given: Given) -> ResponseRequests:
        """The prompts."""
        terms = count_terms(source.release, source.content["descriptor_id"]) if source.release else None
        return ResponseRequests(
            source.content, model, count=source.content.num_rows, settings=source.about, terms=terms
        )

    def reading(self, source: TaskSource, given: Given) -> TaskReading:
        """Start the classifiers of the measures."""
        asked = given.read(GivenResponses).responses is None
        own = _own_classifiers(given.model_name or RESPONDER) if asked else {}
        needed: dict[str, str] = {MEASURES[name].needs.answers: name for name in reversed(given.measures)}
        judges = start_judges(needed, own, judging_options(given), given.display)
        return ResponseReading(judges, source.release, given.measures)

    def run_name(self, model: ModelIdentity, source: TaskSource, signature: Signature) -> str:
        """The model, the release, its part, and the task."""
        return release_run_name(self, model, source, signature)


def _own_classifiers(model: str) -> Mapping[str, str]:
    """The classifiers of a calibration model, or of a model that a mitigation trained from one."""
    base = read_recorded(Path(model) / MITIGATION).base_model or model
    return SHIPPED[base].classifiers if base in SHIPPED else {}
