"""Let a model answer prompts, and write its responses to a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Part
from holisticbias_eval.generation.generator import Generator
from holisticbias_eval.models.source import file_sha256
from holisticbias_eval.pipeline.answering import (
    AnsweringOptions,
    answer_prompts,
    count_responses,
    kept_responses,
    open_generator,
)
from holisticbias_eval.pipeline.jobs import file_name, find_release, sign_release
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.conversations import draw_prompts
from holisticbias_eval.prompts.prompt_files import prompts_file, read_prompts
from holisticbias_eval.results.machine import machine
from holisticbias_eval.results.run import RESPONSES
from holisticbias_eval.results.signature import ModelSignature, ReleaseSignature, SamenessRecord, package_versions

GENERATION = "generation.json"


class Generation(Part):
    """``generation.json``: the counts of responses, and what they depend on.

    ``release`` is null if the prompts are from a file; ``prompts`` is then its
    name and ``prompts_sha256`` its digest.
    """

    schema_version: Literal[1] = 1
    model: ModelSignature
    release: ReleaseSignature | None
    prompts: str | None
    prompts_sha256: str | None
    generation: dict[str, str]
    counts: dict[str, int] = Field(default_factory=dict)
    sameness: SamenessRecord | None = None
    versions: dict[str, str]
    machine: str

    @property
    def asked(self) -> tuple[object, ...]:
        """The properties that are equal if two folders hold responses to the same prompts."""
        model = self.model.weights_sha256 or (self.model.name, self.model.revision)
        release = self.release and self.release.digest
        return model, self.model.dtype, release, self.prompts_sha256, self.generation


@dataclass(frozen=True, slots=True)
class Generated:
    """The folder of responses, the responses, and what they depend on."""

    folder: Path
    responses: pa.Table
    generation: Generation


def generate(
    model: str | None,
    release: str | None,
    prompts: Path | None,
    options: AnsweringOptions,
    out: Path | None,
    *,
    display: Display,
    overwrite: bool = False,
) -> Generated:
    """Answer the prompts of a release, or of a file, and write ``responses.parquet`` and ``generation.json``.

    The folder is written whole or not at all. A folder with other responses is
    refused before the model is asked, unless ``overwrite``.
    """
    prompts = None if prompts is None else prompts_file(prompts)
    asked, source = _ask(release, prompts, options, display)
    generator = open_generator(model, options, display)
    generation = _sign(generator, source, prompts, options)
    named = source.version if source else (prompts or Path()).stem
    folder = out or Path("responses") / f"{file_name(generator.identity.name)}-on-{file_name(named)}"

    def may(old: Path) -> bool:
        return _may_replace(old, generation, overwrite=overwrite)

    refuse_target(folder, may)
    with new_folder(folder, may) as made, _kept_if_interrupted(generator):
        sameness, responses = answer_prompts(asked, generator, display)
        found = generation.model_copy(
            update={
                "counts": dict(count_responses(responses)),
                "sameness": SamenessRecord(**asdict(sameness)) if sameness else None,
            }
        )
        pq.write_table(responses, made / RESPONSES.file, compression="zstd")
        (made / GENERATION).write_text(found.model_dump_json(indent=2) + "\n", "utf-8")
    return Generated(folder, responses, found)


def _ask(
    release: str | None, prompts: Path | None, options: AnsweringOptions, display: Display
) -> tuple[pa.Table, ReleaseSignature | None]:
    drawing = options.drawing
    if prompts is not None:
        return read_prompts(prompts, drawing.per_cell).slice(0, drawing.limit), None
    with display.step(f"Opening release {release}" if release else "Opening the newest release"):
        opened = find_release(release)
    with display.step("Drawing prompts"):
        return draw_prompts(opened, drawing), sign_release(opened)


def _sign(
    generator: Generator, release: ReleaseSignature | None, prompts: Path | None, options: AnsweringOptions
) -> Generation:
    drawn = options.drawing.settings if release else {"prompts_per_cell": str(options.drawing.per_cell)}
    return Generation(
        model=ModelSignature(**asdict(generator.identity)),
        release=release,
        prompts=prompts.name if prompts else None,
        prompts_sha256=file_sha256(prompts) if prompts else None,
        generation={**drawn, **generator.settings},
        versions=package_versions(),
        machine=machine(),
    )


def _may_replace(folder: Path, new: Generation, *, overwrite: bool) -> bool:
    """Whether a folder holds responses that may be replaced; ``RunError`` for others unless ``overwrite``."""
    if not (folder / GENERATION).is_file():
        return False
    if overwrite:
        return True
    advice = "name another folder with --out, or replace it with --overwrite"
    try:
        old = Generation.model_validate_json((folder / GENERATION).read_bytes())
    except (OSError, ValidationError) as error:
        raise RunError(f"{folder / GENERATION} is damaged or of another version; {advice}") from error
    if old.asked != new.asked:
        raise RunError(f"{folder} holds other responses: {advice}")
    return True


@contextmanager
def _kept_if_interrupted(generator: Generator) -> Iterator[None]:
    """Add to an interruption what the store holds so far."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(kept_responses(generator)) from error
