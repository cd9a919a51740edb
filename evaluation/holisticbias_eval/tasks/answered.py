"""Requests that a model answers with text, the tasks that make them, and responses that are given in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.models.generation.requests import Generator, Sameness, respond_all, unique_requests
from holisticbias_eval.models.generation.requests import Requests as PromptRequests
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.prompts import Terms
from holisticbias_eval.results.signature import with_sameness
from holisticbias_eval.tasks.responding import start_responding
from holisticbias_eval.tasks.task import Answered, Given, Reading, Requests, Source, Task
from holisticbias_eval.tasks.text_reading import start_text_reading

COUNTED = ("empty", "truncated", "refused", "filtered", "repeated")


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


class RespondingTask(Task):
    """A task that a model answers with texts; the readers of its measures read the column ``text``."""

    ability = "generate"

    def model(self, source: Source, given: Given) -> Generator:
        """Start the engine that responds."""
        return start_responding(given)

    def reading(self, source: Source, given: Given) -> Reading:
        """Start the readers of the measures, with their classifiers."""
        return start_text_reading(given)


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
