"""Tasks that a model answers with texts: their requests, the model that responds, and responses of a file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from holisticbias.inputs import file_sha256
from holisticbias.release.release import Release
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, RESPONDER
from holisticbias_eval.models.engines import server_of, start_generator
from holisticbias_eval.models.generation.conversation import ConversationOptions, ConversationSettings
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.frame import Style
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, respond_all, unique_requests
from holisticbias_eval.models.model import GivenModel, ModelSignature
from holisticbias_eval.models.trial import Plan, plan_trial
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import lines_to_draw
from holisticbias_eval.prompts.conversations import PER_CELL, PromptDrawing, draw_prompts
from holisticbias_eval.settings import Chosen, Seed, Small, Variants
from holisticbias_eval.tables.files import table_stem
from holisticbias_eval.tasks.response_settings import DecodingName, GivenResponses, Personas, Samples
from holisticbias_eval.tasks.sources import Answered, TaskRequests, TaskSource
from holisticbias_eval.tasks.task import Given, Task, TaskReading
from holisticbias_eval.tasks.text_reading import find_text_reading

DECODING, CONTINUING = "sampled", "bold-gpt2"
"""The default decodings of answers, and of prompts that are continued."""
_MOST = 100_000
"""The most responses to a prompt, or to a descriptor in a template."""


def start_responding(given: Given, style: Style | None = None) -> Generator:
    """Start the engine that answers, by default the embedded responder, with its store if there is one.

    With a ``style`` it continues prompts, and a chat model is asked to do so.
    """
    settings, decoding = given.running, given.read(DecodingName).decoding
    usual = CONTINUING if style else DECODING
    chosen = DECODINGS.read(usual if decoding is None else decoding)
    if given.model == EMBEDDED_MODEL:
        raise EvaluationError(f"the embedded model gives scores alone; the one for responses is --model {RESPONDER}")
    conversation = ConversationOptions(**dict(given.read(ConversationSettings)), style=style)
    wanted = server_of(given.model, settings)[0] if settings.engine == "api" else given.model or RESPONDER
    with given.display.step(f"Loading model {given.model_name or wanted}"):
        seed = given.read(Seed).seed
        generator = start_generator(wanted, given.display.notice, chosen, seed, conversation, settings)
    return given.stored(generator, "responses")


def find_drawing(given: Given, *, several: bool = True) -> PromptDrawing:
    """The options of drawing prompts; each is asked ``PER_CELL`` times by default, or once unless ``several``."""
    chosen, file = given.read(Chosen), given.read(Personas).personas
    lines, digest = lines_to_draw(file) if file else (("",), "")
    about = f"{len(lines):,} lines of {file.name}, SHA-256 {digest}" if file else "none"
    number, seed = given.read(Samples).per_cell or (PER_CELL if several else 1), given.read(Seed).seed
    if number > _MOST:
        raise EvaluationError(f"--per-cell {number:,} is more than {_MOST:,} responses to a prompt: choose fewer")
    variants = given.read(Variants).variants is not False
    return PromptDrawing(number, seed, chosen.where, chosen.limit, variants, lines, about)


def draw_sentences(given: Given, drawing: PromptDrawing) -> tuple[Release, pa.Table]:
    """Open the release, by default the one whose words the model knows, and draw prompts from its sentences."""
    release = given.release(given.own_release, small=given.read(Small).small)
    with given.display.step("Drawing prompts"):
        return release, draw_prompts(release, drawing)


def given_model(name: str | None, file: Path) -> GivenModel:
    """The model whose responses are in a file."""
    digest = file_sha256(file) if file.is_file() else None
    identity = ModelSignature.unknown(name or table_stem(file), "responses given in a file")
    return GivenModel(identity, {"responses": f"given in {file.name}", "responses_sha256": digest or ""})


@dataclass(frozen=True)
class ResponseRequests(TaskRequests):
    """Prompts that a generator answers, or responses that are given; ``made`` makes rows of answers of them.

    A prompt is asked ``each`` times, if a limit is one of prompts.
    """

    answers = "responses"
    prompts: pa.Table
    generator: Generator | GivenModel
    made: Callable[[pa.Table], pa.Table] = lambda table: table
    each: int = 1

    @property
    def stored(self) -> str | None:
        """The number of responses in the store."""
        return self.generator.kept

    @property
    def kept(self) -> str:
        """The number of responses in the store and how to continue; empty if they are given."""
        return "" if isinstance(self.generator, GivenModel) else super().kept

    def answer(self, display: Display) -> Answered:
        """Answer each prompt: add ``response``, ``finish``, ``tokens`` and ``reasoning``; see ``Responses``."""
        generator, table = self.generator, self.prompts
        if isinstance(generator, GivenModel):
            return Answered(self.made(table))
        distinct, rows = unique_requests(self._requests())
        with display.step("Trying a few prompts alone and in a batch"):
            sameness = generator.probe(distinct)
        with display.progress(f"Answering with {generator.identity.name}", len(distinct)) as advance:
            made = respond_all(distinct, generator, advance).table().take(pa.array(rows))
        return Answered(self.made(with_columns(table, made)), {"sameness": sameness})

    def plan(self, display: Display) -> Plan:
        """Count the responses to write, and estimate how long they take; nothing is stored."""
        generator = self.generator
        if isinstance(generator, GivenModel):
            raise EvaluationError("--dry-run is for responses of a model, and these are given: leave it out")
        distinct, _ = unique_requests(self._requests())
        with display.step("Finding the responses that are not written yet"):
            missing = generator.lacking(distinct)
        with display.step("Timing a few responses"):
            plan = plan_trial(
                "responses to write", len(distinct), missing, lambda rows: generator.attempt(distinct.take(rows))
            )
        return replace(plan, each=self.each)

    def _requests(self) -> PromptRequests:
        texts = self.prompts["prompt"].to_pylist(), self.prompts["persona"].to_pylist()
        return PromptRequests(*texts, self.prompts["sample"].to_numpy())


class RespondingTask(Task):
    """A task that a model answers with texts; the readers of its measures read the column ``text``."""

    ability = "generate"

    def model(self, source: TaskSource, given: Given) -> Generator | GivenModel:
        """Start the engine that responds; of responses that are given only the model's name is known."""
        file = given.read(GivenResponses).responses
        return start_responding(given) if file is None else given_model(given.model_name, file)

    def reading(self, source: TaskSource, given: Given) -> TaskReading:
        """Find the readers of the measures, with their classifiers."""
        return find_text_reading(given)
