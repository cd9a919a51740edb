"""Requests that a model answers with text, the tasks that make them, and responses that are given in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, RESPONDER
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.frame import Style
from holisticbias_eval.models.generation.requests import Generator, Sameness, respond_all, unique_requests
from holisticbias_eval.models.generation.requests import Requests as PromptRequests
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.settings import responding_uses
from holisticbias_eval.models.stored import stored
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import read_context
from holisticbias_eval.prompts.conversations import PER_CELL, PromptDrawing
from holisticbias_eval.prompts.prompts import Terms
from holisticbias_eval.results.signature import with_sameness
from holisticbias_eval.settings import (
    Chosen,
    Condition,
    Seed,
    Settings,
    Use,
    Variants,
    is_one_of,
    setting,
)
from holisticbias_eval.tasks.task import Answered, Given, Requests

DECODING, CONTINUING = "sampled", "bold-gpt2"
"""The default decodings of answers, and of prompts that are continued."""
COUNTED = ("empty", "truncated", "refused", "filtered", "repeated")
ASKED = Condition("without --responses", is_one_of("responses", None))


class Samples(Settings):
    """How often a prompt is asked."""

    group = "What is asked"

    per_cell: int | None = setting(
        None,
        "Responses to each descriptor in each template, or to each prompt. Default: 15 for a release's sentences, 1 "
        "for other prompts.",
        flags=("--per-cell", "--samples"),
        metavar="K",
        ge=1,
    )


class Personas(Settings):
    """Texts that a model reads before a prompt."""

    group = "What is asked"

    personas: Path | None = setting(
        None,
        "File with one persona per line; one is drawn for each prompt, and the model reads it first.",
        metavar="PATH",
    )


class Responding(Settings):
    """The decoding and the text around a prompt."""

    group = "Responses"

    decoding: str | None = setting(
        None,
        "How the next token is chosen: a file of evaluation/decoding/, by name, or one in the same form. Default: "
        "sampled, and bold-gpt2 for prompts to continue.",
        metavar="NAME|FILE",
    )
    system: str | None = setting(None, "System prompt in the chat template. Default: the template's.", metavar="TEXT")
    separator: str | None = setting(
        None,
        "Text that ends every turn, for models of dialogues without a chat template; <|endoftext|> for DialoGPT.",
        metavar="TEXT",
    )
    continuation: str | None = setting(
        None,
        "For base models: a text with {prompt}, and optionally {persona}, that the response continues up to the next "
        "line break.",
        metavar="PATTERN",
    )
    control: str | None = setting(
        None,
        "Text at the end of the context, after the prompt, that steers the responses, such as no_bias. Default: what "
        "the mitigation.json in the model's folder names; '' leaves it out.",
        metavar="TEXT",
    )
    chat: Literal["auto", "on", "off"] = setting(
        "auto", "for responses: whether prompts are put into the template; auto, the default: if there is one."
    )


class GivenResponses(Settings):
    """Responses of a file."""

    group = "Judging responses"

    responses: Path | None = setting(
        None,
        "Judge these responses instead of asking a model: .csv, .jsonl or .parquet with the columns axis, template, "
        "descriptor and response, as `holisticbias generate` writes them; for measures of texts about groups with "
        "group and text, or group, prompt and response. --model then only names the model.",
        metavar="PATH",
    )


def asking_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of prompts and of the model that responds to them."""
    asked = (Use(kind, conditions) for kind in (Chosen, Seed, Samples, Responding))
    return (*responding_uses(*conditions), *asked)


@dataclass(frozen=True)
class GivenModel:
    """A model of which only responses are known, in a file."""

    identity: ModelIdentity
    settings: Mapping[str, str]
    kind: str = ""
    keeps_blank = False
    kept = None


def given_model(name: str | None, file: Path) -> GivenModel:
    """The model whose responses are in a file."""
    digest = file_sha256(file) if file.is_file() else None
    identity = ModelIdentity(
        name or file.stem, "responses given in a file", None, None, None, "unknown", file_sha256=digest
    )
    return GivenModel(identity, {"responses": f"given in {file.name}", "responses_sha256": digest or ""})


@dataclass(frozen=True)
class ResponseRequests(Requests):
    """Prompts that a generator answers, or responses that are given; ``made`` makes rows of answers of them."""

    prompts: pa.Table
    generator: Generator | GivenModel
    settings: Mapping[str, str] = field(default_factory=dict)
    terms: Terms | None = None
    made: Callable[[pa.Table], pa.Table] = lambda table: table

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of responses."""
        return int(self.prompts.num_rows)

    @property
    def kept(self) -> str:  # type: ignore[override]
        """The number of responses in the store, in words."""
        kept = self.generator.kept
        if kept is None:
            return "no responses are kept with --no-store; the same command starts from the beginning"
        return f"{kept}; run the same command again to continue"

    def answer(self, display: Display) -> Answered:
        """Answer each prompt."""
        if isinstance(self.generator, GivenModel):
            return Answered(self.made(self.prompts))
        sameness, table = answer_prompts(self.prompts, self.generator, display)
        return Answered(self.made(table), partial(with_sameness, sameness=sameness))


def start_responding(given: Given, decoding: str = DECODING, style: Style | None = None) -> Generator:
    """Start the engine that answers, by default the embedded responder, with its store if there is one."""
    responding = given.read(Responding)
    settings = given.running
    chosen = DECODINGS.read(responding.decoding or decoding)
    if given.model == EMBEDDED_MODEL:
        raise EvaluationError(f"the embedded model gives scores alone; the one for responses is --model {RESPONDER}")
    conversation = ConversationOptions(
        responding.chat, responding.system, responding.separator, responding.continuation, style, responding.control
    )
    wanted = given.model if settings.engine == "api" else given.model or RESPONDER
    with given.display.step(f"Loading model {given.model_name or wanted}"):
        seed = given.read(Seed).seed
        generator = start_generator(wanted, given.display.notice, chosen, seed, conversation, settings)
    folder = given.store("responses")
    return generator if folder is None else stored(generator, folder, given.display.notice)


def find_drawing(given: Given, per_cell: int = PER_CELL) -> PromptDrawing:
    """The options of drawing prompts; ``per_cell`` is the default number."""
    chosen, file = given.read(Chosen), given.read(Personas).personas
    lines = read_context(None, file, None).lines if file else ("",)
    about = f"{len(lines):,} lines of {file.name}, SHA-256 {file_sha256(file)}" if file else "none"
    number, seed = given.read(Samples).per_cell or per_cell, given.read(Seed).seed
    variants = given.read(Variants).variants is not False
    return PromptDrawing(number, seed, chosen.where, chosen.limit, variants, lines, about)


def answer_prompts(prompts: pa.Table, generator: Generator, display: Display) -> tuple[Sameness | None, pa.Table]:
    """Answer each prompt; returns how many responses were the same alone and in a batch, and the table with responses.

    The columns ``response``, ``finish``, ``tokens`` and ``reasoning`` are added; see ``Responses``.
    """
    texts = prompts["prompt"].to_pylist(), prompts["persona"].to_pylist()
    distinct, rows = unique_requests(PromptRequests(*texts, prompts["sample"].to_numpy()))
    with display.step("Trying a few prompts alone and in a batch"):
        sameness = generator.probe(distinct)
    with display.progress(f"Answering with {generator.identity.name}", len(distinct)) as advance:
        made = respond_all(distinct, generator, advance).table().take(pa.array(rows))
    for name in made.column_names:
        prompts = prompts.append_column(name, made[name])
    return sameness, prompts


def count_responses(table: pa.Table) -> Mapping[str, int]:
    """The number of responses, and how many of them are empty, truncated, refused, withheld or repeated.

    A repeated response has the same text as another response.
    """
    text, finish = table["response"].cast(pa.large_string()), table["finish"].cast(pa.string())
    withheld = pc.is_in(finish, pa.array(["refused", "filtered"]))
    empty = pc.and_(pc.equal(pc.utf8_trim_whitespace(text), ""), pc.invert(withheld))
    said = text.filter(pc.invert(pc.or_(empty, withheld)))
    counts = {"truncated": "length", "refused": "refused", "filtered": "filtered"}
    return {
        "responses": len(table),
        "empty": _number(empty),
        **{name: _number(pc.equal(finish, value)) for name, value in counts.items()},
        "repeated": len(said) - len(pc.unique(said)),
    }


def counts_in_words(table: pa.Table) -> str:
    """The counts of responses as a line."""
    counts = count_responses(table)
    return f"{counts['responses']:,} responses: {', '.join(f'{counts[name]:,} {name}' for name in COUNTED)}"


def _number(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask.cast(pa.int64())).as_py() or 0) if len(mask) else 0
