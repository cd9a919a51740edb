"""Texts about groups: prompts that a model continues, beside the texts of people."""

from dataclasses import replace

import pyarrow as pa

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.options import Censoring
from holisticbias_eval.models.embedded import WRITER
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.model import GivenModel
from holisticbias_eval.prompts.collections import CALIBRATION
from holisticbias_eval.prompts.texts import censored_texts, mark_refusals, model_texts
from holisticbias_eval.settings import ReleaseName, Use, Variants
from holisticbias_eval.tasks import responding
from holisticbias_eval.tasks.collected import PromptsAsked, find_asked, read_given_texts
from holisticbias_eval.tasks.response_files import counts_in_words
from holisticbias_eval.tasks.response_settings import (
    ASKED,
    SAID,
    SENTENCES,
    GivenResponses,
    Personas,
    TextSettings,
    asking_uses,
)
from holisticbias_eval.tasks.sources import TaskSource
from holisticbias_eval.tasks.task import Given, TaskReading
from holisticbias_eval.tasks.text_reading import find_text_reading


class TextsTask(responding.RespondingTask):
    """Prompts about groups."""

    name = "texts"
    subject = "continuations of prompts about groups of people"
    uses = (
        Use(ReleaseName, (ASKED,)), Use(GivenResponses), Use(Variants, (ASKED, SAID)), Use(Personas, (ASKED, SAID)),
        *asking_uses(ASKED), *TextSettings.uses(), Use(Censoring, (ASKED, SAID)),
    )  # fmt: skip

    def source(self, given: Given) -> TaskSource:
        """Find the prompts; without model, prompts and release, those of the embedded writer."""
        file, read = given.read(GivenResponses).responses, given.read(TextSettings)
        if file is not None:
            return read_given_texts(file, read.measured)
        prompts, own = _with_writer(given, read.prompts)
        drawing = responding.find_drawing(given, several=prompts == SENTENCES)
        found = find_asked(read.model_copy(update={"prompts": prompts}), given, drawing)
        return replace(found, default_model=own)

    def model(self, source: TaskSource, given: Given) -> Generator | GivenModel:
        """Start the engine that continues; of given texts only the model's name is known."""
        if given.read(GivenResponses).responses is not None:
            return super().model(source, given)
        generator = responding.start_responding(replace(given, model=given.named(source)), source.content.style)
        if generator.keeps_blank and given.read(TextSettings).style is not None:
            name = generator.identity.name
            raise EvaluationError(f"--style is for chat models: {name} continues the plain text; leave it out")
        return generator

    def ask(self, source: TaskSource, model: Generator | GivenModel, given: Given) -> responding.ResponseRequests:
        """The prompts, and how the responses become texts."""
        asked: PromptsAsked = source.content
        count = asked.requests.num_rows
        if isinstance(model, GivenModel):
            return responding.ResponseRequests(asked.requests, model, count=count)
        style = None if model.keeps_blank else asked.style
        settings = style.settings if style else {}
        release = source.release if asked.is_censored else None

        def made(responses: pa.Table) -> pa.Table:
            """Texts of the model, and then those of people."""
            table = model_texts(mark_refusals(responses, style), asked.part, keeps_blank=model.keeps_blank)
            table = censored_texts(table, release)
            given.display.notice(counts_in_words(table))
            return pa.concat_tables([table, asked.human], promote_options="default")

        return responding.ResponseRequests(asked.requests, model, made, asked.each, count=count, settings=settings)

    def reading(self, source: TaskSource, given: Given) -> TaskReading:
        """Find the classifiers of the measures."""
        return find_text_reading(given, censored=source.content.is_censored)


def _with_writer(given: Given, prompts: str | None) -> tuple[str | None, str | None]:
    """The prompts of the embedded writer as its default prompts, and the writer as their default model."""
    if given.release_name is not None or given.running.engine == "api":
        return prompts, None
    if given.model in (None, WRITER) and prompts is None:
        prompts = CALIBRATION
    return prompts, WRITER if prompts == CALIBRATION else None
